"""Recording files: decoded streams as JSON Lines, written whole or not at all.

The first line says what the file is; then come four lines per stream::

    {"ssediag": "recording", "schema_version": 1, "tool_version": …, "stream_count": …, …}
    {"stream": {"hop": {…}, "run": 1, "protocol": …, "head": {…}, …}}
    {"reads": {"earliest_ns": […], "latest_ns": […], …}}
    {"chunks": {"size_bytes": […], …}}
    {"events": {"kind": […], "first_read": […], …, "data": null}}

The tables are columns, as in :mod:`ssediag.model.stream`, whose field names are the keys. Event
texts are there only if they were asked for; secrets never are. A reader ignores keys and kinds
of line that it does not know. A file that was cut, wherever, is refused: half a measurement
would be judged like a whole one.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from ssediag.capture.redact import redact_headers, redact_url
from ssediag.capture.typed_json import MalformedError, field_values
from ssediag.model.stream import ChunkTable, EventTable, ReadTable, Stream

SCHEMA_VERSION = 1

_TABLES: dict[str, type[Any]] = {"reads": ReadTable, "chunks": ChunkTable, "events": EventTable}
_LINES = ("stream", *_TABLES)
_SIGN = re.compile(rb'\s*\{[^\n]*"ssediag"\s*:\s*"recording"')
# A line holds a table; one of a million events takes about 50 MB. Longer lines are not ours.
_MAX_LINE_BYTES = 512 * 1024 * 1024


class StoreError(Exception):
    """A recording cannot be written: which file and why, in one clause."""


class RecordingError(Exception):
    """A file is no whole recording: in which ``line`` (from 1; 0: it cannot be read), and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def looks_like_recording(first_bytes: bytes) -> bool:
    """Whether a file that begins with these bytes says that it is a recording of ours."""
    return _SIGN.match(first_bytes) is not None


def open_for_saving(path: Path) -> None:
    """Check, before anything is measured, that a recording can be written to ``path``.

    Leaves a file that is there as it is. Raises StoreError.
    """
    try:
        target = _target(path)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".ssediag-")
        os.close(descriptor)
        Path(name).unlink()
    except (OSError, ValueError) as error:
        raise StoreError(_why_not(path, error)) from error


def write_recording(
    path: Path, streams: Sequence[Stream], *, command: str, began_at: str, tool_version: str
) -> None:
    """Write ``streams`` to ``path``, readable by the owner only; a file there is replaced.

    ``command`` comes with its secrets masked; those in targets and header fields are masked
    here. Others see the old file or the whole new one, never a part. Raises StoreError.
    """
    first = {
        "ssediag": "recording",
        "schema_version": SCHEMA_VERSION,
        "tool_version": tool_version,
        "command": command,
        "began_at": began_at,
        "stream_count": len(streams),
    }
    try:
        _replace_file(_target(path), (first, *(line for one in streams for line in _lines(one))))
    except (OSError, ValueError) as error:
        raise StoreError(_why_not(path, error)) from error


def _target(path: Path) -> Path:
    """The file behind ``path``; a link is followed, a device or folder is an OSError."""
    target = path.resolve()
    if target.is_dir():
        raise OSError("it is a folder")
    if target.exists() and not target.is_file():
        raise OSError("it is no regular file")  # the rename would take /dev/null away
    return target


def _why_not(path: Path, error: OSError | ValueError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot write {path}: {reason}"


def _replace_file(target: Path, lines: Iterable[dict[str, Any]]) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".ssediag-")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            for line in lines:
                text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
                file.write(text.encode(errors="replace") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:  # an interrupt too must leave no half file beside the old one
        with suppress(OSError):
            Path(name).unlink()
        raise


def _lines(stream: Stream) -> Iterator[dict[str, Any]]:
    plain = _as_json(_without_secrets(stream))
    tables = {name: plain.pop(name) for name in _TABLES}
    yield {"stream": plain}
    for name, table in tables.items():
        yield {name: table}


def _without_secrets(stream: Stream) -> Stream:
    request, head = stream.request, stream.head
    return replace(
        stream,
        hop=replace(stream.hop, target=redact_url(stream.hop.target)),
        request=replace(
            request, target=redact_url(request.target), headers=redact_headers(request.headers)
        ),
        head=head and replace(head, headers=redact_headers(head.headers)),
        trailers=redact_headers(stream.trailers),
    )


def _as_json(value: Any) -> Any:
    # Columns go to the encoder as they are: a call per entry would cost more than encoding.
    if is_dataclass(value):
        return {field.name: _as_json(getattr(value, field.name)) for field in fields(value)}
    return value


def read_recording(source: Path | BinaryIO) -> tuple[Stream, ...]:
    """The streams of a recording. Raises RecordingError, and nothing else, for a bad file."""
    try:
        if not isinstance(source, Path):
            return _read(source)
        with source.open("rb") as file:
            return _read(file)
    except OSError as error:
        raise RecordingError(0, error.strerror or "cannot be read") from error


def _read(file: BinaryIO) -> tuple[Stream, ...]:
    lines = _objects(file)
    number, first = next(lines, (1, {}))
    expected = _stream_count(first, number)
    streams: list[Stream] = []
    parts: dict[str, Any] = {}
    for number, line in lines:
        kind = next((name for name in _LINES if name in line), None)
        if kind is None:
            continue  # a later version's kind of line
        if kind != _LINES[len(parts)]:
            raise RecordingError(number, f"{_LINES[len(parts)]!r} was expected, not {kind!r}")
        try:
            parts[kind] = _part(kind, line[kind], parts)
        except MalformedError as error:
            raise RecordingError(number, str(error)) from error
        if len(parts) == len(_LINES):
            streams.append(Stream(**parts.pop("stream"), **parts))
            parts = {}
    if parts:
        raise RecordingError(number, "the file ends inside a stream")
    if expected not in (None, len(streams)):
        raise RecordingError(number, f"the file ends after {len(streams)} of {expected} streams")
    return tuple(streams)


def _objects(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line."""
    number = 0
    while raw := file.readline(_MAX_LINE_BYTES):
        number += 1
        if not raw.endswith(b"\n"):
            raise RecordingError(number, "the file ends inside this line")
        try:
            entry = json.loads(raw.decode())
        except (ValueError, RecursionError) as error:
            raise RecordingError(number, "not JSON") from error
        if not isinstance(entry, dict):
            raise RecordingError(number, "not a JSON object")
        yield number, entry


def _stream_count(first: dict[str, Any], number: int) -> int | None:
    """How many streams the first line promises."""
    if first.get("ssediag") != "recording":
        raise RecordingError(number, "not an ssediag recording")
    version = first.get("schema_version")
    if version != SCHEMA_VERSION:
        raise RecordingError(
            number, f"schema_version {str(version)[:20]}: this ssediag reads {SCHEMA_VERSION}"
        )
    count = first.get("stream_count")
    return count if isinstance(count, int) else None


def _part(kind: str, value: Any, before: dict[str, Any]) -> Any:
    """One line of a stream, checked: the scalars as a dict, a table as what it is."""
    if kind == "stream":
        return field_values(Stream, value, kind, without=frozenset(_TABLES))
    table = _TABLES[kind](**field_values(_TABLES[kind], value, kind))
    _check_columns(table, kind)
    if kind == "reads":
        if any(earliest > latest for earliest, latest in _arrivals(table)):
            raise MalformedError("reads: an arrival ends before it begins")
        _check_places("stream", _scalar_places(before["stream"]), len(table))
        return table
    for field in fields(table):
        if field.name.endswith("_read"):
            name = f"{kind}.{field.name}"
            _check_places(name, getattr(table, field.name), len(before["reads"]))
    if kind == "events" and any(left > right for left, right in pairwise(table.data_read)):
        raise MalformedError("the events are out of order")
    return table


def _arrivals(reads: ReadTable) -> Iterator[tuple[int, int]]:
    return zip(reads.earliest_ns, reads.latest_ns, strict=True)


def _scalar_places(scalars: dict[str, Any]) -> tuple[int, ...]:
    head = scalars["head"]
    return (*scalars.get("comment_reads", ()), *(() if head is None else (head.read_index,)))


def _check_columns(table: Any, kind: str) -> None:
    """Every column has the table's length, and no size or count is negative."""
    for field in fields(table):
        column = getattr(table, field.name)
        if column is not None and len(column) != len(table):
            raise MalformedError(f"{kind}.{field.name} has {len(column)} of {len(table)} entries")
        if field.name.endswith(("_bytes", "_count")) and any(
            entry is not None and entry < 0 for entry in column
        ):
            raise MalformedError(f"{kind}.{field.name}: an entry is negative")


def _check_places(name: str, places: Sequence[int], read_count: int) -> None:
    """Every read index must point at a read, or later code would stumble."""
    if any(not 0 <= place < read_count for place in places):
        raise MalformedError(f"{name}: an index points at a read that is not there")
