"""TLS above the dated reads: a record is dated before it is opened, so opening delays nothing."""

import ssl
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ssediag.capture.patience import failed
from ssediag.model.recording import Read, Stage

_RECORD_BYTES = 16 * 1024
_Result = TypeVar("_Result")


def client_context(
    *, verify: bool, ca_file: str | None, client_cert: tuple[str, str | None] | None
) -> ssl.SSLContext:
    """A context that trusts ``ca_file`` or the system's authorities, as curl does.

    Raises patience.HaltError when a file cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise failed(Stage.TLS, f"cannot use the CA file {ca_file}: {words(error)}") from error
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if client_cert is not None:
        try:
            context.load_cert_chain(*client_cert)
        except OSError as error:
            reason = f"cannot use the certificate {client_cert[0]}: {words(error)}"
            raise failed(Stage.TLS, reason) from error
    return context


class TlsLayer:
    """Opens what ``take`` brings (None: the wire has ended) and seals what ``send`` is to send."""

    def __init__(
        self,
        context: ssl.SSLContext,
        server_hostname: str | None,
        take: Callable[[], Read | None],
        send: Callable[[bytes], None],
    ) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self.ssl_object = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=server_hostname
        )
        self._take = take
        self._send = send
        self._wire: Read | None = None
        self._first_bytes = b""
        self._segment_count: int | None = 0

    def handshake(self) -> None:
        """Agree on keys. Raises patience.HaltError with the reason when that fails."""
        try:
            self._drive(self.ssl_object.do_handshake)
        except ssl.SSLError as error:
            raise failed(Stage.TLS, self._why(error)) from error

    def read(self) -> Read | None:
        """The next record's plaintext; None at the end of the stream.

        It has the interval of the wire read that completed it. The first record of a wire read
        carries the segments, those of wire reads that completed no record included; the others
        carry 0. Raises ssl.SSLError when the peer broke off.
        """
        try:
            data: bytes = self._drive(partial(self.ssl_object.read, _RECORD_BYTES))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return None
        if not data or self._wire is None:
            return None
        segment_count, self._segment_count = self._segment_count, 0
        return replace(self._wire, data=data, segment_count=segment_count)

    def write(self, data: bytes) -> None:
        """Seal and send all of ``data``."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._drive(partial(self.ssl_object.write, rest)) :]

    def _drive(self, action: Callable[[], _Result]) -> _Result:
        """Run ``action``, feeding it one wire read at a time until it needs no more."""
        while True:
            try:
                result = action()
            except ssl.SSLWantReadError:
                self._flush()
                self._feed()
            except ssl.SSLError:
                self._flush()  # the alert that says why
                raise
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        sealed = self._outgoing.read()
        if sealed:
            self._send(sealed)

    def _feed(self) -> None:
        wire = self._take()
        if wire is None:
            self._incoming.write_eof()
            return
        if not self._first_bytes:
            self._first_bytes = wire.data[:8]
        self._wire = wire
        known = None not in (self._segment_count, wire.segment_count)
        self._segment_count = (
            (self._segment_count or 0) + (wire.segment_count or 0) if known else None
        )
        self._incoming.write(wire.data)

    def _why(self, error: ssl.SSLError) -> str:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"certificate verify failed: {error.verify_message}"
        if isinstance(error, ssl.SSLEOFError):
            return "the connection ended during the TLS handshake"
        if self._first_bytes.startswith(b"HTTP/"):
            return "the port speaks plain HTTP, not TLS"
        if error.reason in {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}:
            return "the port does not speak TLS"
        return words(error)


def words(error: OSError) -> str:
    """What the system or OpenSSL says, without numbers and source lines."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return error.strerror or str(error)
