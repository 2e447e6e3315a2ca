"""The decoded body of a response: events in their dialect, or what it is if it has none."""

from collections.abc import Callable

from ssediag.decode.dialects import DIALECTS, FALLBACK, recognise
from ssediag.decode.dialects.reading import Dialect, Reading
from ssediag.decode.resemblance import (
    DECIDING_BYTES,
    begins_like_events,
    content_of,
    error_message,
    resemblance,
)
from ssediag.decode.sse import EventStreamDecoder, SseEvent
from ssediag.model.stream import EventKind

_SAMPLE_BYTES = 64 * 1024
_UNDECIDED_BYTES = 512
_FIRST_ERROR_STATUS = 400


class EventBody:
    """Feed it the decoded body after ``begin``; the columns grow by the events it completes.

    ``begins``, ``says`` and ``ends`` are offsets in the decoded body; see the event decoder.
    ``size_bytes`` includes the whole blank line, however it was cut.
    ``dialect`` is an id of the table, or ``auto``: then the first event that says something
    tells. ``finish_reason``, ``usage_tokens`` and ``error`` are what the dialect read last.
    ``listener``, where there is one, is shown the event decoder after each piece, when its new
    events are in the columns and still in its lists. ``last_id`` is the id in force at first.
    """

    def __init__(self, dialect: str, *, with_data: bool, last_id: bytes = b"") -> None:
        self.kinds: list[EventKind] = []
        self.begins: list[int] = []
        self.says: list[int] = []
        self.ends: list[int] = []
        self.size_bytes: list[int] = []
        self.text_bytes: list[int] = []
        self.token_counts: list[int | None] = []
        self.datas: list[str] | None = [] if with_data else None
        self.comment_ends: list[int] = []
        self.finish_reason: str | None = None
        self.usage_tokens: int | None = None
        self.error: str | None = None
        self.looks_like: str | None = None
        self.notes: list[str] = []
        self._dialect: Dialect | None = DIALECTS.get(dialect)
        self.listener: Callable[[EventStreamDecoder], None] | None = None
        self._decoder = EventStreamDecoder(last_id=last_id)
        self._is_events: bool | None = None  # None until it is known
        self._failed = False
        self._ended = False
        self._sample = bytearray()  # of the body's beginning, until an event came
        self._undecided: list[bytes] = []
        self._counted: int | None = 0  # tokens; None once text came without a count
        self._content_type = ""

    @property
    def event_count(self) -> int:
        """Complete events so far, comments left out."""
        return len(self.kinds)

    @property
    def dialect_name(self) -> str | None:
        """The dialect's id, once there was an event to tell it by."""
        return (self._dialect or FALLBACK).name if self.kinds else None

    @property
    def terminator(self) -> bool | None:
        """Whether the dialect's own end was seen; None where it has none and none came."""
        if self._ended:
            return True
        return False if self.kinds and (self._dialect or FALLBACK).has_terminator else None

    def begin(self, status: int, content_type: str | None) -> None:
        """The head is here: an error answer has no events, whatever its type says."""
        self._content_type = (content_type or "").partition(";")[0].strip().lower()
        self._failed = status >= _FIRST_ERROR_STATUS
        if self._failed:
            self._is_events = False
        elif self._content_type == "text/event-stream":
            self._is_events = True

    def feed(self, piece: bytes) -> None:
        """One piece of the decoded body."""
        if self._is_events:
            self._feed_events(piece)
        if not self.kinds and len(self._sample) < _SAMPLE_BYTES:
            self._sample += piece[:_SAMPLE_BYTES]
        if self._is_events is None:
            self._undecided.append(piece)
            if self._is_told():
                self._decide()

    def _is_told(self) -> bool:
        sample = bytes(self._sample)
        return len(sample) >= _UNDECIDED_BYTES or len(content_of(sample)) >= DECIDING_BYTES

    def _decide(self) -> None:
        """Look whether the body begins like an event stream, whatever its label says."""
        self._is_events = begins_like_events(bytes(self._sample))
        if self._is_events:
            for piece in self._undecided:
                self._feed_events(piece)
        self._undecided.clear()

    def _feed_events(self, piece: bytes) -> None:
        decoder = self._decoder
        decoder.feed(piece)
        if decoder.late_line_feed >= 0:
            if self.ends and self.ends[-1] == decoder.late_line_feed:
                self.size_bytes[-1] += 1
            decoder.late_line_feed = -1
        if decoder.events:
            for event in decoder.events:
                self._take(event)
        if decoder.comments:
            self.comment_ends.extend(end for _, end in decoder.comments)
        if self.listener is not None:
            self.listener(decoder)
        decoder.events.clear()
        decoder.comments.clear()
        decoder.retries.clear()

    def _take(self, event: SseEvent) -> None:
        kind, data, _, begins, says, ends = event
        if self._dialect is None:
            self._dialect = recognise(kind, data)
        reading = (self._dialect or FALLBACK).read(kind, data, self._counted)
        self.kinds.append(reading.kind)
        self.begins.append(begins)
        self.says.append(says)
        self.ends.append(ends)
        self.size_bytes.append(ends - begins)
        self.text_bytes.append(reading.text_bytes)
        self.token_counts.append(reading.token_count)
        if self.datas is not None:
            self.datas.append(data.decode("utf-8", "replace"))
        self._learn(reading)

    def _learn(self, reading: Reading) -> None:
        self._ended = self._ended or reading.kind is EventKind.END
        self.finish_reason = reading.finish_reason or self.finish_reason
        self.error = reading.error or self.error
        if reading.usage_tokens is not None:
            self.usage_tokens = self._counted = reading.usage_tokens
        elif reading.text_bytes:
            self._counted = None

    def finish(self, *, whole: bool) -> None:
        """The body is over. If not ``whole``, it is we who stopped, and its end is no defect."""
        if self._is_events is None:
            self._decide()
        sample = bytes(self._sample)
        speaks_events = bool(self.kinds) or begins_like_events(sample)
        if self._decoder.finish() and whole and speaks_events:
            self.notes.append("the body ends inside an event")
        if self._decoder.dropped_count:
            self.notes.append(f"{self._decoder.dropped_count} lines or events were too large")
        if self._failed:
            self.error = error_message(sample)
        if not self.kinds:
            self.looks_like = resemblance(sample, self._content_type)
