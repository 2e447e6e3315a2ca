"""A server whose every connection follows its own script, and a follow of it without waiting."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ssediag.jobs.follow import Connection, Followed, follow
from ssediag.jobs.listening import Ears
from ssediag.jobs.reconnect import EVENT_SOURCE, Policy
from ssediag.jobs.targets import Target
from ssediag.model.recording import Hop
from ssediag.model.request import Limits, Request

STREAM = "Content-Type: text/event-stream"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one connection is sent; ``reset`` ends it with an RST, ``open`` waits for the client."""

    body: str = ""
    status: str = "200 OK"
    headers: tuple[str, ...] = (STREAM,)
    reset: bool = False
    open: bool = False
    is_nothing: bool = False


@dataclass(slots=True)
class Server:
    """Where it listens, and the requests so far: first line and header lines, then the body."""

    url: str
    requests: list[str] = field(default_factory=list)

    def header(self, place: int, name: str) -> str | None:
        """The value of a header of request ``place``."""
        for line in self.requests[place].partition("\r\n\r\n")[0].split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name.lower():
                return value
        return None

    def body(self, place: int) -> str:
        """The body of request ``place``."""
        return self.requests[place].partition("\r\n\r\n")[2]


@contextlib.contextmanager
def served(*answers: Answer) -> Iterator[Server]:
    """Answer one connection after another; those beyond the last are refused."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(f"http://127.0.0.1:{listener.getsockname()[1]}/stream")
        thread = threading.Thread(target=_serve, args=(listener, server, answers))
        thread.start()
        try:
            yield server
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, server: Server, answers: tuple[Answer, ...]) -> None:
    for answer in answers:
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # nobody came any more
        with connection, contextlib.suppress(ConnectionError):
            connection.settimeout(10)
            server.requests.append(_request(connection))
            _reply(connection, answer)
    listener.close()


def _request(connection: socket.socket) -> str:
    data = b""
    while b"\r\n\r\n" not in data or len(data.partition(b"\r\n\r\n")[2]) < _length(data):
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return data.decode("utf-8")


def _length(data: bytes) -> int:
    for line in data.partition(b"\r\n\r\n")[0].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _reply(connection: socket.socket, answer: Answer) -> None:
    if answer.is_nothing:
        return
    lines = (f"HTTP/1.1 {answer.status}", *answer.headers, "Connection: close", "", "")
    connection.sendall("\r\n".join(lines).encode() + answer.body.encode())
    if answer.reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if answer.open:
        while connection.recv(65536):
            continue


@dataclass(slots=True)
class Played:
    """What a follow did: its result, the seconds it would have waited, and what it heard."""

    followed: Followed
    waits: list[float]
    events: list[tuple[str, str, str]]
    comments: list[str]
    observed: list[Connection]


def play(
    url: str,
    policy: Policy = EVENT_SOURCE,
    *,
    method: str = "GET",
    headers: tuple[tuple[str, str], ...] = (),
    body: bytes | None = None,
    limits: Limits | None = None,
    stop: threading.Event | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> Played:
    """Follow ``url``; every wait is noted and over at once."""
    waits: list[float] = []
    events: list[tuple[str, str, str]] = []
    comments: list[str] = []
    observed: list[Connection] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        on_wait()

    followed = follow(
        Target(Hop("hop", url, 0), Request(method, url, headers, body)),
        limits or Limits(),
        policy,
        stop or threading.Event(),
        observed.append,
        ears=Ears(lambda *words: events.append(words), comments.append),
        wait=wait,
    )
    return Played(followed, waits, events, comments, observed)
