import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ssediag.capture.store import (
    RecordingError,
    StoreError,
    looks_like_recording,
    open_for_saving,
    read_recording,
    write_recording,
)
from ssediag.diagnose.operators import size_flush
from ssediag.model.stream import Head, Stream
from tests.diagnose.tapes import paced, stream

STREAMS = (
    stream(paced(20), size_flush, 1024, run=1, terminator=True, token_count=2),
    stream([], run=2, looks_like="html"),
)


def write(path: Path, streams: tuple[Stream, ...]) -> None:
    write_recording(path, streams, command="ssediag", began_at="2026-01-01", tool_version="0")


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    write(tmp_path / "r.jsonl", STREAMS)
    return (tmp_path / "r.jsonl").read_bytes()


def test_what_was_written_is_read_back_equal(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", STREAMS)
    assert read_recording(tmp_path / "r.jsonl") == STREAMS


def test_a_recording_is_for_its_owner_only_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", STREAMS)
    assert (tmp_path / "r.jsonl").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_secret_response_headers_do_not_reach_the_file(tmp_path: Path) -> None:
    head = Head(200, "OK", "1.1", (("Set-Cookie", "id=c4n4ry"), ("X-Auth-Token", "c4n4ry")), 0)
    write(tmp_path / "r.jsonl", (replace(STREAMS[0], head=head),))
    assert "c4n4ry" not in (tmp_path / "r.jsonl").read_text()


def test_a_file_cut_anywhere_is_refused_or_holds_whole_runs(whole: bytes) -> None:
    for end in range(0, len(whole), 7):
        try:
            read = read_recording(io.BytesIO(whole[:end]))
        except RecordingError:
            continue
        assert read == STREAMS[: len(read)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not an ssediag recording"),
        (b"{}\n", "not an ssediag recording"),
        (b"[1]\n", "not a JSON object"),
        (b"\xff\xfe\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"ssediag":"recording","schema_version":99}\n', "schema_version 99"),
        (b'{"ssediag":"recording","schema_version":1}\n{"reads":{}}\n', "'stream' was expected"),
        (b'{"ssediag":"recording","schema_version":1}\n{"stream":{}}\n', "'reads' was expected"),
    ],
)
def test_a_file_that_is_no_recording_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(RecordingError, match="line") as caught:
        read_recording(io.BytesIO(content))
    assert reason in caught.value.reason


def test_an_unknown_key_is_ignored(whole: bytes) -> None:
    later = whole.replace(b'{"stream":{', b'{"later":1,"stream":{"later":[1],', 1)
    assert read_recording(io.BytesIO(later)) == STREAMS


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"first_read":[1', b'"first_read":[99999'), (b'"latest_ns":[', b'"latest_ns":[1,')],
)
def test_tables_that_do_not_fit_are_refused(whole: bytes, old: bytes, new: bytes) -> None:
    with pytest.raises(RecordingError):
        read_recording(io.BytesIO(whole.replace(old, new, 1)))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_damage_raises_anything_but_a_recording_error(whole: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(whole) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=6))
    try:
        read_recording(io.BytesIO(whole[:place] + junk + whole[place + len(junk) :]))
    except RecordingError as error:
        assert error.line >= 1


def test_a_place_that_cannot_be_written_is_known_beforehand(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"):
        open_for_saving(tmp_path / "nowhere" / "r.jsonl")
    with pytest.raises(StoreError, match="is a folder"):
        open_for_saving(tmp_path)


def test_a_missing_file_is_a_recording_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        read_recording(tmp_path / "nothing")


def test_a_recording_is_known_by_its_first_bytes(whole: bytes) -> None:
    assert looks_like_recording(whole[:64])
    assert not looks_like_recording(b"\xd4\xc3\xb2\xa1")


def test_the_file_is_one_json_document_a_line(whole: bytes) -> None:
    keys = [next(iter(json.loads(line))) for line in whole.splitlines()]
    assert keys == ["ssediag", *["stream", "reads", "chunks", "events"] * 2]
