"""When a client asks again, what it sends then, and when it gives up: tapes of ends."""

import json
from dataclasses import replace

import pytest

from ssediag.jobs.reconnect import (
    EVENT_SOURCE,
    FETCH,
    End,
    Memory,
    Stop,
    Style,
    Wait,
    asking,
    end_of,
    next_step,
    reason_of,
)
from ssediag.model.recording import NotMeasured, Stage
from ssediag.model.request import Request
from ssediag.model.stream import Ending, Head
from tests.diagnose.tapes import paced, stream

S = 1_000_000_000
GET = Request("GET", "http://h/", (("Accept", "*/*"),))
POST = Request("POST", "http://h/", (("Content-Type", "application/json"),), b'{"prompt": "hi"}')
LOST = [End.CUT, End.SILENT, End.UNREACHABLE]


def head(status: int = 200, *headers: tuple[str, str]) -> Head:
    return Head(status, "", "HTTP/1.1", headers, 0)


@pytest.mark.parametrize("end", [*LOST, End.CLOSED])
def test_an_eventsource_asks_again_after_three_seconds_even_after_an_orderly_end(end: End) -> None:
    assert next_step(EVENT_SOURCE, end, head(), Memory()) == Wait(3 * S)


def test_an_eventsource_never_tires() -> None:
    memory = Memory(reconnect_count=10_000)
    assert next_step(EVENT_SOURCE, End.CUT, head(), memory) == Wait(3 * S)


def test_the_servers_retry_replaces_the_waiting_time() -> None:
    memory = Memory(retry_ns=S // 4)
    assert next_step(EVENT_SOURCE, End.CUT, head(), memory) == Wait(S // 4)
    assert next_step(FETCH, End.CUT, head(), replace(memory, reconnect_count=2)) == Wait(S)


def test_retry_zero_makes_no_flood() -> None:
    assert next_step(EVENT_SOURCE, End.CLOSED, head(), Memory(retry_ns=0)) == Wait(S // 10)


@pytest.mark.parametrize(
    "end", [End.DONE, End.NO_CONTENT, End.REFUSED, End.WRONG_TYPE, End.FUTILE, End.STOPPED]
)
def test_an_eventsource_stops_for_good(end: End) -> None:
    assert isinstance(next_step(EVENT_SOURCE, end, head(500), Memory()), Stop)


def test_fetch_doubles_its_wait_up_to_thirty_seconds() -> None:
    patient = replace(FETCH, most_reconnects=100)
    steps = [
        next_step(patient, End.CUT, head(), Memory(reconnect_count=count)) for count in range(7)
    ]
    assert steps == [Wait(seconds * S) for seconds in (1, 2, 4, 8, 16, 30, 30)]


def test_fetch_gives_up_after_three_reconnects() -> None:
    assert isinstance(next_step(FETCH, End.CUT, head(), Memory(reconnect_count=2)), Wait)
    step = next_step(FETCH, End.CUT, head(), Memory(reconnect_count=3))
    assert step == Stop("the reconnects allowed are used up (3)")


def test_fetch_is_content_with_an_orderly_end() -> None:
    assert next_step(FETCH, End.CLOSED, head(), Memory()) == Stop("the answer is complete")


@pytest.mark.parametrize(
    ("status", "again"),
    [(500, True), (503, True), (429, True), (408, True), (400, False), (401, False), (404, False)],
)
def test_fetch_tries_again_where_the_status_may_pass(status: int, *, again: bool) -> None:
    step = next_step(FETCH, End.REFUSED, head(status), Memory())
    assert isinstance(step, Wait) is again


def test_fetch_stops_when_the_server_wants_requests_without_streaming() -> None:
    step = next_step(FETCH, End.REFUSED, head(503, ("X-Stream-Degraded", "true")), Memory())
    assert step == Stop("status 503 ends it")


@pytest.mark.parametrize(("value", "seconds"), [("7", 7), ("0", 1), ("Wed, 21 Oct", 1), ("²", 1),
                                                ("9" * 5000, 1)])  # fmt: skip
def test_fetch_waits_as_long_as_the_server_asks(value: str, seconds: int) -> None:
    step = next_step(FETCH, End.REFUSED, head(429, ("Retry-After", value)), Memory())
    assert step == Wait(seconds * S)


def test_the_first_request_of_an_eventsource_names_no_id() -> None:
    assert asking(GET, Style.EVENT_SOURCE, Memory()).headers == (
        ("Accept", "*/*"),
        ("Cache-Control", "no-cache"),
    )


def test_the_last_id_is_sent_instead_of_an_older_one() -> None:
    request = replace(GET, headers=(("last-event-id", "1"), ("Cache-Control", "max-age=0")))
    asked = asking(request, Style.EVENT_SOURCE, Memory(last_event_id=" 7\t8 "))
    assert asked.headers == (("Cache-Control", "max-age=0"), ("Last-Event-ID", "7\t8"))


@pytest.mark.parametrize("bad", ["", "a\x01b", "\x7f"])
def test_an_id_that_no_header_can_hold_is_not_sent(bad: str) -> None:
    asked = asking(GET, Style.FETCH, Memory(last_event_id=bad))
    assert asked.headers == GET.headers


def test_a_fetch_reconnect_names_the_last_index_in_headers_and_body() -> None:
    asked = asking(POST, Style.FETCH, Memory(last_index=41, reconnect_count=1))
    assert dict(asked.headers)["X-Stream-Retry"] == "true"
    assert dict(asked.headers)["X-Stream-Last-Index"] == "41"
    assert json.loads(asked.body or b"") == {"prompt": "hi", "last_token_index": 41}


def test_a_body_that_is_no_object_stays_as_it_is() -> None:
    for body in (b"[1]", b"\xff{", b"", None):
        asked = asking(replace(POST, body=body), Style.FETCH, Memory("", None, 1, 1))
        assert asked.body == body


@pytest.mark.parametrize(
    ("style", "memory"),
    [
        (Style.FETCH, Memory(last_index=41)),  # not a reconnect
        (Style.FETCH, Memory(reconnect_count=1)),  # the events are not counted
        (Style.EVENT_SOURCE, Memory(last_index=41, reconnect_count=1)),  # cannot send headers
    ],
)
def test_nothing_else_names_an_index(style: Style, memory: Memory) -> None:
    asked = asking(POST, style, memory)
    assert asked.body == POST.body
    assert not any(name.startswith("X-Stream") for name, _ in asked.headers)


@pytest.mark.parametrize(
    ("ending", "end"),
    [(Ending.COMPLETE, End.CLOSED), (Ending.EOF, End.CLOSED), (Ending.RESET, End.CUT),
     (Ending.NO_LAST_CHUNK, End.CUT), (Ending.SHORT, End.CUT), (Ending.TIMED_OUT, End.SILENT),
     (Ending.STOPPED, End.STOPPED)],
)  # fmt: skip
def test_the_end_on_the_wire_is_an_end_to_the_client(ending: Ending, end: End) -> None:
    ended = stream(paced(3), ending=ending)
    assert end_of(ended, Style.EVENT_SOURCE, done=False) is end
    assert end_of(ended, Style.EVENT_SOURCE, done=True) is End.DONE


def test_an_error_event_or_a_missing_terminator_is_a_cut() -> None:
    failed = stream(paced(3), error="engine died")
    assert end_of(failed, Style.FETCH, done=False) is End.CUT
    assert reason_of(End.CUT, failed) == "an error event: engine died"
    unfinished = stream(paced(3), terminator=False)
    assert end_of(unfinished, Style.FETCH, done=False) is End.CUT
    assert "without the end" in reason_of(End.CUT, unfinished)


def test_an_eventsource_takes_nothing_but_a_labelled_200() -> None:
    def end(status: int, kind: str) -> End:
        answer = stream(paced(3), status=status, headers=(("Content-Type", kind),))
        return end_of(answer, Style.EVENT_SOURCE, done=False)

    assert end(200, "Text/Event-Stream; charset=utf-8") is End.CLOSED
    assert end(200, "application/json") is End.WRONG_TYPE
    assert end(201, "text/event-stream") is End.REFUSED
    assert end(204, "text/event-stream") is End.NO_CONTENT


def test_fetch_reads_events_whatever_they_are_labelled() -> None:
    plain = (("Content-Type", "text/plain"),)
    assert end_of(stream(paced(3), headers=plain), Style.FETCH, done=False) is End.CLOSED
    assert end_of(stream([], headers=plain), Style.FETCH, done=False) is End.WRONG_TYPE


@pytest.mark.parametrize(("stage", "end"), [(Stage.CONNECT, End.UNREACHABLE),
                                            (Stage.RESOLVE, End.UNREACHABLE),
                                            (Stage.TLS, End.FUTILE)])  # fmt: skip
def test_a_network_error_may_heal_but_a_certificate_does_not(stage: Stage, end: End) -> None:
    failed = replace(stream([], not_measured=NotMeasured(stage, "no")), head=None)
    assert end_of(failed, Style.EVENT_SOURCE, done=False) is end
    assert reason_of(end, failed) == "no"
