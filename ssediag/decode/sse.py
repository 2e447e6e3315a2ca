"""The event stream format of the WHATWG HTML standard, on bytes, with the place of every event.

A carriage return at the end of a piece ends its line at once, and a line feed that follows it in
the next piece is swallowed: waiting for it would make every event of a CR-only stream late.
"""

import re

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 16 * 1024 * 1024

SseEvent = tuple[bytes, bytes, bytes, int, int, int]


class EventStreamDecoder:
    """Feed it the body piece by piece; ``events`` grows by what each piece completes.

    An event is ``(kind, data, id, begins, says, ends)``: the event field (b"" for none), its data,
    the last id, and offsets in the body: first byte, end of the last line that says something
    (line end left out), end of the completing blank line. A tuple, because it costs a sixth of a
    frozen object. ``comments`` are ``(text, ends)``. ``retry_ms`` and ``last_id`` are the latest
    in force. An event above ``max_event_bytes`` is dropped and counted in ``dropped_count``.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.events: list[SseEvent] = []
        self.comments: list[tuple[bytes, int]] = []
        self.retry_ms: int | None = None
        self.last_id = b""
        self.dropped_count = 0
        self._max_event_bytes = max_event_bytes
        self._offset = 0  # of the first byte held, or of the next one to come
        self._held: list[bytes] = []  # pieces of a line that has no end yet
        self._held_bytes = 0
        self._id = b""  # taken over by the next blank line
        self._skip_line_feed = False
        self._at_start = True
        self._overflown = False
        self._idle = False  # nothing is pending: the next byte begins an event
        self._reset()

    def _reset(self) -> None:
        self._kind = b""
        self._lines: list[bytes] = []
        self._begins = -1
        self._says = 0
        self._event_bytes = 0

    def feed(self, piece: bytes) -> None:
        """Decode one piece of the body."""
        size = len(piece)
        if (  # the common case: exactly one event, ``data: …`` and a blank line
            self._idle
            and piece[:6] == b"data: "
            and piece.find(b"\n") == size - 2
            and piece[-1:] == b"\n"
            and b"\r" not in piece
            and size <= self._max_event_bytes
        ):
            begins = self._offset
            ends = self._offset = begins + size
            self.events.append((b"", piece[6:-2], self.last_id, begins, ends - 2, ends))
            return
        if self._skip_line_feed and piece:
            self._skip_line_feed = False
            if piece[:1] == b"\n":
                piece = piece[1:]
                self._offset += 1
        if b"\n" not in piece and b"\r" not in piece:
            self._hold(piece)
        else:
            self._decode(b"".join([*self._held, piece]) if self._held else piece)
        self._idle = not (
            self._held
            or self._begins >= 0
            or self._overflown
            or self._skip_line_feed
            or self._at_start
            or self._id != self.last_id
        )

    def finish(self) -> bool:
        """The body is over. An event without its blank line is not one; True if there was some."""
        return bool(self._lines or self._held or self._kind)

    def _hold(self, piece: bytes) -> None:
        """Keep a line without an end, up to the limit; what is beyond only counts."""
        if self._overflown or (
            self._event_bytes + self._held_bytes + len(piece) > self._max_event_bytes
        ):
            self._overflow()
            self._offset += len(piece)
        elif piece:
            self._held.append(piece)
            self._held_bytes += len(piece)

    def _overflow(self) -> None:
        if not self._overflown:
            self.dropped_count += 1
        self._overflown = True
        self._offset += self._held_bytes
        self._held.clear()
        self._held_bytes = 0
        self._lines.clear()

    def _decode(self, text: bytes) -> None:
        """Take the whole lines of ``text``, which has one, and keep the rest."""
        self._held.clear()
        self._held_bytes = 0
        position = 0
        if self._at_start:  # the first line has its end, so a byte order mark is whole
            self._at_start = False
            position = len(_BOM) if text.startswith(_BOM) else 0
        if b"\r" in text:
            position = self._take_any_lines(text, position)
        else:
            position = self._take_blocks(text, position)
        self._offset += position
        self._skip_line_feed = position == len(text) and text[-1:] == b"\r"
        if position < len(text):
            self._hold(text[position:])

    def _take_any_lines(self, text: bytes, position: int) -> int:
        """Lines with any end, one by one; returns where they end."""
        for found in _LINE_END.finditer(text, position):
            begin, end = found.span()
            self._line(text[position:begin], self._offset + position, self._offset + end)
            position = end
        return position

    def _take_blocks(self, text: bytes, position: int) -> int:
        """Lines that end in LF: whole events at once where nothing is pending."""
        last = text.rfind(b"\n") + 1
        if self._begins >= 0 or self._overflown or self._id != self.last_id:
            blank = text.find(b"\n\n", position, last)
            end = last if blank < 0 else blank + 2
            self._take_lines(text, position, end)
            position = end
        *blocks, rest = text[position:last].split(b"\n\n")
        place = self._offset + position
        append, limit = self.events.append, self._max_event_bytes
        for block in blocks:
            says = place + len(block)
            if block[:6] == b"data: " and b"\n" not in block and len(block) <= limit:
                append((b"", block[6:], self.last_id, place, says, says + 2))
            else:
                self._take_lines(block + b"\n\n", 0, len(block) + 2, place)
            place = says + 2
        self._take_lines(rest, 0, len(rest), place)
        return last

    def _take_lines(self, text: bytes, begin: int, end: int, place: int | None = None) -> None:
        """The lines of ``text[begin:end]``, which ends in LF; ``place`` is the text's offset."""
        place = self._offset if place is None else place
        while begin < end:
            stop = text.find(b"\n", begin, end)
            self._line(text[begin:stop], place + begin, place + stop + 1)
            begin = stop + 1

    def _line(self, line: bytes, begins: int, ends: int) -> None:
        """One line, without its end, and its place, its end included."""
        if not line:
            self._dispatch(ends)
        elif line[:1] == b":":
            self.comments.append((line[1:], ends))
        elif not self._overflown:
            self._event_bytes += len(line)
            if self._event_bytes > self._max_event_bytes:
                self._overflow()
                return
            if self._begins < 0:
                self._begins = begins
            self._field(line, begins)

    def _field(self, line: bytes, begins: int) -> None:
        name, colon, value = line.partition(b":")
        if colon and value[:1] == b" ":
            value = value[1:]
        if name == b"data":
            self._lines.append(value)
        elif name == b"event":
            self._kind = value
        elif name == b"id" and b"\0" not in value:
            self._id = value
        elif name == b"retry" and value.isdigit():
            self.retry_ms = int(value[:18])
        else:
            return
        self._says = begins + len(line)

    def _dispatch(self, ends: int) -> None:
        """A blank line: the event is complete, if it has data."""
        self.last_id = self._id
        if self._lines and not self._overflown:
            data = self._lines[0] if len(self._lines) == 1 else b"\n".join(self._lines)
            self.events.append((self._kind, data, self._id, self._begins, self._says, ends))
        self._overflown = False
        if self._begins >= 0:
            self._reset()
