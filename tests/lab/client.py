"""A client that sees raw bytes: one request, and what every read returned until the end."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as it came; ``ended`` is "eof" or "reset"."""

    head: str
    body: bytes
    ended: str

    def field(self, name: str) -> str | None:
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None

    def chunks(self) -> list[bytes]:
        """The chunks of a chunked body; the last, empty one too if it came."""
        found, rest = [], self.body
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            found.append(rest[: int(size, 16)])
            rest = rest[int(size, 16) + 2 :]
        return found

    def text(self) -> bytes:
        """The body without its framing."""
        chunked = self.field("transfer-encoding") == "chunked"
        return b"".join(self.chunks()) if chunked else self.body


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    to = urlsplit(url)
    with closing(socket.create_connection((to.hostname or "", to.port or 0), SECONDS)) as plain:
        if to.scheme == "http":
            yield plain
            return
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["http/1.1"])
        with context.wrap_socket(plain, server_hostname="localhost") as secured:
            yield secured


def request(path: str, *headers: str, body: bytes = b"", method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: lab", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def fetch(url: str, path: str = "/", *headers: str, body: bytes = b"") -> Answer:
    """Send one request and read until the connection ends."""
    method = "POST" if body else "GET"
    with connected(url) as connection:
        connection.sendall(request(path, "Connection: close", *headers, body=body, method=method))
        data, ended = b"", "eof"
        try:
            while more := connection.recv(65536):
                data += more
        except ConnectionResetError:
            ended = "reset"
    head, _, rest = data.partition(b"\r\n\r\n")
    return Answer(head.decode("latin-1"), rest, ended)


def events(text: bytes) -> list[bytes]:
    """Split a stream whose events end with a blank line, and drop what ends without."""
    return [event + b"\n\n" for event in text.split(b"\n\n")[:-1]]
