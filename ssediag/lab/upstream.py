"""The upstream's side of a hop: one response, read while the client and a clock are watched."""

import select
import socket
import time

from ssediag.lab import framing
from ssediag.lab.framing import Head, MessageError

_READ_BYTES = 65536


class ClientGoneError(Exception):
    """The client closed its connection in the middle of a response."""


class Upstream:
    """Reads from an upstream connection for one client.

    ``from_client`` collects what the client sent meanwhile: the beginning of its next request.
    """

    def __init__(self, upstream: socket.socket, client: socket.socket) -> None:
        self.from_client = b""
        self._upstream = upstream
        self._client = client
        self._unread = b""
        self._poll = select.poll()
        self._poll.register(upstream, select.POLLIN)
        self._poll.register(client, select.POLLIN)

    def head(self) -> Head:
        """Read the head of the final response.

        Raises MessageError for what is no HTTP response, ClientGoneError.
        """
        data = b""
        while True:
            raw, end, rest = data.partition(b"\r\n\r\n")
            if end:
                head = framing.parse_head(raw)
                status = head.first_line[1]
                if not status.isdecimal():
                    raise MessageError(f"no status: {status!r}")
                if int(status) >= 200:  # noqa: PLR2004 # RFC 9110: 1xx is not final
                    self._unread = rest
                    return head
                data = rest
            else:
                more = self.read(None)
                if not more:
                    raise MessageError("it closed before its response")
                data += more

    def read(self, wake_at_ns: int | None) -> bytes | None:
        """Give the next bytes, b"" at their end, None when ``wake_at_ns`` came first.

        Raises ClientGoneError.
        """
        if self._unread:
            unread, self._unread = self._unread, b""
            return unread
        while True:
            ready = {number for number, _ in self._poll.poll(_timeout_ms(wake_at_ns))}
            if self._client.fileno() in ready:
                self._read_client()
            if self._upstream.fileno() in ready:
                return _received(self._upstream)
            if not ready:
                return None

    def _read_client(self) -> None:
        data = _received(self._client)
        if not data:
            raise ClientGoneError
        self.from_client += data


def _received(connection: socket.socket) -> bytes:
    """Read what there is; a reset is an end."""
    try:
        return connection.recv(_READ_BYTES)
    except ConnectionError:
        return b""


def _timeout_ms(wake_at_ns: int | None) -> float | None:
    if wake_at_ns is None:
        return None
    return max(0.0, (wake_at_ns - time.monotonic_ns()) / 1e6)
