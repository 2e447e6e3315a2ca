"""Servers that do one scripted thing, and a probe of them."""

import contextlib
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ssediag.capture.dial import Route
from ssediag.capture.http import capture
from ssediag.model.recording import Hop, Recording
from ssediag.model.request import Limits, Request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


class BlankLineWatch:
    """Counts blank lines, which is what events end with in these tests."""

    def __init__(self) -> None:
        self.event_count = 0
        self.fed: list[tuple[int, bytes]] = []
        self._last = b""

    def feed(self, read_index: int, data: bytes) -> None:
        self.fed.append((read_index, data))
        self.event_count += (self._last + data).count(b"\n\n")
        self._last = data[-1:]


class Peer:
    """The server's end of the connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.request = b""

    def read_request(self) -> None:
        """Wait for the end of the request's head."""
        while b"\r\n\r\n" not in self.request:
            data = self.connection.recv(65536)
            if not data:
                raise ConnectionResetError
            self.request += data

    def send(self, *pieces: bytes, pause: float = 0.02) -> None:
        """Send each piece by itself, with a pause after it."""
        for piece in pieces:
            self.connection.sendall(piece)
            time.sleep(pause)

    def answer(self, *fields: bytes) -> None:
        """Read the request and send the head of an event stream with more fields."""
        self.read_request()
        self.send(HEAD + b"".join(field + b"\r\n" for field in fields) + b"\r\n")

    def send_chunks(self, *payloads: bytes) -> None:
        """Send each payload as a chunk of its own, then the last chunk."""
        self.send(*(b"%x\r\n%b\r\n" % (len(one), one) for one in (*payloads, b"")), pause=0.05)

    def wait_for_close(self) -> None:
        """Stay silent until the probe goes away."""
        with contextlib.suppress(ConnectionError):
            while self.connection.recv(65536):
                pass

    def reset(self) -> None:
        """Close so that the probe is sent an RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def secure(self, certificate: Path, *protocols: str) -> None:
        """Put TLS on top."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        if protocols:
            context.set_alpn_protocols(list(protocols))
        self.connection = context.wrap_socket(self.connection, server_side=True)


@pytest.fixture
def watch() -> BlankLineWatch:
    return BlankLineWatch()


@pytest.fixture
def probe(watch: BlankLineWatch) -> Callable[..., Recording]:
    """Capture a URL once with everything else as it usually is."""

    def run(
        url: str,
        limits: Limits | None = None,
        *,
        route: Route | None = None,
        stop: threading.Event | None = None,
        method: str = "GET",
        **request: Any,
    ) -> Recording:
        return capture(
            Hop("hop", url, 0),
            Request(method, url, **request),
            limits or Limits(),
            run=0,
            experiment=None,
            route=route or Route(),
            stop=stop,
            watch=watch,
        )

    return run


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Start a server whose one connection is left to a function of a Peer; returns HOST:PORT."""
    failures: list[BaseException] = []
    with contextlib.ExitStack() as cleanup:

        def start(script: Callable[[Peer], None], *, unix: Path | None = None) -> str:
            listener = cleanup.enter_context(_listener(unix))
            thread = threading.Thread(target=_play, args=(script, listener, failures))
            thread.start()
            cleanup.callback(thread.join)
            cleanup.callback(_stop_accepting, listener)
            return "localhost" if unix else f"127.0.0.1:{listener.getsockname()[1]}"

        yield start
    assert failures == []


def _listener(unix: Path | None) -> socket.socket:
    if unix is None:
        return socket.create_server(("127.0.0.1", 0))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(unix))
    listener.listen()
    return listener


def _play(
    script: Callable[[Peer], None], listener: socket.socket, failures: list[BaseException]
) -> None:
    try:
        connection, _ = listener.accept()
    except OSError:
        return  # nobody came
    peer = Peer(connection)
    try:
        if connection.family == socket.AF_INET:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        script(peer)
    except (ConnectionError, ssl.SSLError):
        return  # the probe went away: many of them are meant to
    except BaseException as error:  # noqa: BLE001  # shown by the fixture
        failures.append(error)
    finally:
        peer.connection.close()


def _stop_accepting(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert [one.name for one in threading.enumerate() if one.name.startswith("ssediag")] == []


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost and 127.0.0.1, with its key in the same file."""
    key = tmp_path_factory.mktemp("tls") / "key.pem"
    both = key.with_name("both.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-keyout", str(key), "-out", str(both), "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"]
    subprocess.run(command, check=True, capture_output=True)
    both.write_text(key.read_text() + both.read_text())
    return both
