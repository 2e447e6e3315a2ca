"""A server that plays scripted HTTP answers byte for byte, chosen by the request's path.

HTTP/1.1, or HTTP/2 for a client that begins with its preface. A step is one of ``b64 S``,
``rep S N PAUSE``, ``drip S PAUSE``, ``sleep S``, ``frame TYPE FLAGS STREAM S``, ``want TYPE S``
(wait for a frame of that type), ``h2flow S N GAP`` (N DATA frames within the client's windows),
``hold S``, ``fin``, ``rst``.
"""

import base64
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
LONGEST_SECONDS = 40.0
Case = dict[str, Any]


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload
    )


class Peer:
    """What an HTTP/2 client has sent: its request, its windows, its frames. Acknowledges."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.path: str | None = None
        self.initial = 65_535
        self.windows = {0: 65_535, 1: 65_535}
        self.seen: list[int] = []
        self.closed = False
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def wait_for(self, ready: Any, seconds: float) -> bool:
        with self.changed:
            return bool(self.changed.wait_for(lambda: self.closed or ready(), seconds)) and ready()

    def _read(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                head = self._exactly(9)
                payload = self._exactly(int.from_bytes(head[:3], "big"))
                stream = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
                with self.changed:
                    self._take(head[3], head[4], stream, payload)
                    self.changed.notify_all()
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        self.seen.append(kind)
        if kind == SETTINGS and not flags & 1:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at : at + 6])
                if name == 4:
                    self.windows[1] += value - self.initial
                    self.initial = value
            self.connection.sendall(frame(SETTINGS, 1, 0, b""))
        elif kind == PING and not flags & 1:
            self.connection.sendall(frame(PING, 1, 0, payload))
        elif kind == WINDOW_UPDATE and stream in self.windows:
            self.windows[stream] += int.from_bytes(payload, "big") & 0x7FFFFFFF
        elif kind == HEADERS:
            block = payload[5:] if flags & 0x20 else payload
            self.path = dict(hpack.Decoder().decode(block))[":path"]


def play(case: Case, connection: socket.socket, peer: Peer | None) -> None:  # noqa: C901 - a case a step
    for step in case["steps"]:
        match step:
            case ["b64", text]:
                connection.sendall(base64.b64decode(text))
            case ["rep", text, times, pause]:
                _repeat(connection, base64.b64decode(text), times, pause)
            case ["drip", text, pause]:
                for byte in base64.b64decode(text):
                    connection.sendall(bytes([byte]))
                    time.sleep(pause)
            case ["sleep", seconds]:
                time.sleep(seconds)
            case ["frame", kind, flags, stream, text]:
                number = 1 if stream == "s" else stream
                connection.sendall(frame(kind, flags, number, base64.b64decode(text)))
            case ["want", kind, seconds] if peer is not None:
                peer.wait_for(lambda kind=kind: kind in peer.seen, seconds)
            case ["h2flow", text, times, gap] if peer is not None:
                _flow(connection, peer, base64.b64decode(text), times, gap)
            case ["hold", seconds]:
                _until_closed(connection, peer, min(seconds, LONGEST_SECONDS))
            case ["rst"]:
                time.sleep(0.05)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            case ["fin"]:
                connection.shutdown(socket.SHUT_WR)
                _until_closed(connection, peer, 1.5)
                return
    _until_closed(connection, peer, 3)


def _repeat(connection: socket.socket, data: bytes, times: int, pause: float) -> None:
    until = time.monotonic() + LONGEST_SECONDS
    for _ in range(times):
        connection.sendall(data)
        if pause:
            time.sleep(pause)
        if time.monotonic() > until:
            return


def _flow(connection: socket.socket, peer: Peer, data: bytes, times: int, gap: float) -> None:
    for _ in range(times):
        if not peer.wait_for(lambda: min(peer.windows.values()) >= len(data), 10):
            return
        with peer.changed:
            for stream in peer.windows:
                peer.windows[stream] -= len(data)
        connection.sendall(frame(DATA, 0, 1, data))
        if gap:
            time.sleep(gap)


def _until_closed(connection: socket.socket, peer: Peer | None, seconds: float) -> None:
    if peer is not None:
        peer.wait_for(lambda: peer.closed, seconds)
        return
    connection.settimeout(seconds)
    with suppress(OSError):
        while connection.recv(65536):
            continue


class ScriptedServer:
    """Listens on a free port of 127.0.0.1 until closed."""

    def __init__(self, cases: dict[str, Case]) -> None:
        self.cases = cases
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.open: set[socket.socket] = set()
        self.threads: list[threading.Thread] = []
        self.acceptor = threading.Thread(target=self._accept, daemon=True)
        self.acceptor.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.open.add(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self.threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, KeyError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            first = connection.recv(65536)
            if first[:1] == b"\x16":  # a TLS hello on the plain port
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            elif first.startswith(PREFACE):
                self._serve_http2(connection, first[len(PREFACE) :])
            else:
                while b"\r\n\r\n" not in first:
                    first += connection.recv(65536) or b"\r\n\r\n"
                play(self.cases[first.split(b" ")[1].decode().strip("/")], connection, None)
        self.open.discard(connection)

    def _serve_http2(self, connection: socket.socket, begun: bytes) -> None:
        peer = Peer(_Begun(connection, begun))  # type: ignore[arg-type] # what Peer needs of a socket
        # The case says whether settings are sent; a client that waits for them first gets some.
        known = peer.wait_for(lambda: peer.path is not None, 0.5)
        if not known or self.cases[str(peer.path).strip("/")].get("settings", "") is not None:
            connection.sendall(frame(SETTINGS, 0, 0, b""))
        if peer.wait_for(lambda: peer.path is not None, 10) and peer.path is not None:
            play(self.cases[peer.path.strip("/")], connection, peer)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        peer.reader.join(2)

    def close(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self.open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in [self.acceptor, *self.threads]:
            thread.join(5)


class _Begun:
    """A connection some of whose bytes were already received."""

    def __init__(self, connection: socket.socket, begun: bytes) -> None:
        self._connection, self._begun = connection, begun

    def recv(self, count: int) -> bytes:
        if self._begun:
            data, self._begun = self._begun[:count], self._begun[count:]
            return data
        return self._connection.recv(count)

    def sendall(self, data: bytes) -> None:
        self._connection.sendall(data)


@contextmanager
def serving(cases: dict[str, Case]) -> Iterator[ScriptedServer]:
    server = ScriptedServer(cases)
    try:
        yield server
    finally:
        server.close()
