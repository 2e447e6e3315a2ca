"""What an HTTP/2 server sent, frame by frame, seen passively: RFC 9113.

Only the response to the connection's first request (stream 1) is taken apart. Flow control and
acknowledgements are the business of whoever drives the connection. The payload of a DATA frame
is passed on as it comes: a frame of 16 KiB must not make its first event look late.
"""

import re

from ssediag.decode.http1_head import shown
from ssediag.decode.http2_fields import Fields, HeaderBlocks
from ssediag.model.stream import ChunkTable, Framing, Head

MAX_HEAD_BYTES = 256 * 1024
_FRAME_HEAD_BYTES = 9
_STREAM = 1
_DATA, _HEADERS, _RST_STREAM, _PUSH_PROMISE, _GOAWAY, _CONTINUATION = 0, 1, 3, 5, 7, 9
_BLOCK_FRAMES = frozenset({_HEADERS, _PUSH_PROMISE, _CONTINUATION})
_KEPT_FRAMES = _BLOCK_FRAMES | {_RST_STREAM, _GOAWAY}
_LAST_KNOWN_KIND = 0x10  # PRIORITY_UPDATE, RFC 9218
_END_STREAM, _END_HEADERS, _PADDED, _PRIORITY = 0x1, 0x4, 0x8, 0x20
_PRIORITY_BYTES, _PROMISED_BYTES = 5, 4
_STATUS = re.compile(r"[1-9][0-9]{2}")
_INFORMATIONAL = range(100, 200)
_DEBUG_BYTES = 200
ERROR_NAMES = (
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
    "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
    "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
)  # fmt: skip


class Http2Decoder:
    """Feed it the reads of a connection, in order; the same questions as the HTTP/1 decoder's.

    ``reset`` is whether the peer ended the stream with RST_STREAM before its END_STREAM.
    """

    def __init__(self) -> None:
        self.head: Head | None = None
        self.framing = Framing.FRAMES
        self.complete = False
        self.broken = False
        self.reset = False
        self.informational_count = 0
        self.notes: list[str] = []
        self.trailers: tuple[tuple[str, str], ...] = ()
        self._blocks = HeaderBlocks(MAX_HEAD_BYTES)
        self._block_kind = self._block_flags = 0  # of the frame that opened the header block
        self._began = False
        self._frame_head = bytearray()  # of the frame that is on its way
        self._first_read = 0
        self._kind = self._flags = self._stream = 0
        self._left_bytes = 0
        self._payload = bytearray()  # of a frame that is looked at as a whole
        self._padding_bytes = 0
        self._text_bytes = 0
        self._sizes: list[int] = []
        self._first_reads: list[int] = []
        self._last_reads: list[int] = []

    def chunks(self) -> ChunkTable:
        """The DATA frames whose last byte came, padding left out; empty ones are none."""
        return ChunkTable(tuple(self._sizes), tuple(self._first_reads), tuple(self._last_reads))

    def feed(self, read_index: int, data: bytes) -> bytes:
        """The body bytes that this read brought."""
        body: list[bytes] = []
        position = 0
        while position < len(data) and not self.broken:
            if len(self._frame_head) < _FRAME_HEAD_BYTES:
                position = self._take_frame_head(data, position, read_index)
            else:
                piece = data[position : position + self._left_bytes]
                position += len(piece)
                self._left_bytes -= len(piece)
                self._take_payload(piece, body)
            if len(self._frame_head) == _FRAME_HEAD_BYTES and not self._left_bytes:
                self._frame_head.clear()
                self._end_frame(read_index)
        return body[0] if len(body) == 1 else b"".join(body)

    def finish(self) -> None:
        """The connection is over."""
        if self._frame_head and not self.broken:
            self._note("the connection ended inside a frame")

    def _take_frame_head(self, data: bytes, position: int, read_index: int) -> int:
        """The nine bytes before a frame's payload; returns where they end."""
        head = self._frame_head
        if not head:
            self._first_read = read_index
        end = position + _FRAME_HEAD_BYTES - len(head)
        head += data[position:end]
        if len(head) == _FRAME_HEAD_BYTES:
            self._left_bytes = int.from_bytes(head[:3], "big")
            self._kind, self._flags = head[3], head[4]
            self._stream = int.from_bytes(head[5:9], "big") & 0x7FFFFFFF
            self._begin_frame()
        return end

    def _begin_frame(self) -> None:
        self._payload.clear()
        self._padding_bytes = self._text_bytes = 0
        if not self._began and self._kind > _LAST_KNOWN_KIND:
            self._break(f"not HTTP/2: the answer begins {shown(bytes(self._frame_head))}")
        self._began = True
        if self._blocks.is_open and self._kind != _CONTINUATION:  # RFC 9113 6.10
            self._break("a header block that another frame interrupts")
        elif (
            self._kind in _BLOCK_FRAMES
            and self._left_bytes + self._blocks.held_bytes > MAX_HEAD_BYTES
        ):
            self._break(f"response headers of more than {MAX_HEAD_BYTES} bytes")
        elif self._kind == _DATA and self._stream == _STREAM:
            if self.head is None:
                self._break("DATA before the response headers")
            elif self._flags & _PADDED and not self._left_bytes:
                self._break("padding longer than its frame")

    def _take_payload(self, piece: bytes, body: list[bytes]) -> None:
        """Some of a frame's payload; what is not looked at is not kept."""
        if self._kind == _DATA and self._stream == _STREAM:
            self._take_data(piece, body)
        elif self._kind in _KEPT_FRAMES:
            room = MAX_HEAD_BYTES - len(self._payload)
            self._payload += piece[:room]

    def _take_data(self, piece: bytes, body: list[bytes]) -> None:
        if self._flags & _PADDED:
            self._flags &= ~_PADDED
            self._padding_bytes = piece[0]
            piece = piece[1:]
            if self._padding_bytes > len(piece) + self._left_bytes:
                self._break("padding longer than its frame")
                return
        surplus = self._padding_bytes - self._left_bytes  # of the padding, what is in this piece
        text = piece[: max(len(piece) - surplus, 0)] if surplus > 0 else piece
        if self.complete:
            self._note("DATA after END_STREAM")
        elif text:
            self._text_bytes += len(text)
            body.append(text)

    def _end_frame(self, read_index: int) -> None:
        """The frame is whole. Settings, pings, windows and other streams say nothing here."""
        if self.broken:
            return
        payload = bytes(self._payload)
        if self._kind == _GOAWAY:
            self._goaway(payload)
        elif self._kind in _BLOCK_FRAMES:
            self._take_fragment(payload, read_index)
        elif self._stream != _STREAM:
            return
        elif self._kind == _RST_STREAM:
            self._reset_stream(payload)
        elif self._kind == _DATA:
            if self._text_bytes:
                self._sizes.append(self._text_bytes)
                self._first_reads.append(self._first_read)
                self._last_reads.append(read_index)
            self.complete = self.complete or bool(self._flags & _END_STREAM)

    def _take_fragment(self, payload: bytes, read_index: int) -> None:
        """A piece of a header block, of any stream: all share one table."""
        if self._kind == _CONTINUATION and not self._blocks.is_open:
            self._break("CONTINUATION without a header block")
            return
        if self._kind != _CONTINUATION:
            self._block_kind, self._block_flags = self._kind, self._flags
            fragment = self._without_padding(payload)
            if fragment is None:
                self._break("padding longer than its frame")
                return
            payload = fragment
        self._blocks.add(payload)
        if self._flags & _END_HEADERS:
            self._end_block(read_index)

    def _without_padding(self, payload: bytes) -> bytes | None:
        """The fragment in a HEADERS or PUSH_PROMISE frame; None if its padding does not fit."""
        padding_bytes = 0
        if self._flags & _PADDED:
            padding_bytes = payload[0] if payload else 1
            payload = payload[1:]
        if self._kind == _PUSH_PROMISE:
            payload = payload[_PROMISED_BYTES:]
        elif self._flags & _PRIORITY:
            payload = payload[_PRIORITY_BYTES:]
        if padding_bytes > len(payload):
            return None
        return payload[: len(payload) - padding_bytes]

    def _end_block(self, read_index: int) -> None:
        fields = self._blocks.close()
        if fields is None:
            self._break("response headers that HPACK cannot decode")
        elif self._block_kind == _PUSH_PROMISE or self._stream != _STREAM:
            return
        elif self.head is None:
            self._take_head(fields, read_index)
        else:
            self.trailers += fields
        ends_stream = bool(self._block_flags & _END_STREAM)
        self.complete = self.complete or (ends_stream and self.head is not None)

    def _take_head(self, fields: Fields, read_index: int) -> None:
        status = dict(fields).get(":status", "")
        if _STATUS.fullmatch(status) is None:
            self._break("response headers without a :status")
        elif int(status) in _INFORMATIONAL:
            self.informational_count += 1
        else:
            plain = tuple(pair for pair in fields if not pair[0].startswith(":"))
            self.head = Head(int(status), "", "2", plain, read_index)

    def _reset_stream(self, payload: bytes) -> None:
        code = int.from_bytes(payload[:4], "big")
        if self.complete and code == 0:  # RFC 9113 8.1: the rest of the request is not wanted
            return
        self.reset = not self.complete
        self._note(f"RST_STREAM {error_name(code)}")

    def _goaway(self, payload: bytes) -> None:
        code = int.from_bytes(payload[4:8], "big")
        if code:
            said = payload[8 : 8 + _DEBUG_BYTES].decode("ascii", "replace")
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
