"""The token instance, seen by a raw client. Structure only: what comes in which piece."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ssediag.lab.start import Part, instance
from tests.lab.client import Answer, connected, events, fetch, request

FAST = "tokens=5&gap_ms=1&prefill_ms=0"


@pytest.fixture(scope="module")
def part() -> Iterator[Part]:
    with instance(tokens=5, gap_ms=1, prefill_ms=0) as running:
        yield running


def asked(part: Part, query: str, *fields: str, body: bytes = b"") -> Answer:
    return fetch(part.url, f"/v1/chat/completions?{FAST}&{query}", *fields, body=body)


def data_of(answer: Answer) -> list[Any]:
    texts = [event.removeprefix(b"data: ").rstrip() for event in events(answer.text())]
    return [text if text == b"[DONE]" else json.loads(text) for text in texts]


def ending(answer: Answer) -> str:
    """How it ended: by its framing, or in the middle by a close or a reset."""
    length = answer.field("content-length")
    is_whole = answer.chunks()[-1:] == [b""] if length is None else len(answer.body) == int(length)
    return "complete" if is_whole else answer.ended


def test_openai_sends_role_tokens_finish_and_done_each_in_a_chunk(part: Part) -> None:
    answer = asked(part, "")
    *chunks, done = data_of(answer)
    assert answer.field("content-type") == "text/event-stream"
    assert answer.field("server") == "ssediag-lab-instance"
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert [delta["content"] for delta in deltas[1:6]] == ["t0 ", "t1 ", "t2 ", "t3 ", "t4 "]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[5:]] == [None, "stop"]
    assert done == b"[DONE]"
    assert [chunk.count(b"\n\n") for chunk in answer.chunks()] == [1] * 8 + [0]


def test_usage_comes_in_a_chunk_without_choices_before_done(part: Part) -> None:
    *_, usage, done = data_of(asked(part, "usage=1"))
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 5
    assert done == b"[DONE]"


def test_a_body_caps_the_tokens_and_asks_for_usage(part: Part) -> None:
    wanted = {"max_tokens": 2, "stream": True, "stream_options": {"include_usage": True}}
    answer = asked(part, "", body=json.dumps(wanted).encode())
    assert data_of(answer)[-2]["usage"]["completion_tokens"] == 2


def test_a_body_that_wants_no_stream_gets_a_document(part: Part) -> None:
    answer = asked(part, "", body=b'{"stream": false}')
    assert answer.field("content-type") == "application/json"
    message = json.loads(answer.text())["choices"][0]["message"]
    assert message["content"] == "t0 t1 t2 t3 t4 "


def test_plain_is_the_small_example_of_one_token_an_event(part: Part) -> None:
    answer = asked(part, "shape=plain&tokens=2")
    assert data_of(answer) == [{"token": "t0"}, {"token": "t1"}, b"[DONE]"]


def test_raw_text_is_repeated_as_it_is(part: Part) -> None:
    answer = asked(part, r"shape=raw&text=data:+x\n\n&tokens=3")
    assert answer.chunks() == [b"data: x\n\n"] * 3 + [b""]


def test_event_bytes_pads_every_token_event_and_stamping_keeps_its_size(part: Part) -> None:
    for query in ("event_bytes=300", "event_bytes=300&stamp=1"):
        assert [len(chunk) for chunk in asked(part, query).chunks()[1:6]] == [300] * 5


def test_a_stamp_is_an_epoch_time_in_nanoseconds_that_rises(part: Part) -> None:
    stamps = [event["ts"] for event in data_of(asked(part, "shape=plain&stamp=1"))[:-1]]
    assert all(re.fullmatch(r"[1-9]\d{18}", stamp) for stamp in stamps)
    assert stamps == sorted(set(stamps))


def test_tokens_per_event_puts_several_tokens_in_one_event(part: Part) -> None:
    events = data_of(asked(part, "shape=plain&tokens_per_event=2"))
    assert [event["token"] for event in events[:-1]] == ["t0 t1", "t2 t3", "t4"]


def test_group_writes_several_events_in_one_chunk(part: Part) -> None:
    answer = asked(part, "shape=plain&group=2")
    assert [chunk.count(b"\n\n") for chunk in answer.chunks()] == [2, 2, 1, 1, 0]


def test_length_framing_knows_the_length_and_until_close_does_not(part: Part) -> None:
    known = asked(part, "framing=length")
    unknown = asked(part, "framing=until-close")
    assert known.field("content-length") == str(len(unknown.body))
    assert known.body == unknown.body
    assert unknown.field("connection") == "close"
    assert unknown.field("transfer-encoding") is None


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_one_connection_serves_several_requests(part: Part, framing: str) -> None:
    path = f"/?{FAST}&framing={framing}"
    with connected(part.url) as connection:
        connection.sendall(request(path) + request(path, "Connection: close"))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert data.count(b"HTTP/1.1 200 OK") == 2
    assert data.count(b"data: [DONE]") == 2


def test_an_http_1_0_client_is_answered_in_chunks_as_engines_do(part: Part) -> None:
    with connected(part.url) as connection:
        connection.sendall(request(f"/?{FAST}").replace(b"HTTP/1.1", b"HTTP/1.0"))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"\r\nTransfer-Encoding: chunked\r\n" in data
    assert b"\r\nConnection: close\r\n" in data


@pytest.mark.parametrize(
    ("query", "end", "last"),
    [
        ("ending=no-done", "complete", b'"stop"'),
        ("ending=no-last-chunk", "eof", b"[DONE]"),
        ("ending=no-last-chunk&end_after=3", "eof", b"t1 "),
        ("ending=short", "eof", b"[DONE]"),
        ("ending=reset&end_after=3", "reset", b"t1 "),
        ("ending=error-event&end_after=3", "complete", b'"error"'),
    ],
)
def test_a_stream_ends_as_told(part: Part, query: str, end: str, last: bytes) -> None:
    answer = asked(part, query)
    assert ending(answer) == end
    assert last in answer.text().split(b"data: ")[-1]


def test_a_status_comes_with_a_json_error(part: Part) -> None:
    answer = asked(part, "status=401")
    assert answer.head.startswith("HTTP/1.1 401 Unauthorized\r\n")
    assert json.loads(answer.body)["error"]["code"] == 401


def test_other_answers_than_a_stream(part: Part) -> None:
    assert asked(part, "answer=json").field("content-type") == "application/json"
    assert asked(part, "answer=html").field("content-type") == "text/html; charset=utf-8"
    assert asked(part, "answer=empty").body == b""
    assert asked(part, "content_type=text/plain").field("content-type") == "text/plain"


@pytest.mark.parametrize("answer", ["silence", "headers-then-silence"])
def test_silence_lasts(part: Part, answer: str) -> None:
    with connected(part.url) as connection:
        connection.sendall(request(f"/?answer={answer}"))
        if answer == "headers-then-silence":
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
        connection.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connection.recv(4096)


def test_gzip_is_flushed_with_every_event_for_a_client_that_accepts_it(part: Part) -> None:
    answer = asked(part, "shape=plain&gzip=1", "Accept-Encoding: br, gzip")
    assert answer.field("content-encoding") == "gzip"
    decoder = zlib.decompressobj(wbits=31)
    texts = [decoder.decompress(chunk) for chunk in answer.chunks()[:-1]]
    assert texts[0] == b'data: {"token": "t0"}\n\n'
    assert [text.count(b"\n\n") for text in texts[:6]] == [1] * 6
    assert gzip.decompress(answer.text()) == b"".join(texts)


def test_gzip_is_not_for_a_client_that_does_not_accept_it(part: Part) -> None:
    assert asked(part, "gzip=1", "Accept-Encoding: gzip;q=0").field("content-encoding") is None


def test_a_wrong_option_in_the_query_is_a_400_that_names_it(part: Part) -> None:
    answer = asked(part, "group=0")
    assert answer.head.startswith("HTTP/1.1 400 ")
    assert "group" in json.loads(answer.body)["error"]["message"]


def test_the_log_holds_every_event_with_its_time_and_size(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with instance(tokens=4, gap_ms=1, prefill_ms=0, shape="plain", group=2, log=log) as logged:
        answer = fetch(logged.url, "/x?y=1")
    (line,) = log.read_text().splitlines()
    entry = json.loads(line)
    assert entry["path"] == "/x?y=1"
    assert [size for _, size in entry["events"]] == [23, 23, 23, 23, 14]
    assert sum(size for _, size in entry["events"]) == len(answer.text())
    times = [entry["began_epoch_ns"], *(time for time, _ in entry["events"])]
    assert times == sorted(times)
    assert times[1] == times[2]
    assert times[2] < times[3]
    assert entry["cancelled"] is False


def test_a_client_that_leaves_is_noted_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with instance(tokens=5000, gap_ms=1, prefill_ms=0, log=log) as logged:
        with connected(logged.url) as connection:
            connection.sendall(request("/"))
            connection.recv(4096)
        assert ending(fetch(logged.url, "/?tokens=50")) == "complete"
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["cancelled"] for entry in entries] == [True, False]
    assert len(entries[0]["events"]) < 1000
