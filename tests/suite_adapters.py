"""The project's decoders in the shapes that the shared suites' runners ask for."""

from collections.abc import Iterator
from typing import Any

from ssediag.decode.sse import EventStreamDecoder

# The suite has one event of 64 MiB.
_SUITE_EVENT_BYTES = 128 * 1024 * 1024


class SseParser:
    """``feed`` and ``close`` return the events completed since, as dictionaries."""

    def __init__(self) -> None:
        self._decoder = EventStreamDecoder(_SUITE_EVENT_BYTES)

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        self._decoder.feed(data)
        return list(self._new())

    def close(self) -> list[dict[str, Any]]:
        self._decoder.finish()
        return list(self._new())

    def _new(self) -> Iterator[dict[str, Any]]:
        for kind, data, last_id, begins, _, ends in self._decoder.events:
            waits = [wait for wait, place in self._decoder.retries if begins <= place < ends]
            yield {
                "event": kind.decode("utf-8", "replace") or "message",
                "data": data.decode("utf-8", "replace"),
                "id": last_id.decode("utf-8", "replace"),
                "retry": waits[-1] if waits else None,
            }
        self._decoder.events.clear()

    @property
    def last_event_id(self) -> str:
        return self._decoder.last_id.decode("utf-8", "replace")

    @property
    def reconnection_time(self) -> int | None:
        retries = self._decoder.retries
        return retries[-1][0] if retries else None

    @property
    def comments(self) -> list[str]:
        return [text.decode("utf-8", "replace") for text, _ in self._decoder.comments]


def make_sse_parser() -> SseParser:
    """A fresh parser."""
    return SseParser()
