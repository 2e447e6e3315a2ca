"""HTTP/1.1 as far as the lab speaks it: heads, and bodies in chunks, by length or until close.

Written for the lab alone, so that a mistake here and one in the decoders cannot agree.
"""

import json
import socket
from dataclasses import dataclass
from http import HTTPStatus

Fields = tuple[tuple[str, str], ...]

_READ_BYTES = 65536
_HEAD_LIMIT_BYTES = 65536
_REASONS = {status.value: status.phrase for status in HTTPStatus}


class MessageError(Exception):
    """The peer sent what is no HTTP/1.1 message; the text says what was wrong."""


@dataclass(frozen=True, slots=True)
class Head:
    """A first line, split into its three words, and the header fields in their order."""

    first_line: tuple[str, str, str]
    fields: Fields

    def get(self, name: str) -> str:
        """Give the values of a field joined by commas; empty when it is absent."""
        return ", ".join(value for key, value in self.fields if key.lower() == name)

    def words(self, name: str) -> set[str]:
        """Give a list field's items in lower case, without their parameters."""
        items = (item.partition(";")[0].strip().lower() for item in self.get(name).split(","))
        return {item for item in items if item}


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its whole body, and the bytes after it (of the next request)."""

    head: Head
    body: bytes
    rest: bytes

    @property
    def keeps_alive(self) -> bool:
        """Whether the client wants the connection for another request."""
        words = self.head.words("connection")
        if self.head.first_line[2] == "HTTP/1.0":
            return "keep-alive" in words
        return "close" not in words

    @property
    def is_head(self) -> bool:
        """Whether the response must have no body."""
        return self.head.first_line[0] == "HEAD"

    def accepts(self, coding: str) -> bool:
        """Whether the client names the content coding; a weight of zero says no."""
        for item in self.head.get("accept-encoding").lower().split(","):
            name, _, weight = item.replace(" ", "").partition(";q=")
            if name == coding:
                return not weight or weight.strip("0.") != ""
        return False


class Body:
    """Takes a framed body as it comes and gives its bytes.

    ``length_bytes`` None means until the connection closes, unless ``is_chunked``.
    """

    def __init__(self, *, is_chunked: bool = False, length_bytes: int | None = None) -> None:
        self.is_complete = not is_chunked and length_bytes == 0
        self.rest = b""
        self._is_chunked = is_chunked
        self._until_close = not is_chunked and length_bytes is None
        self._left_bytes = length_bytes or 0
        self._pending = b""
        self._in_trailer = False

    def feed(self, data: bytes) -> bytes:
        """Give the body bytes in ``data``; what follows a complete body is added to ``rest``."""
        if self.is_complete:
            self.rest += data
            return b""
        if self._until_close:
            return data
        self._pending += data
        return self._dechunk() if self._is_chunked else self._take()

    def close(self) -> None:
        """Say that the connection ended; only a body until close is complete by that."""
        self.is_complete = self.is_complete or self._until_close

    def _take(self) -> bytes:
        taken = self._pending[: self._left_bytes]
        self._pending = self._pending[len(taken) :]
        self._left_bytes -= len(taken)
        if self._left_bytes == 0 and not self._is_chunked:
            self._complete()
        return taken

    def _complete(self) -> None:
        self.is_complete = True
        self.rest, self._pending = self._pending, b""

    def _dechunk(self) -> bytes:
        body = b""
        while self._pending and not self.is_complete:
            if self._left_bytes:
                body += self._take()
            elif not self._next_line():
                break
        return body

    def _next_line(self) -> bool:
        """Take one line of the framing: a size, the line end after a chunk, a trailer field."""
        line, end, after = self._pending.partition(b"\r\n")
        if not end:
            return False
        self._pending = after
        if self._in_trailer and not line:
            self._complete()
        elif line and not self._in_trailer:
            self._left_bytes = _chunk_size(line)
            self._in_trailer = self._left_bytes == 0
        return True


def _chunk_size(line: bytes) -> int:
    try:
        return int(line.partition(b";")[0], 16)
    except ValueError:
        raise MessageError(f"no chunk size: {line[:40]!r}") from None


def parse_head(data: bytes) -> Head:
    """Parse a head without its blank line; raises MessageError."""
    first, *lines = data.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) == 2:  # noqa: PLR2004 # a status line may lack its reason
        words.append("")
    if len(words) != 3:  # noqa: PLR2004 # the first line's three words
        raise MessageError(f"no HTTP first line: {first[:40]!r}")
    pairs = (line.partition(":") for line in lines)
    fields = tuple((name.strip(), value.strip()) for name, _, value in pairs)
    return Head((words[0], words[1], words[2]), fields)


def read_head(connection: socket.socket, data: bytes) -> tuple[Head, bytes] | None:
    """Read one head, beginning with ``data``; give it and the bytes after it.

    None when the peer closed before the head was whole. Raises MessageError, OSError.
    """
    while b"\r\n\r\n" not in data:
        if len(data) > _HEAD_LIMIT_BYTES:
            raise MessageError("the head is too long")
        more = connection.recv(_READ_BYTES)
        if not more:
            return None
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return parse_head(head), rest


def read_request(connection: socket.socket, data: bytes) -> Request | None:
    """Read one request with its body, beginning with ``data``; None when the client closed.

    Raises MessageError, OSError.
    """
    found = read_head(connection, data)
    if found is None:
        return None
    head, rest = found
    if "100-continue" in head.words("expect"):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    framed = Body(
        is_chunked="chunked" in head.words("transfer-encoding"),
        length_bytes=_length(head) or 0,
    )
    body = framed.feed(rest)
    while not framed.is_complete:
        more = connection.recv(_READ_BYTES)
        if not more:
            return None
        body += framed.feed(more)
    return Request(head, body, framed.rest)


def response_body(method: str, head: Head) -> Body:
    """Give the reader for the body of a response; raises MessageError."""
    status = head.first_line[1]
    if method == "HEAD" or status in {"204", "304"}:
        return Body(length_bytes=0)
    return Body(is_chunked="chunked" in head.words("transfer-encoding"), length_bytes=_length(head))


def _length(head: Head) -> int | None:
    text = head.get("content-length")
    if not text:
        return None
    if not text.isdecimal():
        raise MessageError(f"no content length: {text[:40]!r}")
    return int(text)


def status_line(status: int) -> str:
    """Give the first line of a response; a status without a name is called Status."""
    return f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}"


def head_bytes(first_line: str, fields: Fields) -> bytes:
    """Write a head with its blank line."""
    lines = [first_line, *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def refusal(status: int, message: str) -> bytes:
    """Write a whole JSON error response that closes the connection."""
    body = json.dumps({"error": {"message": message, "type": "lab_error"}}).encode()
    fields = (
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    )
    return head_bytes(status_line(status), fields) + body


def chunk(data: bytes) -> bytes:
    """Frame one block as one chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"
