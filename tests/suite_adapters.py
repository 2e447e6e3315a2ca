"""The project's decoders in the shapes that the shared suites' runners ask for."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ssediag.decode.sse import EventStreamDecoder
from ssediag.jobs.follow import Connection, follow
from ssediag.jobs.listening import Ears
from ssediag.jobs.reconnect import EVENT_SOURCE, ORDERLY
from ssediag.jobs.targets import Target
from ssediag.model.recording import Hop
from ssediag.model.request import Limits, Request

# Optional features of the contract harness that are there: docs/optional_features.md of
# launchdarkly/sse-contract-tests.
CAPABILITIES = [
    "204",
    "bom",
    "comments",
    "cr-only",
    "empty-or-missing-location",
    "headers",
    "last-event-id",
    "post",
    "read-timeout",
    "report",
]
_NS_PER_MS = 1_000_000
_NEVER_NS = 365 * 24 * 3600 * 1_000_000_000
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


def run_stream(
    params: Mapping[str, Any], emit: Callable[[str, Any], None], stopped: threading.Event
) -> None:
    """Follow one stream as the contract harness asks, until ``stopped`` is set."""

    def tell_how_it_ended(connection: Connection) -> None:
        if connection.end not in ORDERLY:
            emit("error", connection.reason)

    policy = EVENT_SOURCE
    if params.get("initialDelayMs") is not None:
        policy = replace(policy, first_wait_ns=params["initialDelayMs"] * _NS_PER_MS)
    follow(
        Target(Hop("stream", params["streamUrl"], 0), _request(params)),
        _limits(params.get("readTimeoutMs")),
        policy,
        stopped,
        tell_how_it_ended,
        ears=Ears(
            lambda kind, data, last_id: emit("event", {"type": kind, "data": data, "id": last_id}),
            lambda text: emit("comment", text),
        ),
    )


def _request(params: Mapping[str, Any]) -> Request:
    body = params.get("body")
    headers = {"accept": "text/event-stream", **(params.get("headers") or {})}
    if params.get("lastEventId"):
        headers["last-event-id"] = params["lastEventId"]
    return Request(
        params.get("method") or "GET",
        params["streamUrl"],
        tuple(headers.items()),
        None if body is None else body.encode(),
    )


def _limits(read_timeout_ms: int | None) -> Limits:
    silence_ns = read_timeout_ms * _NS_PER_MS if read_timeout_ms else _NEVER_NS
    return Limits(
        total_ns=_NEVER_NS,
        first_event_ns=silence_ns,
        idle_ns=silence_ns,
        max_bytes=_SUITE_EVENT_BYTES,
    )
