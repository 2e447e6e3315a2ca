"""The adapter for a third-party SSE contract harness runs the same follow as the command."""

import queue
import threading
from typing import Any

from tests.jobs.scripted import STREAM, Answer, served
from tests.suite_adapters import CAPABILITIES, run_stream

NO_CONTENT = Answer(status="204 No Content", headers=())


def told(**params: Any) -> list[tuple[str, Any]]:
    """What the harness is told about a stream that stops by itself."""
    messages: list[tuple[str, Any]] = []
    run_stream(params, lambda kind, value: messages.append((kind, value)), threading.Event())
    return messages


def event(data: str, last_id: str = "", kind: str = "message") -> tuple[str, Any]:
    return ("event", {"type": kind, "data": data, "id": last_id})


def test_events_of_all_connections_and_comments_are_told() -> None:
    with served(
        Answer(":hi\nid: 1\nevent: put\ndata: a\n\n"), Answer("data: b\n\n"), NO_CONTENT
    ) as server:
        messages = told(streamUrl=server.url, initialDelayMs=0)
    assert messages == [("comment", "hi"), event("a", "1", "put"), event("b", "1")]
    assert server.header(0, "Accept") == "text/event-stream"
    assert server.header(0, "Cache-Control") == "no-cache"
    assert server.header(1, "Last-Event-ID") == "1"


def test_events_are_told_while_the_stream_is_open() -> None:
    messages: queue.Queue[tuple[str, Any]] = queue.Queue()
    stopped = threading.Event()
    with served(Answer("data: now\n\n", open=True)) as server:
        thread = threading.Thread(
            target=run_stream,
            args=({"streamUrl": server.url}, lambda *one: messages.put(one), stopped),
        )
        thread.start()
        assert messages.get(timeout=10) == event("now")
        stopped.set()
        thread.join(10)
        assert not thread.is_alive()


def test_a_post_is_sent_again_with_its_body_and_headers() -> None:
    with served(Answer("data: a\n\n"), NO_CONTENT) as server:
        told(
            streamUrl=server.url,
            initialDelayMs=0,
            method="POST",
            body='{"hello": "world"}',
            headers={"content-type": "application/json; charset=utf-8"},
            lastEventId="abc",
        )
    for place in range(2):
        assert server.requests[place].startswith("POST ")
        assert server.body(place) == '{"hello": "world"}'
        assert server.header(place, "Content-Type") == "application/json; charset=utf-8"
        assert server.header(place, "Last-Event-ID") == "abc"


def test_a_read_timeout_is_an_error_and_a_new_connection() -> None:
    with served(Answer("data: a\n\n", open=True), NO_CONTENT) as server:
        messages = told(streamUrl=server.url, initialDelayMs=0, readTimeoutMs=100)
    assert messages[0] == event("a")
    assert [kind for kind, _ in messages[1:]] == ["error"]


def test_a_redirect_that_leads_nowhere_is_an_error() -> None:
    for headers in ((), ("Location: ",)):
        with served(Answer(status="307 Away", headers=headers)) as server:
            assert [kind for kind, _ in told(streamUrl=server.url)] == ["error"]


def test_a_byte_order_mark_and_bare_carriage_returns_are_read() -> None:
    with served(Answer("\ufeffdata: a\r\rdata: b\r\r", headers=(STREAM,)), NO_CONTENT) as server:
        assert told(streamUrl=server.url, initialDelayMs=0) == [event("a"), event("b")]


def test_capabilities_that_the_adapter_has_no_way_to_offer_are_not_claimed() -> None:
    assert {"restart", "event-type-listeners"}.isdisjoint(CAPABILITIES)
