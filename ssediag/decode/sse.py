"""The event stream format of the WHATWG HTML standard, on bytes, with the place of every event.

A carriage return at the end of a piece ends its line at once, and a line feed that follows it in
the next piece is swallowed: waiting for it would make every event of a CR-only stream late.
"""

import re

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 16 * 1024 * 1024


class EventStreamDecoder:
    """Feed it the body piece by piece; the columns grow by the events each piece completes.

    ``kinds`` (the event field, b"" for none), ``datas``, ``ids``, and offsets in the body:
    ``begins`` (first byte), ``says`` (end of the last line that says something, line end left
    out), ``ends`` (end of the completing blank line). Comments have ``comments`` and
    ``comment_ends``. ``retry_ms`` and ``last_id`` are the latest seen. An event above
    ``max_event_bytes`` is dropped and counted in ``dropped_count``.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.kinds: list[bytes] = []
        self.datas: list[bytes] = []
        self.ids: list[bytes] = []
        self.begins: list[int] = []
        self.says: list[int] = []
        self.ends: list[int] = []
        self.comments: list[bytes] = []
        self.comment_ends: list[int] = []
        self.retry_ms: int | None = None
        self.last_id = b""
        self.dropped_count = 0
        self._max_event_bytes = max_event_bytes
        self._offset = 0  # of the first byte in the pieces, or of the next one to come
        self._pieces: list[bytes] = []  # of a line that has no end yet
        self._held_bytes = 0
        self._skip_line_feed = False
        self._at_start = True
        self._overflown = False
        self._reset()

    def _reset(self) -> None:
        self._kind = b""
        self._lines: list[bytes] = []
        self._begin = -1
        self._said = 0
        self._event_bytes = 0

    def feed(self, piece: bytes) -> None:
        """Decode one piece of the body."""
        if self._is_one_plain_event(piece):
            self._append(b"", piece[6:-2], self._offset, len(piece) - 2, len(piece))
            self._offset += len(piece)
            return
        if self._skip_line_feed and piece:
            self._skip_line_feed = False
            if piece[:1] == b"\n":
                piece = piece[1:]
                self._offset += 1
        if b"\n" not in piece and b"\r" not in piece:
            self._hold(piece)
            return
        if self._pieces:
            piece = b"".join([*self._pieces, piece])
            self._pieces.clear()
            self._held_bytes = 0
        self._decode(piece)

    def finish(self) -> bool:
        """The body is over. An event without its blank line is not one; True if there was some."""
        return bool(self._lines or self._pieces or self._kind)

    def _is_one_plain_event(self, piece: bytes) -> bool:
        """The common case: a piece that is exactly ``data: …`` and a blank line."""
        return (
            piece[:6] == b"data: "
            and piece[-2:] == b"\n\n"
            and piece.find(b"\n") == len(piece) - 2
            and not (self._pieces or self._lines or self._kind or self._overflown)
            and not self._skip_line_feed
            and not self._at_start
            and b"\r" not in piece
            and len(piece) <= self._max_event_bytes
        )

    def _hold(self, piece: bytes) -> None:
        """Keep a line without an end, up to the limit; what is beyond only counts."""
        if self._overflown or self._event_bytes + self._held_bytes + len(piece) > (
            self._max_event_bytes
        ):
            self._overflow()
            self._offset += len(piece)
            return
        self._pieces.append(piece)
        self._held_bytes += len(piece)

    def _overflow(self) -> None:
        if not self._overflown:
            self.dropped_count += 1
        self._overflown = True
        self._offset += self._held_bytes
        self._pieces.clear()
        self._held_bytes = 0
        self._lines.clear()

    def _decode(self, text: bytes) -> None:
        """Take the whole lines of ``text``, keep the rest."""
        position = self._skip_bom(text)
        if b"\r" in text:
            position = self._decode_lines(text, position)
        else:
            position = self._decode_blocks(text, position)
        rest = text[position:]
        self._offset += position
        if rest:
            self._hold(rest)
        elif text[-1:] == b"\r":
            self._skip_line_feed = True

    def _skip_bom(self, text: bytes) -> int:
        """Where the text begins: the first line end is here, so the whole mark is, too."""
        if not self._at_start:
            return 0
        self._at_start = False
        return len(_BOM) if text.startswith(_BOM) else 0

    def _decode_blocks(self, text: bytes, position: int) -> int:
        """Lines that end in LF: whole events at once where nothing is pending."""
        while (end := text.find(b"\n\n", position)) >= 0:
            single = text[position : position + 6] == b"data: " and not (
                self._lines or self._kind or self._overflown
            )
            if single and text.find(b"\n", position, end) < 0 and end - position <= (
                self._max_event_bytes
            ):
                self._append(b"", text[position + 6 : end], self._offset, end, end + 2, position)
            else:
                self._take_lines(text, position, end + 1)
                self._dispatch(self._offset + end + 2)
            position = end + 2
        last = text.rfind(b"\n", position) + 1
        if last > position:
            self._take_lines(text, position, last)
            position = last
        return position

    def _take_lines(self, text: bytes, begin: int, end: int) -> None:
        """The lines of ``text[begin:end]``, which ends in LF."""
        while begin < end:
            stop = text.find(b"\n", begin, end)
            self._line(text[begin:stop], self._offset + begin, self._offset + stop + 1)
            begin = stop + 1

    def _decode_lines(self, text: bytes, position: int) -> int:
        """Lines with any end, one by one."""
        for found in _LINE_END.finditer(text, position):
            begin, end = found.span()
            self._line(text[position:begin], self._offset + position, self._offset + end)
            position = end
        return position

    def _append(
        self, kind: bytes, data: bytes, base: int, says: int, ends: int, begins: int = 0
    ) -> None:
        self.kinds.append(kind)
        self.datas.append(data)
        self.ids.append(self.last_id)
        self.begins.append(base + begins)
        self.says.append(base + says)
        self.ends.append(base + ends)

    def _line(self, line: bytes, begin: int, end: int) -> None:
        """One line, without its end; ``begin`` and ``end`` are its place, its end included."""
        if not line:
            self._dispatch(end)
            return
        if line[:1] == b":":
            self.comments.append(line[1:])
            self.comment_ends.append(end)
            return
        if self._overflown:
            return
        if self._begin < 0:
            self._begin = begin
        self._event_bytes += len(line)
        if self._event_bytes > self._max_event_bytes:
            self._overflow()
            return
        self._field(line, begin)

    def _field(self, line: bytes, begin: int) -> None:
        name, colon, value = line.partition(b":")
        if colon and value[:1] == b" ":
            value = value[1:]
        if name == b"data":
            self._lines.append(value)
        elif name == b"event":
            self._kind = value
        elif name == b"id":
            if b"\0" in value:
                return
            self.last_id = value
        elif name == b"retry":
            if not value.isdigit():
                return
            self.retry_ms = int(value[:18])
        else:
            return
        self._said = begin + len(line)

    def _dispatch(self, end: int) -> None:
        """A blank line: the event is complete, if it has data."""
        if self._lines and not self._overflown:
            data = self._lines[0] if len(self._lines) == 1 else b"\n".join(self._lines)
            self._append(self._kind, data, 0, self._said, end, self._begin)
        self._overflown = False
        self._reset()
