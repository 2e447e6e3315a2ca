"""httpcore's way to the network: what it reads comes from the reader thread, dated and recorded."""

import ssl
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore

from ssediag.capture.dial import Route, dial
from ssediag.capture.patience import HaltError, Patience, Watch, failed
from ssediag.capture.tls import TlsLayer, words
from ssediag.capture.wire import Wire
from ssediag.model.recording import Closing, NotMeasured, Read, Stage


class ProbedStream(httpcore.NetworkStream):
    """One connection, as httpcore sees it.

    ``reads`` are all reads of plaintext so far (wall-clock times), ``closing`` how the stream
    ended (None: it has not). ``written_ns`` is the time before and after the last write of the
    request, ``secured_ns`` the end of the TLS handshake, each None before. While ``tunnelling``,
    what is read is a proxy's answer and not recorded.
    """

    def __init__(self, wire: Wire, patience: Patience, watch: Watch, *, tunnelling: bool) -> None:
        self.reads: list[Read] = []
        self.closing: Closing | None = None
        self.written_ns: tuple[int, int] | None = None
        self.secured_ns: int | None = None
        self._wire = wire
        self._patience = patience
        self._watch = watch
        self._tunnelling = tunnelling
        self._tls: TlsLayer | None = None
        self._request_is_out = False
        self._rest = b""
        self._unsent = bytearray()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002  # limits are Patience's
        """The next bytes; ``b""`` when the peer closed. Raises httpcore.ReadError or HaltError."""
        if not self._rest:
            self._flush()
            read = self._take()
            if read is None:
                return b""
            self._record(read)
            self._rest = read.data
        data, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002  # as above
        """Keep ``buffer`` until the request is complete or the peer is listened to.

        httpcore writes head and body apart; in one piece, no answer comes between them.
        """
        self._unsent += buffer
        if self._request_is_out:
            self._flush()

    @property
    def alpn_protocol(self) -> str | None:
        """The protocol agreed on with TLS; None without one."""
        return None if self._tls is None else self._tls.ssl_object.selected_alpn_protocol()

    @property
    def ended_ns(self) -> int | None:
        """When the end of the connection was seen (wall-clock); None before."""
        return None if self._wire.end is None else self._wire.end.at_ns

    def request_is_out(self) -> None:
        """All of the request was written; send what was kept. Raises HaltError."""
        self._flush()
        self._request_is_out = True
        self._patience.asked()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002  # as above
    ) -> httpcore.NetworkStream:
        """Put TLS on top. Raises HaltError."""
        self._patience.begin(Stage.TLS, "TLS handshake")
        self._request_is_out = self._tunnelling = False
        try:
            self._tls = TlsLayer(ssl_context, server_hostname, self._wire.take, self._wire.send)
            self._tls.handshake()
        except ValueError as error:
            raise failed(Stage.TLS, f"no name to verify: {error}") from error
        self.secured_ns = time.time_ns()
        self._patience.stage = Stage.SEND
        return self

    def get_extra_info(self, info: str) -> Any:
        """The ``ssl_object``, or whether the stream ``is_readable``; None for anything else."""
        if info == "ssl_object":
            return None if self._tls is None else self._tls.ssl_object
        if info == "is_readable":
            return self.closing is not None
        return None

    def close(self) -> None:
        """Do nothing: httpcore closes on a framing error while more bytes are to be recorded."""

    def _flush(self) -> None:
        if not self._unsent:
            return
        data = bytes(self._unsent)
        self._unsent.clear()
        before_ns = time.time_ns()
        if self._tls is None:
            self._wire.send(data)
        else:
            # A peer that broke off is noticed by the next read, which says how.
            with suppress(ssl.SSLError):
                self._tls.write(data)
        if not self._request_is_out:
            self.written_ns = (before_ns, time.time_ns())

    def _take(self) -> Read | None:
        try:
            read = self._wire.take() if self._tls is None else self._tls.read()
        except ssl.SSLError as error:
            self.closing = Closing.RESET
            if not self.reads:
                raise failed(Stage.TLS, words(error)) from error
            raise httpcore.ReadError(words(error)) from error
        if read is None:
            self._ended()
        return read

    def _ended(self) -> None:
        """Note how the stream ended; only an orderly end returns."""
        end = self._wire.end
        self.closing = Closing.FIN if end is None else end.closing
        if end is None or end.closing is Closing.FIN:
            return
        if end.closing is Closing.RESET:
            raise httpcore.ReadError(end.reason)
        reason = f"{end.reason} {self._patience.so_far()}"
        raise HaltError(end.closing, NotMeasured(self._patience.stage, reason))

    def _record(self, read: Read) -> None:
        if self._tunnelling:
            return
        self.reads.append(read)
        self._watch.feed(len(self.reads) - 1, read.data)
        self._patience.got_bytes()


class ProbeBackend(httpcore.NetworkBackend):
    """Opens the one connection of a capture; ``stream`` is that connection, None before."""

    def __init__(self, route: Route, patience: Patience, watch: Watch, *, tunnelled: bool) -> None:
        self.stream: ProbedStream | None = None
        self.peer: str | None = None
        self.resolved_ns: int | None = None
        self.connected_ns: int | None = None
        self._wire: Wire | None = None
        self._route = route
        self._patience = patience
        self._watch = watch
        self._tunnelled = tunnelled

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002  # limits are Patience's
        local_address: str | None = None,  # noqa: ARG002  # never given
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002  # as above
    ) -> httpcore.NetworkStream:
        """Dial, once. Raises HaltError."""
        if self.stream is not None:
            # httpcore tries anew after a GOAWAY; a second connection would be another measurement.
            raise failed(Stage.HEADERS, "the peer refused the stream with GOAWAY")
        dialled = dial(self._route, host, port, self._patience)
        self._wire = Wire(dialled, self._patience)
        self.peer = dialled.peer
        self.resolved_ns = dialled.resolved_ns
        self.connected_ns = dialled.connected_ns
        self._patience.stage = Stage.SEND
        self.stream = ProbedStream(
            self._wire, self._patience, self._watch, tunnelling=self._tunnelled
        )
        return self.stream

    def close(self) -> None:
        """End the connection, its thread and its socket."""
        if self._wire is not None:
            self._wire.close()
