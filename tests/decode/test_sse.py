"""The event decoder against the shared cases, a plain reading of the standard, and itself."""

import base64
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssediag.decode.sse import EventStreamDecoder
from tests.suite_adapters import make_sse_parser

CASES = Path(__file__).parents[2] / "fixtures" / "sse" / "cases.jsonl"


def load() -> list[dict[str, Any]]:
    lines = CASES.read_text("utf-8").splitlines()
    cases = [json.loads(line, parse_int=lambda digits: int(digits[:18])) for line in lines]
    return [case for case in cases if case["name"] != "big_64mib_line"]


def content(case: dict[str, Any]) -> bytes:
    if "input_b64" in case:
        return base64.b64decode(case["input_b64"])
    return b"".join(base64.b64decode(part) * times for part, times in case["input_parts"])


def cuttings(data: bytes) -> list[list[bytes]]:
    draw = random.Random(len(data))
    cuts = sorted(draw.randrange(len(data) + 1) for _ in range(7))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    small = 1 if len(data) < 5000 else 4093
    return [[data], pieces, [data[at : at + small] for at in range(0, len(data), small)]]


@pytest.mark.parametrize("case", load(), ids=lambda case: case["name"])
def test_a_shared_case_gives_the_standards_events_however_it_is_cut(case: dict[str, Any]) -> None:
    for pieces in cuttings(content(case)):
        parser = make_sse_parser()
        events = [event for piece in pieces for event in parser.feed(piece)]
        events += parser.close()
        assert len(events) == len(case["expected"])
        for event, wanted in zip(events, case["expected"], strict=True):
            assert (event["event"], event["id"]) == (wanted["event"], wanted["id"])
            assert wanted["retry"] == "any" or event["retry"] == wanted["retry"]
            if "data" in wanted:
                assert event["data"] == wanted["data"]
            else:
                assert len(event["data"]) == wanted["data_len"]
        assert parser.last_event_id == case["last_event_id"]


def plain_reading(body: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """The standard's algorithm on the whole body, line by line, written for clarity."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]
    events, data, kind, buffered = [], list[bytes](), b"", b""
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if data:
                events.append((kind, b"\n".join(data), buffered))
            data, kind = [], b""
        elif name == b"data":
            data.append(value)
        elif name == b"event":
            kind = value
        elif name == b"id" and b"\0" not in value:
            buffered = value
    return events


FRAGMENTS = st.sampled_from(
    [b"data: a", b"data", b"data:  b ", b"event: e", b"id: 7", b"id", b"id: \x001", b": c", b":",
     b"retry: 10", b"x: y", b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"\xef\xbb\xbf",
     b"data: \xe2\x9c\x94\n\n", b"data: {}\n\n"]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(FRAGMENTS, max_size=25), st.lists(st.integers(0, 200), max_size=6))
def test_any_cutting_gives_what_a_plain_reading_gives(parts: list[bytes], cuts: list[int]) -> None:
    body = b"".join(parts)
    places = sorted(min(cut, len(body)) for cut in cuts)
    decoder = EventStreamDecoder()
    for begin, end in zip([0, *places], [*places, len(body)], strict=True):
        decoder.feed(body[begin:end])
    assert [event[:3] for event in decoder.events] == plain_reading(body)


def test_every_cut_in_two_gives_the_same_places() -> None:
    body = b": hi\ndata: a\n\nevent: x\r\ndata: b\r\ndata: c\r\n\r\nid: 4\rdata: d\r\r"
    whole = EventStreamDecoder()
    whole.feed(body)
    for cut in range(len(body) + 1):
        decoder = EventStreamDecoder()
        decoder.feed(body[:cut])
        decoder.feed(body[cut:])
        assert [event[:3] for event in decoder.events] == [event[:3] for event in whole.events]
        assert [event[3:5] for event in decoder.events] == [event[3:5] for event in whole.events]


def test_an_event_knows_its_first_byte_its_last_word_and_its_end() -> None:
    decoder = EventStreamDecoder()
    decoder.feed(b"data: a\n\nevent: x\ndata: bc\n: later\n\n")
    assert [event[3:] for event in decoder.events] == [(0, 7, 9), (9, 26, 36)]


def test_a_carriage_return_ends_its_line_at_once() -> None:
    decoder = EventStreamDecoder()
    decoder.feed(b"data: a\r\r")
    assert len(decoder.events) == 1
    decoder.feed(b"\ndata: b\r\r")
    assert [event[1] for event in decoder.events] == [b"a", b"b"]


def test_an_event_above_the_limit_is_dropped_and_the_next_one_is_not() -> None:
    decoder = EventStreamDecoder(max_event_bytes=100)
    for _ in range(50):
        decoder.feed(b"data: " + b"x" * 50)
    decoder.feed(b"\n\ndata: ok\n\n")
    decoder.feed(b"data: " + b"y" * 200 + b"\n\ndata: fine\n\n")
    assert [event[1] for event in decoder.events] == [b"ok", b"fine"]
    assert decoder.dropped_count == 2


def test_a_line_in_many_pieces_is_joined_once() -> None:
    decoder = EventStreamDecoder()
    decoder.feed(b"data: ")
    for _ in range(20_000):
        decoder.feed(b"x" * 50)
    decoder.feed(b"\n\n")
    assert len(decoder.events[0][1]) == 1_000_000


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_end_of_a_line_that_was_too_long_is_no_blank_line(size: int) -> None:
    body = b"data: " + b"x" * 200 + b"\r\ndata: same event\n\ndata: next\n\n"
    decoder = EventStreamDecoder(max_event_bytes=100)
    for at in range(0, len(body), size):
        decoder.feed(body[at : at + size])
    assert [event[1:] for event in decoder.events] == [(b"next", b"", 226, 236, 238)]
    assert decoder.dropped_count == 1


def test_an_event_of_many_lines_is_bounded_too() -> None:
    decoder = EventStreamDecoder(max_event_bytes=100)
    decoder.feed(b"data: 1234\n" * 20 + b"\ndata: next\n\n")
    assert [event[1] for event in decoder.events] == [b"next"]
    assert decoder.dropped_count == 1


def test_an_event_as_long_as_the_limit_is_kept_though_its_line_end_is_cut() -> None:
    decoder = EventStreamDecoder(max_event_bytes=8)
    for piece in (b": hello\n\ndata: ab\r", b"\n", b"", b"\r", b"\n"):
        decoder.feed(piece)
    assert [event[1] for event in decoder.events] == [b"ab"]
    assert decoder.dropped_count == 0


def test_a_late_line_feed_says_where_it_belongs() -> None:
    decoder = EventStreamDecoder()
    decoder.feed(b"data: a\r\n\r")
    assert [event[5] for event in decoder.events] == [10]
    decoder.feed(b"\ndata: b\r\n\r\n")
    assert decoder.late_line_feed == 10
    assert [event[3:] for event in decoder.events] == [(0, 7, 10), (11, 18, 22)]


def test_an_event_without_its_blank_line_is_not_one() -> None:
    for body, is_cut in (
        (b"data: a\n\n", False),
        (b"data: a\n", True),
        (b"da", True),
        (b": c", False),
    ):
        decoder = EventStreamDecoder()
        decoder.feed(body)
        assert decoder.finish() is is_cut
