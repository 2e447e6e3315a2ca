"""An HTTP/1.x response taken apart as it came: head, body framing, and what is wrong with either.

RFC 9112. Nothing is raised: broken framing ends the decoding and leaves a note.
"""

import re
from enum import StrEnum, auto

from ssediag.model.stream import ChunkTable, Framing, Head

MAX_HEAD_BYTES = 256 * 1024
MAX_LINE_BYTES = 16 * 1024
_STATUS_LINE = re.compile(rb"HTTP/(1\.[01]) ([1-9]\d\d)(?: ([^\r\n]*))?")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,16})[ \t]*(;.*)?")
_NO_BODY = frozenset({204, 205, 304})
_INFORMATIONAL = range(100, 200)
_SWITCHING = 101


class _State(StrEnum):
    HEAD = auto()
    LENGTH = auto()
    UNTIL_CLOSE = auto()
    CHUNK_SIZE = auto()
    CHUNK = auto()
    CHUNK_END = auto()
    TRAILERS = auto()
    DONE = auto()
    BROKEN = auto()


class Http1Decoder:
    """Feed it the reads of a connection, in order.

    ``head`` is the final response's, or None yet. ``complete`` is whether the framing's own end
    was seen; ``broken`` whether decoding stopped at a defect. ``notes`` name defects.
    """

    def __init__(self) -> None:
        self.head: Head | None = None
        self.framing = Framing.NONE
        self.complete = False
        self.notes: list[str] = []
        self.trailers: tuple[tuple[str, str], ...] = ()
        self._state = _State.HEAD
        self._pending = bytearray()
        self._left_bytes = 0
        self._sizes: list[int] = []
        self._first_reads: list[int] = []
        self._last_reads: list[int] = []
        self._chunk_size_bytes = 0
        self._chunk_read = 0

    @property
    def broken(self) -> bool:
        """Whether the bytes could not be followed to the end."""
        return self._state is _State.BROKEN

    def chunks(self) -> ChunkTable:
        """The transfer chunks whose last byte came."""
        return ChunkTable(tuple(self._sizes), tuple(self._first_reads), tuple(self._last_reads))

    def feed(self, read_index: int, data: bytes) -> bytes:
        """The body bytes that this read brought, without their framing."""
        body: list[bytes] = []
        self._pending += data
        while self._step(read_index, body):
            pass
        return b"".join(body)

    def finish(self) -> None:
        """The connection is over. A body that ends with it is whole then."""
        if self._state is _State.HEAD and self._pending:
            self._break("the response head never ended")

    def _step(self, read_index: int, body: list[bytes]) -> bool:
        """Take one thing from the pending bytes; False when more are needed."""
        match self._state:
            case _State.HEAD:
                return self._take_head(read_index)
            case _State.CHUNK_SIZE:
                return self._take_chunk_size(read_index)
            case _State.CHUNK_END:
                return self._take_chunk_end()
            case _State.TRAILERS:
                return self._take_trailer()
            case _State.LENGTH | _State.CHUNK | _State.UNTIL_CLOSE:
                return self._take_body(read_index, body)
            case _State.DONE:
                if self._pending:
                    self._note("bytes came after the end of the response")
                self._pending.clear()
            case _State.BROKEN:
                self._pending.clear()
        return False

    def _take_head(self, read_index: int) -> bool:
        found = _HEAD_END.search(self._pending)
        if found is None or found.end() > MAX_HEAD_BYTES:
            return self._wait_for_head()
        block = bytes(self._pending[: found.start()])
        del self._pending[: found.end()]
        first, *rest = re.split(rb"\r?\n", block)
        status = _STATUS_LINE.fullmatch(first)
        if status is None:
            self._break(f"not an HTTP/1 status line: {_shown(first)}")
            return False
        code = int(status[2])
        if code in _INFORMATIONAL and code != _SWITCHING:
            return True
        self.head = Head(
            status=code,
            reason=(status[3] or b"").decode("latin-1").strip(),
            version=status[1].decode("ascii"),
            headers=tuple(self._fields(rest)),
            read_index=read_index,
        )
        self._begin_body()
        return True

    def _wait_for_head(self) -> bool:
        if len(self._pending) > MAX_HEAD_BYTES:
            self._break(f"a response head of more than {MAX_HEAD_BYTES} bytes")
        elif len(self._pending) >= len(b"HTTP/") and not self._pending.startswith(b"HTTP/"):
            self._break(f"not an HTTP/1 status line: {_shown(bytes(self._pending[:40]))}")
        return False

    def _fields(self, lines: list[bytes]) -> list[tuple[str, str]]:
        fields: list[tuple[str, str]] = []
        for line in lines:
            name, colon, value = line.partition(b":")
            if line[:1] in {b" ", b"\t"} and fields:  # obsolete folding, RFC 9112 5.2
                key, before = fields[-1]
                fields[-1] = (key, f"{before} {line.strip().decode('latin-1')}")
            elif colon and name.strip():
                fields.append((name.strip().decode("latin-1"), value.strip().decode("latin-1")))
            else:
                self._note(f"a header line without a colon: {_shown(line)}")
        return fields

    def _begin_body(self) -> None:
        """Choose the framing by RFC 9112 6.3."""
        head = self.head
        if head is None or head.status in _NO_BODY:
            self._end(Framing.NONE)
            return
        coding = head.header("transfer-encoding")
        lengths = {part.strip() for part in (head.header("content-length") or "").split(",")} - {""}
        if coding is not None:
            self._begin_coded(coding, has_length=bool(lengths))
        elif lengths:
            self._begin_length(lengths)
        else:
            self.framing = Framing.UNTIL_CLOSE
            self._state = _State.UNTIL_CLOSE

    def _begin_coded(self, coding: str, *, has_length: bool) -> None:
        if coding.strip().lower() != "chunked":
            self.framing = Framing.UNTIL_CLOSE
            self._break(f"transfer coding {coding!r} is not supported")
            return
        if has_length:
            self._note("both Transfer-Encoding and Content-Length: chunked wins")
        self.framing = Framing.CHUNKED
        self._state = _State.CHUNK_SIZE

    def _begin_length(self, lengths: set[str]) -> None:
        self.framing = Framing.LENGTH
        text = min(lengths)
        if len(lengths) > 1:
            self._break("conflicting Content-Length values")
        elif not text.isdigit():
            self._break(f"Content-Length {text!r} is no length")
        else:
            self._left_bytes = int(text[:20])
            self._state = _State.LENGTH
            if not self._left_bytes:
                self._end(Framing.LENGTH)

    def _take_body(self, read_index: int, body: list[bytes]) -> bool:
        if not self._pending:
            return False
        if self._state is _State.UNTIL_CLOSE:
            body.append(bytes(self._pending))
            self._pending.clear()
            return False
        piece = bytes(self._pending[: self._left_bytes])
        del self._pending[: len(piece)]
        body.append(piece)
        self._left_bytes -= len(piece)
        if self._left_bytes:
            return False
        if self._state is _State.LENGTH:
            self._end(Framing.LENGTH)
        else:
            self._sizes.append(self._chunk_size_bytes)
            self._first_reads.append(self._chunk_read)
            self._last_reads.append(read_index)
            self._state = _State.CHUNK_END
        return True

    def _line(self) -> bytes | None:
        """The next whole line without its end, or None."""
        end = self._pending.find(b"\n")
        if end < 0:
            if len(self._pending) > MAX_LINE_BYTES:
                self._break("a chunk header or trailer line without an end")
            return None
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line.removesuffix(b"\r")

    def _take_chunk_size(self, read_index: int) -> bool:
        line = self._line()
        if line is None:
            return False
        found = _CHUNK_SIZE.fullmatch(line)
        if found is None:
            self._break(f"broken chunk size: {_shown(line)}")
            return False
        self._left_bytes = self._chunk_size_bytes = int(found[1], 16)
        self._chunk_read = read_index
        self._state = _State.CHUNK if self._left_bytes else _State.TRAILERS
        return True

    def _take_chunk_end(self) -> bool:
        ending = bytes(self._pending[:2])
        if ending == b"\r\n":
            del self._pending[:2]
        elif ending[:1] == b"\n":
            del self._pending[:1]
        elif len(ending) == 2 or (ending and ending != b"\r"):  # noqa: PLR2004 - CR LF
            self._break(f"a chunk that does not end where its size says: {_shown(ending)}")
            return False
        else:
            return False
        self._state = _State.CHUNK_SIZE
        return True

    def _take_trailer(self) -> bool:
        line = self._line()
        if line is None:
            return False
        if line:
            self.trailers += tuple(self._fields([line]))
            if len(self.trailers) > 1000:  # noqa: PLR2004 - far beyond any real trailer section
                self._break("trailers without an end")
        else:
            self._end(Framing.CHUNKED)
        return True

    def _end(self, framing: Framing) -> None:
        self.framing = framing
        self.complete = True
        self._state = _State.DONE

    def _break(self, note: str) -> None:
        self._note(note)
        self._state = _State.BROKEN

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _shown(raw: bytes) -> str:
    """The first bytes of something broken, fit for a message."""
    return ascii(raw[:40].decode("latin-1"))
