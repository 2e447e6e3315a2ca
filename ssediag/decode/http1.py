"""An HTTP/1.x response taken apart as it came: head, body framing, and what is wrong with either.

RFC 9112. Nothing is raised: broken framing ends the decoding and leaves a note.
"""

import re
from enum import StrEnum, auto

from ssediag.decode.http1_head import body_framing, read_fields, read_head, shown
from ssediag.model.stream import ChunkTable, Framing, Head

MAX_HEAD_BYTES = 256 * 1024
MAX_LINE_BYTES = 16 * 1024
_REFUSED_BYTES = 64  # as many that are no status line need no line end to be refused
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK_END = re.compile(rb"\r?\n")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,16})[ \t]*(?:;.*)?", re.DOTALL)
_PLAIN_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})\r\n")
_INFORMATIONAL = range(100, 200)
_SWITCHING = 101
_MAX_TRAILER_COUNT = 1000  # far beyond any real trailer section


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
    """Feed it the reads of the connection that answers one request of ``method``, in order.

    ``head`` is the final response's, or None yet; ``informational_count`` counts the 1xx heads
    before it. ``complete`` is whether the framing's own end was seen. ``notes`` name defects.
    """

    def __init__(self, method: str = "GET") -> None:
        self.head: Head | None = None
        self.framing = Framing.NONE
        self.complete = False
        self.informational_count = 0
        self.notes: list[str] = []
        self.trailers: tuple[tuple[str, str], ...] = ()
        self._method = method
        self._state = _State.HEAD
        self._head_bytes = bytearray()
        self._searched_bytes = 0
        self._pending = b""  # of a line that has no end yet
        self._left_bytes = 0
        self._surplus_bytes = 0
        self._sizes: list[int] = []
        self._first_reads: list[int] = []
        self._last_reads: list[int] = []
        self._chunk_bytes = 0
        self._chunk_read = -1  # brought the first byte of the chunk's size; -1 while none came

    @property
    def broken(self) -> bool:
        """Whether the bytes could not be followed to the end."""
        return self._state is _State.BROKEN

    def chunks(self) -> ChunkTable:
        """The transfer chunks whose last byte came; a chunk begins with its size line."""
        return ChunkTable(tuple(self._sizes), tuple(self._first_reads), tuple(self._last_reads))

    def feed(self, read_index: int, data: bytes) -> bytes:
        """The body bytes that this read brought, without their framing."""
        if self._state is _State.HEAD:
            data = self._take_head(read_index, data)
        text = self._pending + data if self._pending else data
        self._pending = b""
        body: list[bytes] = []
        position: int | None = 0
        while position is not None and position < len(text):
            position = self._step(text, position, read_index, body)
        return body[0] if len(body) == 1 else b"".join(body)

    def finish(self) -> None:
        """The connection is over. A body that ends with it is whole then."""
        if self._state is _State.HEAD and self._head_bytes:
            self._refuse_other_protocols()
            if not self.broken:
                self._break("the response head never ended")
        if self._surplus_bytes:
            what = "last chunk" if self.framing is Framing.CHUNKED else "end of the response"
            self._note(f"{self._surplus_bytes} bytes after the {what}")

    def _take_head(self, read_index: int, data: bytes) -> bytes:
        """Look for the final head's end; returns what follows it."""
        pending = self._head_bytes
        pending += data
        while self._state is _State.HEAD:
            found = _HEAD_END.search(pending, max(self._searched_bytes - 3, 0))
            if found is None or found.end() > MAX_HEAD_BYTES:
                self._wait_for_head()
                return b""
            block = bytes(pending[: found.start()])
            del pending[: found.end()]
            self._searched_bytes = 0
            self._begin(*read_head(block, read_index))
        return bytes(pending)

    def _wait_for_head(self) -> None:
        pending = self._head_bytes
        self._searched_bytes = len(pending)
        if len(pending) > MAX_HEAD_BYTES:
            self._break(f"a response head of more than {MAX_HEAD_BYTES} bytes")
        elif b"\n" in pending or len(pending) >= _REFUSED_BYTES:
            self._refuse_other_protocols()

    def _refuse_other_protocols(self) -> None:
        if not self._head_bytes.startswith(b"HTTP/"):
            line = bytes(self._head_bytes).split(b"\n")[0].removesuffix(b"\r")
            self._break(f"not an HTTP/1 status line: {shown(line)}")

    def _begin(self, head: Head | None, notes: list[str]) -> None:
        """Prepare for what follows a head."""
        self._note(*notes)
        if head is None:
            self._state = _State.BROKEN
        elif head.status in _INFORMATIONAL and head.status != _SWITCHING:
            self.informational_count += 1
        else:
            self.head = head
            self._begin_body(head)

    def _begin_body(self, head: Head) -> None:
        body = body_framing(head, self._method)
        self.framing = body.framing
        self._left_bytes = body.length_bytes
        if body.note is not None:
            self._note(body.note)
        if body.defect is not None:
            self._break(body.defect)
        elif body.framing is Framing.CHUNKED:
            self._state = _State.CHUNK_SIZE
        elif body.framing is Framing.UNTIL_CLOSE:
            self._state = _State.UNTIL_CLOSE
        elif body.length_bytes:
            self._state = _State.LENGTH
        else:
            self._end()

    def _step(self, text: bytes, position: int, read_index: int, body: list[bytes]) -> int | None:
        """Take one thing at ``position``; returns where it ends, None when nothing more can be."""
        match self._state:
            case _State.CHUNK_SIZE:
                if self._chunk_read < 0:
                    position = self._take_whole_chunks(text, position, read_index, body)
                    self._chunk_read = read_index if position < len(text) else -1
                return self._take_line(text, position)
            case _State.TRAILERS:
                return self._take_line(text, position)
            case _State.CHUNK_END:
                return self._take_chunk_end(text, position)
            case _State.LENGTH | _State.CHUNK:
                return self._take_counted(text, position, read_index, body)
            case _State.UNTIL_CLOSE:
                body.append(text[position:])
            case _State.DONE:
                self._surplus_bytes += len(text) - position
            case _State.HEAD | _State.BROKEN:
                """Nothing more can be understood."""
        return None

    def _take_whole_chunks(self, text: bytes, position: int, read: int, body: list[bytes]) -> int:
        """The chunks that are all here and plainly written: most of them. Returns their end."""
        while (found := _PLAIN_SIZE.match(text, position)) is not None:
            size, begin = int(found[1], 16), found.end()
            if not size or text[begin + size : begin + size + 2] != b"\r\n":
                break
            body.append(text[begin : begin + size])
            self._sizes.append(size)
            self._first_reads.append(read)
            self._last_reads.append(read)
            position = begin + size + 2
        return position

    def _take_counted(self, text: bytes, position: int, read_index: int, body: list[bytes]) -> int:
        """A piece of a chunk or of a body whose length is known."""
        piece = text[position : position + self._left_bytes]
        body.append(piece)
        self._left_bytes -= len(piece)
        if not self._left_bytes:
            if self._state is _State.LENGTH:
                self._end()
            else:
                self._sizes.append(self._chunk_bytes)
                self._first_reads.append(self._chunk_read)
                self._last_reads.append(read_index)
                self._chunk_read = -1
                self._state = _State.CHUNK_END
        return position + len(piece)

    def _take_chunk_end(self, text: bytes, position: int) -> int | None:
        """The line end after a chunk. A note shows as much as decides, however it was cut."""
        found = _CHUNK_END.match(text, position)
        if found is not None:
            self._state = _State.CHUNK_SIZE
            return found.end()
        if text[position:] == b"\r":
            self._pending = b"\r"
        else:
            wrong = text[position : position + 1 + text.startswith(b"\r", position)]
            self._break(f"a chunk that does not end where its size says: {shown(wrong)}")
        return None

    def _take_line(self, text: bytes, position: int) -> int | None:
        """A line of the framing, once it is whole; LF alone ends one too."""
        end = text.find(b"\n", position, position + MAX_LINE_BYTES + 1)
        if end >= 0:
            line = text[position:end].removesuffix(b"\r")
            if self._state is _State.CHUNK_SIZE:
                self._take_size(line)
            else:
                self._take_trailer(line)
            return end + 1
        if len(text) - position > MAX_LINE_BYTES:
            self._break("a chunk size or trailer line without an end")
        else:
            self._pending = text[position:]
        return None

    def _take_size(self, line: bytes) -> None:
        found = _CHUNK_SIZE.fullmatch(line)
        if found is None:
            self._break(f"broken chunk size: {shown(line)}")
            return
        self._left_bytes = self._chunk_bytes = int(found[1], 16)
        self._state = _State.CHUNK if self._left_bytes else _State.TRAILERS

    def _take_trailer(self, line: bytes) -> None:
        if not line:
            self._end()
            return
        fields, notes = read_fields([line])
        self.trailers += fields
        self._note(*notes)
        if len(self.trailers) > _MAX_TRAILER_COUNT:
            self._break("trailers without an end")

    def _end(self) -> None:
        self.complete = True
        self._state = _State.DONE

    def _break(self, note: str) -> None:
        self._note(note)
        self._state = _State.BROKEN

    def _note(self, *notes: str) -> None:
        for note in notes:
            if note not in self.notes:
                self.notes.append(note)
