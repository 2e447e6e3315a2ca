"""Every scripted answer of the shared cases: the events it should give, however it is cut."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from ssediag.model.recording import Closing
from tests.decode.recordings import SETTINGS, frame, taken

CASES = Path(__file__).parents[2] / "fixtures" / "http" / "cases.json"
# A case with a URL of its own never gets so far that its bytes are read.
PLAYED = [case for case in json.loads(CASES.read_text("utf-8")) if "url" not in case]
BYTEWISE_BYTES = 20_000


def wire_of(case: dict[str, Any]) -> tuple[bytes, Closing]:
    """The bytes a case sends, and how it ends."""
    parts, closing = [], Closing.FIN
    for kind, *values in case["steps"]:
        if kind in {"b64", "drip"}:
            parts.append(base64.b64decode(values[0]))
        elif kind == "rep":
            parts.append(base64.b64decode(values[0]) * values[1])
        elif kind == "frame":
            stream = 1 if values[2] == "s" else values[2]
            parts.append(frame(values[0], values[1], stream, base64.b64decode(values[3])))
        elif kind == "h2flow":
            parts.append(frame(0, 0, 1, base64.b64decode(values[0])) * values[1])
        elif kind in {"rst", "hold"}:
            closing = Closing.RESET if kind == "rst" else Closing.TIMED_OUT
    speaks_frames = case["proto"] == "h2" and case["id"] != "h2_answer_is_http1"
    return (SETTINGS if speaks_frames else b"") + b"".join(parts), closing


def cuttings(wire: bytes) -> list[list[bytes]]:
    size = 1 if len(wire) <= BYTEWISE_BYTES else 4093
    return [[wire], [wire[at : at + size] for at in range(0, len(wire), size)]]


@pytest.mark.parametrize("case", PLAYED, ids=lambda case: str(case["id"]))
def test_a_scripted_answer_gives_the_events_it_should(case: dict[str, Any]) -> None:
    wire, closing = wire_of(case)
    protocol = "h2" if case["proto"] == "h2" else "http/1.1"
    bounds = case["expect"]["events"]
    low, high = bounds if isinstance(bounds, list) else (bounds or 0, bounds)
    whole, bitwise = (
        taken(*pieces, closing=closing, protocol=protocol) for pieces in cuttings(wire)
    )
    assert low <= len(whole.events) <= (len(whole.events) if high is None else high)
    assert whole.events.kind == bitwise.events.kind
    assert whole.events.size_bytes == bitwise.events.size_bytes
    assert whole.chunks.size_bytes == bitwise.chunks.size_bytes
    assert whole.notes == bitwise.notes
    assert (whole.ending, whole.looks_like) == (bitwise.ending, bitwise.looks_like)
    assert sum(whole.reads.body_bytes) == sum(bitwise.reads.body_bytes)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ck_bad_size_neg", "broken chunk size: '-5'"),
        ("ck_ext_flood", "a chunk size or trailer line without an end"),
        ("ck_connection_close_after_end", "bytes after the last chunk"),
        ("te_chunkedchunked", "transfer coding 'chunkedchunked' is not supported"),
        ("cl_two_different", "conflicting Content-Length values"),
        ("cl_negative", "Content-Length '-1' is no length"),
        ("hd_status_junk", "not an HTTP/1 status line: 'ICY 200 OK'"),
        ("hd_status_2000", "not an HTTP/1 status line: 'HTTP/1.1 2000 OK'"),
        ("hd_huge_header", "a response head of more than 262144 bytes"),
        ("gz_truncated", "the gzip coding is unfinished"),
        ("gz_truncated_in_block", "the gzip coding is unfinished"),
        ("gz_lie", "Content-Encoding says gzip, the bytes are not"),
        ("gz_garbage_after", "bytes after the end of the gzip data"),
        ("enc_unknown", "content coding 'snappy' is unknown"),
        ("h2_rst_internal_mid", "RST_STREAM INTERNAL_ERROR (2)"),
        ("h2_rst_before_headers", "RST_STREAM REFUSED_STREAM (7)"),
        ("h2_goaway_calm", "GOAWAY ENHANCE_YOUR_CALM (11): "),
        ("h2_bad_padding", "padding longer than its frame"),
        ("h2_no_status", "response headers without a :status"),
        ("h2_continuation_flood", "response headers of more than 262144 bytes"),
        ("h2_answer_is_http1", "not HTTP/2: the answer begins 'HTTP/1.1 '"),
    ],
)
def test_a_broken_answer_says_what_is_wrong_with_it(name: str, words: str) -> None:
    case = next(case for case in PLAYED if case["id"] == name)
    wire, closing = wire_of(case)
    protocol = "h2" if case["proto"] == "h2" else "http/1.1"
    notes = taken(wire, closing=closing, protocol=protocol).notes
    assert [words in note for note in notes].count(True) == 1


@pytest.mark.parametrize("name", ["ck_plain", "gz_full_flush", "h2_plain", "h2_trailers"])
def test_a_sound_answer_has_nothing_to_note(name: str) -> None:
    case = next(case for case in PLAYED if case["id"] == name)
    wire, closing = wire_of(case)
    protocol = "h2" if case["proto"] == "h2" else "http/1.1"
    assert taken(wire, closing=closing, protocol=protocol).notes == ()
