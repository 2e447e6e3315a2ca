"""The decoded body of a response: events in their dialect, or what it is if it has none."""

import json

from ssediag.decode.dialects import DIALECTS, recognise
from ssediag.decode.dialects.openai_chat import error_text
from ssediag.decode.dialects.reading import Dialect, Reading
from ssediag.decode.sse import EventStreamDecoder, SseEvent
from ssediag.model.stream import EventKind

_SAMPLE_BYTES = 64 * 1024
_BOM = b"\xef\xbb\xbf"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_FIRST_ERROR_STATUS = 400
_SHOWN_TEXT = 200


class EventBody:
    """Feed it the decoded body after ``begin``; the columns grow by the events it completes.

    ``begins``, ``says`` and ``ends`` are offsets in the decoded body; see the event decoder.
    ``terminator`` and the other findings are those of the dialect.
    """

    def __init__(self, dialect: str, *, with_data: bool) -> None:
        self.kinds: list[EventKind] = []
        self.begins: list[int] = []
        self.says: list[int] = []
        self.ends: list[int] = []
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
        self._decoder = EventStreamDecoder()
        self._decides = False  # whether it is known if this is an event stream
        self._is_stream = False
        self._failed = False
        self._any = False
        self._sample = b""
        self._counted = 0
        self._content_type = ""

    @property
    def event_count(self) -> int:
        """Complete events so far, comments left out."""
        return len(self.kinds)

    @property
    def dialect_name(self) -> str | None:
        """The dialect's id, once there was an event to tell it by."""
        return self._dialect.name if self._dialect is not None and self.kinds else None

    @property
    def terminator(self) -> bool | None:
        """Whether the dialect's own end was seen; None where it has none and none came."""
        if EventKind.END in self.kinds[-2:]:
            return True
        return False if self.kinds and self._dialect and self._dialect.has_terminator else None

    def begin(self, status: int, content_type: str | None) -> None:
        """The head is here: an error answer has no events, whatever its type says."""
        self._content_type = (content_type or "").partition(";")[0].strip().lower()
        self._failed = status >= _FIRST_ERROR_STATUS
        self._decides = self._failed or self._content_type == "text/event-stream"
        self._is_stream = self._decides and not self._failed

    def feed(self, piece: bytes) -> None:
        """One piece of the decoded body."""
        self._any = True
        if self._is_stream:
            self._feed_events(piece)
            return
        if len(self._sample) < _SAMPLE_BYTES:
            self._sample += piece
        if not self._decides and len(self._sample) > len(_BOM) + max(map(len, _FIELDS)):
            self._decide()

    def _decide(self) -> None:
        """Look whether the body begins like an event stream, whatever its label says."""
        self._decides = True
        self._is_stream = self._sample.removeprefix(_BOM).startswith(_FIELDS)
        if self._is_stream:
            self._feed_events(self._sample)

    def _feed_events(self, piece: bytes) -> None:
        decoder = self._decoder
        decoder.feed(piece)
        for event in decoder.events:
            self._take(event)
        decoder.events.clear()
        if decoder.comments:
            self.comment_ends.extend(end for _, end in decoder.comments)
            decoder.comments.clear()

    def _take(self, event: SseEvent) -> None:
        kind, data, _, begins, says, ends = event
        if self._dialect is None:
            self._dialect = recognise(kind, data)
        reading = self._dialect.read(kind, data, self._counted)
        self.kinds.append(reading.kind)
        self.begins.append(begins)
        self.says.append(says)
        self.ends.append(ends)
        self.text_bytes.append(reading.text_bytes)
        self.token_counts.append(reading.token_count)
        if self.datas is not None:
            self.datas.append(data.decode("utf-8", "replace"))
        self._learn(reading)

    def _learn(self, reading: Reading) -> None:
        self.finish_reason = reading.finish_reason or self.finish_reason
        self.error = reading.error or self.error
        if reading.usage_tokens is not None:
            self.usage_tokens = self._counted = reading.usage_tokens

    def finish(self) -> None:
        """The body is over: say what it was if it had no events."""
        if not self._decides and self._sample:
            self._decide()
        if self._decoder.finish():
            self.notes.append("the body ends inside an event")
        if self._decoder.dropped_count:
            self.notes.append(f"{self._decoder.dropped_count} events were too large to keep")
        if self._failed:
            self.error = _error_message(self._sample)
        if not self.kinds and not self._is_stream:
            self.looks_like = _resemblance(self._sample, self._content_type)
        elif not self._any:
            self.looks_like = "empty"


def _resemblance(sample: bytes, content_type: str) -> str:
    """What a body that is no event stream looks like."""
    text = sample.lstrip()
    if not text:
        return "empty"
    if sample[:2] == b"\x1f\x8b":
        return "gzip"
    if text[:1] in {b"{", b"["}:
        return "json"
    if text[:15].lower().startswith((b"<!doctype html", b"<html")) or content_type == "text/html":
        return "html"
    printable = sum(byte >= ord(" ") or byte in b"\t\r\n" for byte in sample[:512])
    return "text" if printable >= 0.9 * len(sample[:512]) else "binary"


def _error_message(sample: bytes) -> str | None:
    """The message of an error answer: of its JSON, or its first line of text."""
    try:
        document = json.loads(sample)
    except (ValueError, RecursionError):
        lines = sample.decode("utf-8", "replace").strip().splitlines()
        return lines[0][:_SHOWN_TEXT] if lines and not lines[0].startswith("<") else None
    return error_text(document)[:_SHOWN_TEXT] if isinstance(document, dict) else None
