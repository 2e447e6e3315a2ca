"""Recordings taken apart: every layer, cut everywhere, and the cases that others broke on."""

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssediag.decode.unwrap import Unwrapper
from ssediag.model.recording import Closing
from ssediag.model.stream import Ending, EventKind, Framing
from tests.decode.recordings import CHUNKED, HEAD, HEADERS, SETTINGS, chunk, frame, taken


def test_each_event_is_tied_to_the_reads_that_brought_it() -> None:
    stream = taken(CHUNKED, chunk(b"data: a\n\n"), chunk(b"data: b\n"), chunk(b"\n") + b"0\r\n\r\n")
    assert stream.events.first_read == (1, 2)
    assert stream.events.data_read == (1, 2)
    assert stream.events.dispatch_read == (1, 3)
    assert stream.events.size_bytes == (9, 9)
    assert stream.reads.body_bytes == (0, 9, 8, 1)
    assert stream.chunks.last_read == (1, 2, 3)
    assert (stream.ending, stream.framing) == (Ending.COMPLETE, Framing.CHUNKED)


def test_every_cut_in_two_gives_the_same_stream() -> None:
    wire = (
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + CHUNKED
        + chunk(b"data: a\n\ndata: b") + b'9;ext="a;b"\r\n\n\ndata: c\r\n2 \r\n\n\n\r\n'
        + b"0\r\nTrail: er\r\n\r\n"
    )  # fmt: skip
    whole = taken(wire)
    assert len(whole.events) == 3
    for cut in range(1, len(wire)):
        stream = taken(wire[:cut], wire[cut:])
        assert stream.events.kind == whole.events.kind
        assert stream.events.size_bytes == whole.events.size_bytes
        assert stream.chunks.size_bytes == (16, 9, 2)
        assert stream.trailers == (("Trail", "er"),)
        assert stream.ending is Ending.COMPLETE
        assert stream.notes == ()


@pytest.mark.parametrize(
    ("wire", "closing", "ending"),
    [
        (CHUNKED + chunk(b"data: a\n\n"), Closing.FIN, Ending.NO_LAST_CHUNK),
        (CHUNKED + chunk(b"data: a\n\n"), Closing.RESET, Ending.RESET),
        (CHUNKED + chunk(b"data: a\n\n"), Closing.TIMED_OUT, Ending.TIMED_OUT),
        (CHUNKED + chunk(b"data: a\n\n"), Closing.STOPPED, Ending.STOPPED),
        (CHUNKED + chunk(b"data: a\n\n") + b"zz\r\n", Closing.STOPPED, Ending.NO_LAST_CHUNK),
        (HEAD + b"Content-Length: 9\r\n\r\ndata: a\n\n", Closing.FINISHED, Ending.COMPLETE),
        (HEAD + b"Content-Length: 90\r\n\r\ndata: a\n\n", Closing.FIN, Ending.SHORT),
        (HEAD + b"\r\ndata: a\n\n", Closing.FIN, Ending.EOF),
        (b"", Closing.FIN, Ending.EOF),
    ],
)
def test_the_ending_is_the_framings_own_or_the_connections(
    wire: bytes, closing: Closing, ending: Ending
) -> None:
    assert taken(wire, closing=closing).ending is ending


def test_gzip_members_one_after_another_are_all_decoded() -> None:
    head = HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    members = [gzip.compress(b"data: %d\n\n" % number) for number in range(3)]
    stream = taken(head, *(chunk(member) for member in members), b"0\r\n\r\n")
    assert len(stream.events) == 3
    assert stream.events.data_read == (1, 2, 3)
    assert stream.coding == "gzip"
    assert stream.notes == ()


@pytest.mark.parametrize("window", [zlib.MAX_WBITS, -zlib.MAX_WBITS])
def test_deflate_is_read_with_and_without_its_wrapper(window: int) -> None:
    coder = zlib.compressobj(wbits=window)
    body = coder.compress(b"data: a\n\n") + coder.flush()
    head = HEAD + b"Content-Encoding: deflate\r\nContent-Length: %d\r\n\r\n" % len(body)
    for cut in range(len(body) + 1):
        assert len(taken(head + body[:cut], body[cut:]).events) == 1


def test_text_that_waits_in_a_compressor_shows_in_the_reads() -> None:
    coder = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    held = coder.compress(b"data: a\n\n" * 50)
    rest = coder.flush()
    head = HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    stream = taken(head, chunk(held), chunk(rest) + b"0\r\n\r\n")
    assert stream.reads.body_bytes[1] == len(held)
    assert stream.reads.plain_bytes == (0, 0, 450)
    assert set(stream.events.data_read) == {2}


@pytest.mark.parametrize(
    ("header", "body", "word"),
    [
        (b"gzip", b"data: a\n\n", "says gzip"),
        (b"gzip", gzip.compress(b"data: a\n\n" * 99, mtime=0)[:-12], "unfinished"),
        (b"snappy", b"xxxx", "unknown"),
        (b"gzip", b"\x1f\x8b\x07" + b"\xff" * 30, "broken gzip"),
    ],
)
def test_a_coding_that_cannot_be_undone_is_noted(header: bytes, body: bytes, word: str) -> None:
    head = HEAD + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (header, len(body))
    assert any(word in note for note in taken(head + body).notes)


@pytest.mark.parametrize(
    ("content_type", "body", "resemblance"),
    [
        ("application/json", b'{"a": 1}', "json"),
        ("text/html", b"<!DOCTYPE html><p>", "html"),
        ("text/plain", b"hello", "text"),
        ("application/octet-stream", bytes(range(256)), "binary"),
        ("text/plain", gzip.compress(b"x", mtime=0), "gzip"),
        ("text/plain", b"", "empty"),
    ],
)
def test_a_body_without_events_says_what_it_resembles(
    content_type: str, body: bytes, resemblance: str
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    assert taken(head.encode() + body).looks_like == resemblance


@pytest.mark.parametrize("cut", [1, 3, 8])
def test_an_event_stream_under_a_wrong_label_is_read_all_the_same(cut: int) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    body = b"\xef\xbb\xbfdata: a\n\ndata: b\n\n"
    stream = taken(head, body[:cut], body[cut:], closing=Closing.FIN)
    assert len(stream.events) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "no such model"}}', "no such model"),
        (b'{"error": "no such model"}', "no such model"),
        (b'{"error": null, "message": "no such model"}', "no such model"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b"{}", "error"),
        (b"no healthy upstream\nmore", "no healthy upstream"),
    ],
)
def test_an_error_answer_tells_its_message_and_has_no_events(body: bytes, message: str) -> None:
    head = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    stream = taken(head % len(body) + body)
    assert (stream.error, len(stream.events)) == (message, 0)


def test_chat_chunks_are_told_apart() -> None:
    def event(**delta: Any) -> bytes:
        document = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
        return b"data: " + json.dumps(document).encode() + b"\n\n"

    usage = (
        b'data: {"object":"chat.completion.chunk","choices":[],"usage":{"completion_tokens":2}}\n\n'
    )
    body = (
        event(role="assistant", content="") + event(reasoning_content="hm") + event(content="hé")
        + event(content="y", tool_calls=None) + event() + usage + b"data: [DONE]\n\n"
    )  # fmt: skip
    stream = taken(CHUNKED + chunk(body) + b"0\r\n\r\n")
    kinds = EventKind
    assert stream.events.kind == (
        kinds.ROLE, kinds.REASONING, kinds.TOKEN, kinds.TOKEN, kinds.OTHER, kinds.USAGE, kinds.END,
    )  # fmt: skip
    assert stream.events.text_bytes == (0, 2, 3, 1, 0, 0, 0)
    assert (stream.dialect, stream.terminator, stream.usage_tokens) == ("openai-chat", True, 2)


def test_an_error_inside_a_200_is_found() -> None:
    first = b'data: {"object":"chat.completion.chunk","choices":[]}\n\n'
    body = first + b'data: {"error":{"message":"boom"}}\n\n'
    stream = taken(CHUNKED + chunk(body) + b"0\r\n\r\n")
    assert (stream.error, stream.terminator) == ("boom", False)


def test_texts_are_kept_only_on_request() -> None:
    wire = CHUNKED + chunk(b"data: secret\n\n") + b"0\r\n\r\n"
    assert taken(wire).events.data is None
    assert taken(wire, with_data=True).events.data == ("secret",)


def test_an_event_is_as_large_as_its_lines_wherever_they_are_cut() -> None:
    body = b"data: a\r\n\r\n" * 3
    head = HEAD + b"\r\n"
    for cut in range(len(body) + 1):
        stream = taken(head + body[:cut], body[cut:], closing=Closing.FIN)
        assert stream.events.size_bytes == (11, 11, 11)


def test_a_body_that_we_stopped_reading_has_no_defect_at_its_end() -> None:
    head = HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    coder = zlib.compressobj(wbits=31)
    piece = coder.compress(b"data: a\n\ndata: b") + coder.flush(zlib.Z_SYNC_FLUSH)
    unfinished = "the gzip coding is unfinished: data are missing"
    cut = "the body ends inside an event"
    for closing, notes in (
        (Closing.STOPPED, ()),
        (Closing.TIMED_OUT, ()),
        (Closing.FIN, (unfinished, cut)),
        (Closing.RESET, (unfinished, cut)),
    ):
        stream = taken(head + chunk(piece), closing=closing)
        assert len(stream.events) == 1
        assert stream.notes == notes


@pytest.mark.parametrize(
    ("body", "resemblance"),
    [(b'{"error": 1}\n', "json"), (b"<html>", "html"), (b"", "empty"), (b": alive\n\n", None)],
)
def test_a_label_alone_makes_no_event_stream(body: bytes, resemblance: str | None) -> None:
    stream = taken(HEAD + b"\r\n" + body, closing=Closing.FIN)
    assert (stream.looks_like, len(stream.events), stream.notes) == (resemblance, 0, ())


def test_chunks_of_text_are_no_events() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    stream = taken(head, chunk(b"One "), chunk(b"two, data: three"), b"0\r\n\r\n")
    assert (stream.looks_like, stream.chunks.size_bytes, len(stream.events)) == ("text", (4, 16), 0)


def test_an_answer_to_head_has_no_body() -> None:
    stream = taken(CHUNKED, method="HEAD")
    assert (stream.framing, stream.ending) == (Framing.NONE, Ending.COMPLETE)


def test_a_watch_counts_whole_events_as_they_come_whatever_the_protocol() -> None:
    for wire in (
        CHUNKED + chunk(b"data: a\n\ndata: b\n\n"),
        SETTINGS + HEADERS + frame(0, 0, 1, b"data: a\n\ndata: b\n\n"),
    ):
        watch = Unwrapper()
        counts = []
        for index in range(len(wire)):
            watch.feed(index, wire[index : index + 1])
            counts.append(watch.event_count)
        assert sorted(set(counts)) == [0, 1, 2]
        assert counts == sorted(counts)


WIRES = st.sampled_from(
    [CHUNKED, HEAD + b"\r\n", HEAD + b"Content-Encoding: gzip\r\n\r\n", SETTINGS + HEADERS,
     HEAD + b"Content-Encoding: br\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 ", b""]
)  # fmt: skip
FRAGMENTS = st.one_of(
    st.binary(max_size=20),
    st.sampled_from(
        [chunk(b"data: a\n\n"), b"data: {}\n\n", b"9\r\n", b"\r\n", gzip.compress(b"data: a\n\n"),
         frame(0, 0, 1, b"data: a\n\n"), frame(0, 8, 1, b"\1data: a\n\n\0"),
         frame(1, 0, 1, b"\x88"), frame(9, 4, 1, b"\x88"), frame(3, 0, 1, b""),
         frame(7, 0, 0, b"\0\0"), b"0\r\n\r\n"]
    ),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    WIRES, st.lists(FRAGMENTS, max_size=8), st.lists(st.integers(0, 400), max_size=4),
    st.sampled_from(["http/1.1", "h2"]), st.sampled_from(Closing),
)  # fmt: skip
def test_no_bytes_raise_and_no_cutting_changes_what_is_found(
    beginning: bytes, fragments: list[bytes], cuts: list[int], protocol: str, closing: Closing
) -> None:
    wire = beginning + b"".join(fragments)
    places = sorted(min(cut, len(wire)) for cut in cuts)
    pieces = [
        wire[begin:end] for begin, end in zip([0, *places], [*places, len(wire)], strict=True)
    ]
    whole = taken(wire, closing=closing, protocol=protocol)
    split = taken(*pieces, closing=closing, protocol=protocol)
    assert whole.events.kind == split.events.kind
    assert whole.events.size_bytes == split.events.size_bytes
    assert whole.chunks.size_bytes == split.chunks.size_bytes
    assert (whole.notes, whole.ending, whole.looks_like) == (
        split.notes, split.ending, split.looks_like,
    )  # fmt: skip
    assert len(split.reads.body_bytes) == len(split.reads.plain_bytes) == len(pieces)
