"""Every fault on a tape: bytes with literal times in, blocks out. Nothing here waits."""

import gzip
import json
import zlib

import pytest

from ssediag.lab.faults import FAULTS, Fault, Settings

MS = 1_000_000


def fault(name: str, **settings: float) -> Fault:
    return FAULTS[name].make(Settings(**settings))  # type: ignore[arg-type] # by name


def test_pass_sends_every_arrival_as_it_came() -> None:
    hop = fault("pass")
    assert hop.feed(b"data: a\n", 0) == [b"data: a\n"]
    assert hop.feed(b"\n", 1 * MS) == [b"\n"]
    assert hop.finish() == []


def test_full_buffer_sends_nothing_before_the_end() -> None:
    hop = fault("full-buffer")
    assert hop.feed(b"abc", 0) == []
    assert hop.feed(b"def", 900 * MS) == []
    assert hop.finish() == [b"abcdef"]


def test_size_flush_sends_blocks_of_exactly_its_size() -> None:
    hop = fault("size-flush", size_bytes=4)
    assert hop.feed(b"abc", 0) == []
    assert hop.feed(b"defghij", 1 * MS) == [b"abcd", b"efgh"]
    assert hop.finish() == [b"ij"]


def test_size_flush_has_no_rest_after_a_whole_block() -> None:
    hop = fault("size-flush", size_bytes=4)
    assert hop.feed(b"abcd", 0) == [b"abcd"]
    assert hop.finish() == []


def test_threshold_flush_sends_everything_once_there_is_enough() -> None:
    hop = fault("threshold-flush", size_bytes=4)
    assert hop.feed(b"abc", 0) == []
    assert hop.feed(b"defghij", 1 * MS) == [b"abcdefghij"]
    assert hop.feed(b"k", 2 * MS) == []
    assert hop.finish() == [b"k"]


def test_threshold_flush_of_the_seed_sends_4128_bytes_of_48_byte_events() -> None:
    hop = fault("threshold-flush", size_bytes=4096)
    sent = [hop.feed(b"x" * 48, index * 10 * MS) for index in range(86)]
    assert sent[:85] == [[]] * 85
    assert sent[85] == [b"x" * 4128]


def test_time_flush_counts_from_the_first_held_byte() -> None:
    hop = fault("time-flush", period_ms=200)
    assert hop.wake_at_ns() is None
    assert hop.feed(b"a", 70 * MS) == []
    assert hop.feed(b"b", 170 * MS) == []
    assert hop.wake_at_ns() == 270 * MS
    assert hop.wake(269 * MS) == []
    assert hop.wake(270 * MS) == [b"ab"]
    assert hop.wake_at_ns() is None
    assert hop.feed(b"c", 300 * MS) == []
    assert hop.wake_at_ns() == 500 * MS
    assert hop.finish() == [b"c"]
    assert hop.wake_at_ns() is None


def test_time_flush_that_is_fed_late_sends_what_was_due_first() -> None:
    hop = fault("time-flush", period_ms=200)
    assert hop.feed(b"a", 0) == []
    assert hop.feed(b"b", 250 * MS) == [b"a"]
    assert hop.wake_at_ns() == 450 * MS


def test_head_hold_streams_after_its_head() -> None:
    hop = fault("head-hold", size_bytes=4)
    assert hop.feed(b"abc", 0) == []
    assert hop.feed(b"de", 1 * MS) == [b"abcde"]
    assert hop.feed(b"f", 2 * MS) == [b"f"]
    assert hop.finish() == []


def test_head_hold_of_a_short_body_ends_with_it() -> None:
    hop = fault("head-hold", size_bytes=4096)
    assert hop.feed(b"abc", 0) == []
    assert hop.finish() == [b"abc"]


def test_gzip_hold_lets_nothing_of_the_text_out_before_the_end() -> None:
    hop = fault("gzip-hold")
    first = b"".join(hop.feed(b"data: a\n\n", 0) + hop.feed(b"data: b\n\n", 1 * MS))
    assert zlib.decompressobj(wbits=31).decompress(first) == b""
    assert gzip.decompress(first + b"".join(hop.finish())) == b"data: a\n\ndata: b\n\n"


def test_truncate_is_cut_after_its_events_and_drops_the_rest() -> None:
    hop = fault("truncate", after_events=2)
    assert hop.feed(b"data: a\n\ndata: ", 0) == [b"data: a\n\n"]
    assert not hop.is_cut
    assert hop.feed(b"b\n\ndata: c\n\n", 1 * MS) == [b"data: b\n\n"]
    assert hop.is_cut
    assert hop.finish() == []


def test_truncate_cuts_a_shorter_stream_too() -> None:
    hop = fault("truncate", after_events=9)
    assert hop.feed(b"data: a\n\n", 0) == [b"data: a\n\n"]
    assert not hop.is_cut
    assert hop.finish() == []
    assert hop.is_cut


def test_tail_hold_sends_the_tail_with_the_end() -> None:
    hop = fault("tail-hold", after_events=1)
    assert hop.feed(b"data: a\r\n\r\ndata: b\r\n\r\n", 0) == [b"data: a\r\n\r\n"]
    assert hop.feed(b"data: c\r\n\r\n", 1 * MS) == []
    assert hop.finish() == [b"data: b\r\n\r\ndata: c\r\n\r\n"]
    assert not hop.is_cut


def test_one_event_late_sends_an_event_when_the_next_is_complete() -> None:
    hop = fault("one-event-late")
    assert hop.feed(b"data: a\n\n", 0) == []
    assert hop.feed(b"data: b", 1 * MS) == []
    assert hop.feed(b"\n\n", 2 * MS) == [b"data: a\n\n"]
    assert hop.finish() == [b"data: b\n\n"]


def test_not_a_stream_answers_one_document_with_the_whole_text() -> None:
    hop = fault("not-a-stream")
    stream = (
        b'data: {"choices": [{"delta": {"role": "assistant"}}]}\n\n'
        b'data: {"choices": [{"delta": {"content": "t0 "}}]}\n\n'
        b'data: {"token": "t1 "}\n\ndata: raw\n\ndata: 7\n\n'
        b'data: {"choices": []}\n\ndata: [DONE]\n\n'
    )
    assert hop.feed(stream, 0) == []
    (document,) = hop.finish()
    assert json.loads(document)["choices"][0]["message"]["content"] == "t0 t1 raw7"


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_never_sends_an_empty_block(name: str) -> None:
    hop = fault(name)
    blocks = hop.feed(b"", 0) + hop.feed(b"data: a\n\n", 1) + hop.feed(b"", 2) + hop.finish()
    assert b"" not in blocks


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"truncate", "not-a-stream", "gzip-hold"}))
def test_a_fault_that_holds_loses_no_byte(name: str) -> None:
    hop = fault(name, size_bytes=100)
    body = b"".join(b"data: {}\n\n" + b": %d\n\n" % index for index in range(50))
    arrivals = [body[at : at + 7] for at in range(0, len(body), 7)]
    blocks = [block for index, data in enumerate(arrivals) for block in hop.feed(data, index)]
    assert b"".join(blocks + hop.finish()) == body


def test_heads_wait_with_the_faults_that_hold_from_the_start() -> None:
    late = {name for name, kind in FAULTS.items() if kind.headers_late}
    assert late == {"full-buffer", "size-flush", "threshold-flush", "head-hold", "not-a-stream"}
