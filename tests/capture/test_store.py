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
from ssediag.model.recording import (
    Clock,
    Hop,
    NotMeasured,
    Phases,
    Quality,
    Role,
    SentRequest,
    Stage,
)
from ssediag.model.stream import (
    ChunkTable,
    Ending,
    EventKind,
    EventTable,
    Framing,
    Head,
    ReadTable,
    Stream,
)
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


def test_secrets_do_not_reach_the_file(tmp_path: Path) -> None:
    head = Head(200, "OK", "1.1", (("Set-Cookie", "id=c4n4ry"), ("X-Auth-Token", "c4n4ry")), 0)
    request = SentRequest("GET", "http://h/?key=c4n4ry", (("Authorization", "Bearer c4n4ry"),))
    leaky = replace(
        STREAMS[0],
        hop=Hop("hop", "http://u:c4n4ry@h/", 0),
        request=request,
        head=head,
        trailers=(("X-Session", "c4n4ry"),),
    )
    write(tmp_path / "r.jsonl", (leaky,))
    assert "c4n4ry" not in (tmp_path / "r.jsonl").read_text()


def test_a_file_cut_inside_a_line_is_refused_and_the_line_named(whole: bytes) -> None:
    for end in range(0, len(whole), 7):
        with pytest.raises(RecordingError) as caught:
            read_recording(io.BytesIO(whole[:end]))
        assert caught.value.line == max(
            1, whole[:end].count(b"\n") + (whole[end - 1 : end] != b"\n")
        )


def test_a_file_cut_between_lines_is_refused(whole: bytes) -> None:
    lines = whole.splitlines(keepends=True)
    reasons = []
    for count in range(1, len(lines)):
        with pytest.raises(RecordingError) as caught:
            read_recording(io.BytesIO(b"".join(lines[:count])))
        reasons.append(caught.value.reason)
    inside = ["the file ends inside a stream"] * 3
    assert reasons == [
        "the file ends after 0 of 2 streams",
        *inside,
        "the file ends after 1 of 2 streams",
        *inside,
    ]


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
        (b'{"ssediag":"recording","schema_version":1}\n{"stream":{}}\n', "stream.hop is missing"),
    ],
)
def test_a_file_that_is_no_recording_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(RecordingError, match="line") as caught:
        read_recording(io.BytesIO(content))
    assert reason in caught.value.reason


def test_unknown_keys_and_lines_are_ignored(whole: bytes) -> None:
    later = whole.replace(b'{"stream":{', b'{"later":1}\n{"later":1,"stream":{"later":[1],', 1)
    assert read_recording(io.BytesIO(later)) == STREAMS


def test_a_field_with_a_default_may_be_absent(whole: bytes) -> None:
    earlier = whole.replace(b',"trailers":[],"notes":[]}', b"}")
    assert earlier != whole
    assert read_recording(io.BytesIO(earlier)) == STREAMS


@pytest.mark.parametrize(
    ("line", "old", "new", "reason"),
    [
        (2, b'"run":1', b'"run":true', "stream.run: 'True' is not a whole number"),
        (2, b'"run":1', b'"run":1.0', "stream.run: '1.0' is not a whole number"),
        (2, b'"run":1', b'"run":NaN', "stream.run: 'nan' is not a whole number"),
        (2, b'"run":1', b'"run":1e999', "stream.run: 'inf' is not a whole number"),
        (2, b'"run":1', b'"run":9223372036854775808', "stream.run: the number is too large"),
        (2, b'"run":1', b'"run":' + b"9" * 5000, "not JSON"),
        (2, b'"run":1', b'"ran":1', "stream.run is missing"),
        (2, b'"coding":null', b'"coding":7', "stream.coding: '7' is not a text"),
        (2, b'"coding":null', b'"coding":"\\ud800"', "stream.coding is not Unicode text"),
        (2, b'"hop":{', b'"hop":7,"was":{', "stream.hop is not an object"),
        (2, b'"clock":"kernel"', b'"clock":"sundial"', "stream.clock: 'sundial' is unknown"),
        (2, b'"clock":"kernel"', b'"clock":[]', "stream.clock: '[]' is unknown"),
        (2, b'"notes":[]', b'"notes":{}', "stream.notes is not a list"),
        (2, b'"trailers":[]', b'"trailers":[["a"]]', "stream.trailers has 1 entries instead of 2"),
        (3, b'"latest_ns":[', b'"latest_ns":[1,', "reads.earliest_ns has"),
        (3, b'"latest_ns":[', b'"latest_ns":[-1,', "reads.earliest_ns has"),
        (3, b'"wire_bytes":[', b'"wire_bytes":[-', "reads.wire_bytes: an entry is negative"),
        (5, b'"first_read":[1', b'"first_read":[99999', "events.first_read: an index points"),
        (5, b'"first_read":[1', b'"first_read":[-1', "events.first_read: an index points"),
        (5, b'{"events"', b'{"chunks"', "'events' was expected, not 'chunks'"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(
    whole: bytes, line: int, old: bytes, new: bytes, reason: str
) -> None:
    lines = whole.splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    with pytest.raises(RecordingError) as caught:
        read_recording(io.BytesIO(b"".join(lines)))
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_a_comment_in_a_read_that_never_came_is_refused(whole: bytes) -> None:
    damaged = whole.replace(b'"comment_reads":[]', b'"comment_reads":[99999]', 1)
    with pytest.raises(RecordingError, match="line 3: stream: an index points at a read"):
        read_recording(io.BytesIO(damaged))


def refused(content: bytes) -> bool:
    """Whether a file is refused; any other exception than RecordingError fails the test."""
    try:
        read_recording(io.BytesIO(content))
    except RecordingError:
        return True
    return False


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0), junk=st.binary(min_size=1, max_size=6))
def test_no_damage_raises_anything_but_a_recording_error(
    whole: bytes, place: int, junk: bytes
) -> None:
    place %= len(whole)
    refused(whole[:place] + junk + whole[place + len(junk) :])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), value=json_values)
def test_no_value_in_any_field_raises_anything_but_a_recording_error(
    whole: bytes, data: st.DataObject, value: object
) -> None:
    lines = [json.loads(line) for line in whole.splitlines()]
    place = data.draw(st.sampled_from(lines))
    while data.draw(st.booleans()):
        inner = [item for item in place.values() if isinstance(item, dict) and item]
        place = data.draw(st.sampled_from(inner)) if inner else place
        if not inner:
            break
    place[data.draw(st.sampled_from(sorted(place)))] = value
    refused(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


numbers = st.integers(-(2**63) + 1, 2**63 - 1)
counts = st.integers(0, 2**40)
texts = st.text(max_size=8)
# Values that nobody takes for a secret: what is masked has tests of its own.
harmless = st.text("abcdef", max_size=8)
pairs = st.lists(st.tuples(st.just("x-") | harmless, harmless), max_size=3).map(tuple)


def columns(*entries: st.SearchStrategy[object], size: int) -> st.SearchStrategy[list[object]]:
    return st.tuples(
        *(st.lists(entry, min_size=size, max_size=size).map(tuple) for entry in entries)
    ).map(list)


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Any stream that the model allows."""
    size, event_count, chunk_count = draw(st.tuples(*(st.integers(1, 4),) * 3))
    place = st.integers(0, size - 1)
    earliest, *others = draw(
        columns(
            st.integers(-(2**40), 2**40),
            st.sampled_from(Quality),
            st.none() | counts,
            *(counts,) * 3,
            size=size,
        )
    )
    latest = tuple(start + draw(counts) for start in earliest)
    kind, *rest = draw(
        columns(
            st.sampled_from(EventKind), place, place, counts, counts, counts | st.none(), texts,
            size=event_count,
        )
    )  # fmt: skip
    ordered = tuple(sorted(draw(columns(place, size=event_count))[0]))
    first, dispatch, *sizes, data = rest
    head = Head(draw(counts), draw(texts), draw(texts), draw(pairs), draw(place))
    return Stream(
        hop=Hop(draw(texts), draw(harmless), draw(counts), draw(st.sampled_from(Role))),
        run=draw(counts),
        experiment=draw(st.none() | texts),
        protocol=draw(texts),
        request=SentRequest(draw(texts), draw(harmless), draw(pairs), draw(counts)),
        phases=draw(st.builds(Phases, *(st.none() | numbers,) * 5)),
        clock=draw(st.sampled_from(Clock)),
        began_epoch_ns=draw(numbers),
        peer=draw(st.none() | texts),
        not_measured=draw(st.none() | st.builds(NotMeasured, st.sampled_from(Stage), texts)),
        head=draw(st.none() | st.just(head)),
        framing=draw(st.sampled_from(Framing)),
        coding=draw(st.none() | texts),
        dialect=draw(st.none() | texts),
        ending=draw(st.sampled_from(Ending)),
        terminator=draw(st.none() | st.booleans()),
        finish_reason=draw(st.none() | texts),
        usage_tokens=draw(st.none() | counts),
        error=draw(st.none() | texts),
        looks_like=draw(st.none() | texts),
        reads=ReadTable(earliest, latest, *others),
        chunks=ChunkTable(*draw(columns(counts, place, place, size=chunk_count))),
        events=EventTable(kind, first, ordered, dispatch, *sizes, draw(st.none() | st.just(data))),
        comment_reads=draw(st.lists(place, max_size=3).map(tuple)),
        trailers=draw(pairs),
        notes=draw(st.lists(texts, max_size=3).map(tuple)),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(streams(), max_size=3).map(tuple))
def test_any_streams_are_read_back_equal(tmp_path: Path, kept: tuple[Stream, ...]) -> None:
    write(tmp_path / "r.jsonl", kept)
    assert read_recording(tmp_path / "r.jsonl") == kept


def test_a_text_that_is_not_unicode_is_written_with_question_marks(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", (replace(STREAMS[0], error="a\ud800b"),))
    assert read_recording(tmp_path / "r.jsonl")[0].error == "a?b"


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "r.jsonl")
    write(tmp_path / "link", STREAMS)
    assert (tmp_path / "link").is_symlink()
    assert read_recording(tmp_path / "real" / "r.jsonl") == STREAMS


def test_a_device_is_left_alone() -> None:
    for save in (open_for_saving, lambda path: write(path, STREAMS)):
        with pytest.raises(StoreError, match="cannot write /dev/null: it is no regular file"):
            save(Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


def test_an_interrupted_write_keeps_the_old_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_descriptor: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "r.jsonl").write_text("old")
    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "r.jsonl", STREAMS)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_full_disk_is_a_store_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        write(tmp_path / "r.jsonl", STREAMS)


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
