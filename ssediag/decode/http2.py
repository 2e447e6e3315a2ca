"""What an HTTP/2 server sent, frame by frame, seen passively: RFC 9113.

Only the response to the connection's first request (stream 1) is taken apart. Flow control and
acknowledgements are the business of whoever drives the connection.
"""

import hpack

from ssediag.model.stream import ChunkTable, Framing, Head

MAX_HEAD_BYTES = 256 * 1024
_FRAME_HEAD_BYTES = 9
# A peer may announce more, but no client of ours allows it; a larger frame is no HTTP/2.
_MAX_FRAME_BYTES = 1 << 24
_STREAM = 1
_DATA, _HEADERS, _RST_STREAM, _GOAWAY, _CONTINUATION = 0, 1, 3, 7, 9
_END_STREAM, _END_HEADERS, _PADDED, _PRIORITY = 0x1, 0x4, 0x8, 0x20
_INFORMATIONAL = range(100, 200)
ERROR_NAMES = (
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
    "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
    "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
)  # fmt: skip


class Http2Decoder:
    """Feed it the reads of a connection, in order; the same questions as the HTTP/1 decoder's."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.framing = Framing.FRAMES
        self.complete = False
        self.broken = False
        self.reset = False
        self.notes: list[str] = []
        self.trailers: tuple[tuple[str, str], ...] = ()
        self._pending = bytearray()
        self._first_read = 0
        self._block = bytearray()
        self._block_ends_stream = False
        self._fields = hpack.Decoder(max_header_list_size=MAX_HEAD_BYTES)
        self._sizes: list[int] = []
        self._first_reads: list[int] = []
        self._last_reads: list[int] = []

    def chunks(self) -> ChunkTable:
        """The DATA frames, padding left out."""
        return ChunkTable(tuple(self._sizes), tuple(self._first_reads), tuple(self._last_reads))

    def feed(self, read_index: int, data: bytes) -> bytes:
        """The body bytes of the DATA frames that this read completed."""
        if self.broken:
            return b""
        if not self._pending:
            self._first_read = read_index
        self._pending += data
        body: list[bytes] = []
        position = 0
        while (size := self._frame_bytes(position)) is not None and not self.broken:
            frame = bytes(self._pending[position : position + size])
            position += size
            self._frame(frame, read_index, body)
            self._first_read = read_index
        del self._pending[:position]
        return b"".join(body)

    def finish(self) -> None:
        """The connection is over."""

    def _frame_bytes(self, position: int) -> int | None:
        """Size of the whole frame at ``position``, or None while it is not all here."""
        head = self._pending[position : position + _FRAME_HEAD_BYTES]
        if len(head) < _FRAME_HEAD_BYTES:
            return None
        size = int.from_bytes(head[:3], "big") + _FRAME_HEAD_BYTES
        if size > _MAX_FRAME_BYTES:
            self._break("a frame larger than any that was allowed")
        return size if len(self._pending) - position >= size else None

    def _frame(self, frame: bytes, read_index: int, body: list[bytes]) -> None:
        kind, flags = frame[3], frame[4]
        stream = int.from_bytes(frame[5:9], "big") & 0x7FFFFFFF
        payload = frame[_FRAME_HEAD_BYTES:]
        if kind == _GOAWAY:
            self._goaway(payload)
        elif stream != _STREAM:
            return
        elif kind == _DATA:
            self._data(payload, flags, read_index, body)
        elif kind == _HEADERS:
            self._begin_block(payload, flags, read_index)
        elif kind == _CONTINUATION:
            self._add_to_block(payload, flags, read_index)
        elif kind == _RST_STREAM:
            self._reset_stream(payload)

    def _data(self, payload: bytes, flags: int, read_index: int, body: list[bytes]) -> None:
        text = self._unpadded(payload, flags)
        if text is None:
            return
        if text:
            self._sizes.append(len(text))
            self._first_reads.append(self._first_read)
            self._last_reads.append(read_index)
            body.append(text)
        self.complete = self.complete or bool(flags & _END_STREAM)

    def _unpadded(self, payload: bytes, flags: int) -> bytes | None:
        if not flags & _PADDED:
            return payload
        padding = payload[0] if payload else 0
        if not payload or padding >= len(payload):
            self._break("padding longer than its frame")
            return None
        return payload[1 : len(payload) - padding]

    def _begin_block(self, payload: bytes, flags: int, read_index: int) -> None:
        block = self._unpadded(payload, flags)
        if block is None:
            return
        self._block = bytearray(block[5:] if flags & _PRIORITY else block)
        self._block_ends_stream = bool(flags & _END_STREAM)
        if flags & _END_HEADERS:
            self._end_block(read_index)

    def _add_to_block(self, payload: bytes, flags: int, read_index: int) -> None:
        self._block += payload
        if len(self._block) > MAX_HEAD_BYTES:
            self._break(f"response headers of more than {MAX_HEAD_BYTES} bytes")
        elif flags & _END_HEADERS:
            self._end_block(read_index)

    def _end_block(self, read_index: int) -> None:
        try:
            decoded = self._fields.decode(bytes(self._block), raw=True)
        except (hpack.HPACKError, ValueError, IndexError):
            self._break("response headers that HPACK cannot decode")
            return
        fields = tuple((_text(field[0]), _text(field[1])) for field in decoded)
        self._block.clear()
        if self.head is not None:
            self.trailers += fields
        else:
            self._take_head(fields, read_index)
        self.complete = self.complete or (self._block_ends_stream and self.head is not None)

    def _take_head(self, fields: tuple[tuple[str, str], ...], read_index: int) -> None:
        status = dict(fields).get(":status", "")
        if not (status.isdigit() and len(status) == 3):  # noqa: PLR2004 - RFC 9110 15
            self._break("response headers without a :status")
            return
        if int(status) in _INFORMATIONAL:
            return
        plain = tuple(pair for pair in fields if not pair[0].startswith(":"))
        self.head = Head(int(status), "", "2", plain, read_index)

    def _reset_stream(self, payload: bytes) -> None:
        code = int.from_bytes(payload[:4], "big")
        if self.complete and code == 0:
            return
        self.reset = not self.complete
        self._note(f"RST_STREAM {error_name(code)}")

    def _goaway(self, payload: bytes) -> None:
        code = int.from_bytes(payload[4:8], "big")
        if code:
            said = payload[8:208].decode("ascii", "replace")
            text = "".join(letter if letter.isprintable() else "?" for letter in said)
            self._note(f"GOAWAY {error_name(code)}" + (f": {text}" if text else ""))

    def _break(self, note: str) -> None:
        self._note(note)
        self.broken = True

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def error_name(code: int) -> str:
    """Name and number of an HTTP/2 error code: RFC 9113 7."""
    name = ERROR_NAMES[code] if code < len(ERROR_NAMES) else "unknown error"
    return f"{name} ({code})"


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")
