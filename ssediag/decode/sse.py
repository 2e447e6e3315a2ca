"""The event stream format of the WHATWG HTML standard, on bytes, with the place of every event.

A carriage return at the end of a piece ends its line at once, and a line feed that follows it in
the next piece is swallowed: waiting for it would make every event of a CR-only stream late.
"""

import re

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 16 * 1024 * 1024
_MAX_RETRY_DIGITS = 18
# Numbers, because a byte is found four times as fast as a string of one.
_LF, _CR, _COLON = b"\n\r:"

SseEvent = tuple[bytes, bytes, bytes, int, int, int]


class EventStreamDecoder:
    """Feed it the body piece by piece; ``events`` grows by what each piece completes.

    An event is ``(kind, data, id, begins, says, ends)``: the event field (b"" for none), its data,
    the last id, and offsets in the body: first byte, end of the last line that says something
    (line end left out), end of the completing blank line. A tuple, because it costs a sixth of a
    frozen object. ``comments`` are ``(text, ends)``, ``retries`` ``(milliseconds, begins)``.
    ``last_id`` is the one in force, at first the one given: what an earlier connection left. A
    line or an event above ``max_event_bytes`` is dropped and counted in ``dropped_count``. The
    caller may clear the lists at any time.

    ``late_line_feed`` is the offset of the latest line feed that came a piece after its carriage
    return, -1 for none: it belongs to what ended there, though nobody waited for it.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES, last_id: bytes = b"") -> None:
        self.events: list[SseEvent] = []
        self.comments: list[tuple[bytes, int]] = []
        self.retries: list[tuple[int, int]] = []
        self.last_id = last_id
        self.late_line_feed = -1
        self.dropped_count = 0
        self._max_event_bytes = max_event_bytes
        self._offset = 0  # of the first byte held, or of the next one to come
        self._held: list[bytes] = []  # pieces of a line that has no end yet
        self._held_bytes = 0
        self._id = last_id  # taken over by the next blank line
        self._skip_line_feed = False
        self._at_start = True
        self._in_long_line = False  # what comes up to the next line end is not looked at
        self._overflown = False  # what comes up to the next blank line is not kept
        self._resumes = True  # a line, or the end of one, is not whole
        self._idle = False  # nothing is pending: the next byte begins an event
        self._begins = -1
        self._says = 0
        self._kind = b""
        self._lines: list[bytes] = []

    def feed(self, piece: bytes) -> None:
        """Decode one piece of the body."""
        if self._idle:
            # Most often it is one event of one line. Cutting costs less than looking first.
            line, _, rest = piece.partition(b"\n")
            if rest == b"\n" and len(line) <= self._max_event_bytes:
                name, _, text = line.partition(b": ")
                if name == b"data" and _CR not in line:
                    begins = self._offset
                    self._offset = ends = begins + len(piece)
                    self.events.append((b"", text, self.last_id, begins, ends - 2, ends))
                    return
        elif self._held and _LF not in piece and _CR not in piece:
            self._hold(piece)  # the line goes on
            return
        elif self._resumes:
            piece = self._resume(piece)
        if _CR in piece:
            piece = self._take_returns(piece)
        elif _LF in piece:
            lines = piece.split(b"\n")
            piece = lines.pop()
            self._take(lines, 1)
        if piece:
            self._hold(piece)
            self._resumes, self._idle = True, False
        else:
            self._resumes = self._skip_line_feed or self._in_long_line or self._at_start
            self._idle = self._begins < 0 and not self._resumes

    def _resume(self, piece: bytes) -> bytes:
        """What to decode now, when ``piece`` goes on with what the one before it began."""
        if self._skip_line_feed and piece:
            self._skip_line_feed = False
            if piece[:1] == b"\n":
                piece = piece[1:]
                self.late_line_feed = self._offset
                self._offset += 1
        if self._in_long_line:
            return self._leave_long_line(piece)
        if _LF not in piece and _CR not in piece:
            return piece
        text = b"".join([*self._held, piece])
        self._held.clear()
        self._held_bytes = 0
        if self._at_start:  # the first line has its end, so a byte order mark is whole
            self._at_start = False
            if text.startswith(_BOM):
                text = text[len(_BOM) :]
                self._offset += len(_BOM)
        return text

    def finish(self) -> bool:
        """The body is over. An event without its blank line is not one; True if there was some."""
        held = bool(self._held) and not self._held[0].startswith(b":")
        return held or self._begins >= 0

    def _hold(self, piece: bytes) -> None:
        """Keep a line without an end, up to the limit; what is beyond only counts."""
        begins = self._begins if self._begins >= 0 else self._offset
        if self._offset + self._held_bytes + len(piece) - begins > self._max_event_bytes:
            self._offset += self._held_bytes + len(piece)
            self._held.clear()
            self._held_bytes = 0
            self._in_long_line = True
            self._begins = begins
            self._overflow()
        elif piece:
            self._held.append(piece)
            self._held_bytes += len(piece)

    def _overflow(self) -> None:
        if not self._overflown:
            self.dropped_count += 1
        self._overflown = True
        self._lines = []

    def _leave_long_line(self, piece: bytes) -> bytes:
        """What follows the end of a line that was too long; nothing while it has no end."""
        end = _LINE_END.search(piece)
        place = len(piece) if end is None else end.end()
        self._offset += place
        if end is not None:
            self._in_long_line = self._at_start = False
            self._skip_line_feed = end.group() == b"\r" and place == len(piece)
        return piece[place:]

    def _take_returns(self, text: bytes) -> bytes:
        """Take lines of which one at least ends in a carriage return; returns what has no end."""
        lines = text.split(b"\r\n")
        joined = b"".join(lines)
        if _CR in joined or _LF in joined:
            return self._take_mixed(text)
        rest = lines.pop()
        self._take(lines, 2)
        return rest

    def _take_mixed(self, text: bytes) -> bytes:
        """Lines that end in different ways, one by one; returns what has no end."""
        position = 0
        for found in _LINE_END.finditer(text):
            begin, end = found.span()
            self._take([text[position:begin]], end - begin)
            position = end
        self._skip_line_feed = text[-1:] == b"\r"
        return text[position:]

    def _take(self, lines: list[bytes], end_bytes: int) -> None:
        """Whole lines, and the size of each one's end. The hot loop: locals, and few calls."""
        place, begins, says, data = self._offset, self._begins, self._says, self._lines
        limit_bytes = self._max_event_bytes
        for line in lines:
            if not line:
                place += end_bytes
                self.last_id = self._id
                if data:
                    text = data[0] if len(data) == 1 else b"\n".join(data)
                    self.events.append((self._kind, text, self._id, begins, says, place))
                    data = []
                self._kind = b""
                self._overflown = False
                begins = -1
                continue
            ends = place + len(line)
            if line[0] == _COLON:
                place = ends + end_bytes
                self.comments.append((line[1:], place))
                continue
            if begins < 0:
                begins = place
            name, _, value = line.partition(b": ")  # the usual spelling; a bare name is a field too
            if self._overflown or ends - begins > limit_bytes:
                self._overflow()
                data = []
            elif name == b"data":
                data.append(value)
                says = ends
            elif name == b"event":
                self._kind = value
                says = ends
            elif self._field(line, data, place):
                says = ends
            place = ends + end_bytes
        self._offset, self._begins, self._says, self._lines = place, begins, says, data

    def _field(self, line: bytes, data: list[bytes], place: int) -> bool:
        """Take a line's field over; whether it is one that the standard knows."""
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            data.append(value)
        elif name == b"event":
            self._kind = value
        elif name == b"id" and b"\0" not in value:
            self._id = value
        elif name == b"retry" and value.isdigit():
            self.retries.append((int(value[:_MAX_RETRY_DIGITS]), place))
        else:
            return False
        return True
