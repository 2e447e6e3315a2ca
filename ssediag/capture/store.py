"""Recordings on disk: JSON Lines, versioned, redacted, and read back to the same streams.

The first line says what the file is; then each run is four lines: ``stream`` (everything but its
tables), ``reads``, ``chunks`` and ``events`` (columns of equal length). A file is complete or it
is refused: it is written to a temporary name and renamed when it is whole. Event texts are there
only if they were asked for; secrets never are.
"""

import json
import os
import tempfile
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from ssediag.capture.redact import redact_headers
from ssediag.model.stream import ChunkTable, EventTable, ReadTable, Stream

SCHEMA_VERSION = 1
# One line may hold a table of some million events; longer lines are not ours.
_MAX_LINE_BYTES = 512 * 1024 * 1024
_TABLES: dict[str, type] = {"reads": ReadTable, "chunks": ChunkTable, "events": EventTable}
_MODE = 0o600


class StoreError(Exception):
    """A recording could not be written: which file and why, in one clause."""


class RecordingError(Exception):
    """A file is no recording, or a broken one: which line and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def open_for_saving(path: Path) -> None:
    """Make sure a recording can be written at ``path`` later. Raises StoreError."""
    if path.is_dir():
        raise StoreError(f"cannot write {path}: it is a folder")
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent or Path(), prefix=".ssediag-")
        os.close(descriptor)
        Path(name).unlink()
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def write_recording(
    path: Path, streams: Sequence[Stream], *, command: str, began_at: str, tool_version: str
) -> None:
    """Write ``streams`` to ``path``, readable by the owner only. Raises StoreError.

    The file appears under its name when it is whole, or not at all.
    """
    first = {
        "ssediag": "recording",
        "schema_version": SCHEMA_VERSION,
        "tool_version": tool_version,
        "command": command,
        "began_at": began_at,
    }
    lines = (json.dumps(line, separators=(",", ":")) + "\n" for line in (first, *_lines(streams)))
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent or Path(), prefix=".ssediag-")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _MODE)  # noqa: PTH101 - the name is mkstemp's
        Path(name).replace(path)
    except OSError as error:
        with suppress(OSError):
            Path(name).unlink()
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def _lines(streams: Sequence[Stream]) -> Iterator[dict[str, Any]]:
    for stream in streams:
        clean = _redacted(stream)
        yield {"stream": _plain(clean, leave_out=frozenset(_TABLES))}
        for name in _TABLES:
            yield {name: _plain(getattr(clean, name))}


def _redacted(stream: Stream) -> Stream:
    """The stream without secret response headers."""
    head = stream.head
    if head is not None:
        head = replace(head, headers=redact_headers(head.headers))
    return replace(stream, head=head, trailers=redact_headers(stream.trailers))


def _plain(value: Any, leave_out: frozenset[str] = frozenset()) -> Any:
    """A frozen value as JSON: objects for dataclasses, arrays for tuples."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.name not in leave_out]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def looks_like_recording(first_bytes: bytes) -> bool:
    """Whether a file that begins like this is one of ours."""
    return first_bytes.lstrip().startswith(b'{"ssediag":"recording"')


def read_recording(source: Path | BinaryIO) -> tuple[Stream, ...]:
    """The streams of a recording. Raises RecordingError, and nothing else, for a bad file."""
    if not isinstance(source, Path):
        return _read(source)
    try:
        with source.open("rb") as file:
            return _read(file)
    except OSError as error:
        raise RecordingError(0, error.strerror or "cannot be read") from error


def _read(file: BinaryIO) -> tuple[Stream, ...]:
    lines = _documents(file)
    number, first = next(lines, (1, {}))
    if first.get("ssediag") != "recording":
        raise RecordingError(number, "not an ssediag recording")
    if first.get("schema_version") != SCHEMA_VERSION:
        version = first.get("schema_version")
        raise RecordingError(number, f"schema_version {version!r}: this ssediag reads 1")
    streams = []
    for number, line in lines:
        scalars = _part("stream", number, line)
        tables = {}
        for name, kind in _TABLES.items():
            at, table = next(lines, (number + 1, {}))
            tables[name] = _build(kind, _part(name, at, table), at)
            _check_columns(tables[name], at)
        stream = _build(Stream, {**scalars, **tables}, number)
        _check_places(stream, number)
        streams.append(stream)
    return tuple(streams)


def _documents(file: BinaryIO) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Number and object of each line."""
    number = 0
    while raw := file.readline(_MAX_LINE_BYTES):
        number += 1
        if not raw.endswith(b"\n"):
            raise RecordingError(number, "the file ends inside this line")
        try:
            document = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise RecordingError(number, "not JSON") from error
        if not isinstance(document, dict):
            raise RecordingError(number, "not a JSON object")
        yield number, document


def _part(name: str, number: int, line: Mapping[str, Any]) -> Mapping[str, Any]:
    part = line.get(name)
    if not isinstance(part, dict):
        raise RecordingError(number, f"{name!r} was expected here")
    return part


def _build(kind: type, values: Mapping[str, Any], number: int) -> Any:
    """A dataclass from JSON, every field checked against its annotation; unknown keys ignored."""
    hints = typing.get_type_hints(kind)
    known = {field.name for field in fields(kind)}
    try:
        return kind(
            **{
                name: _value(hints[name], value, number)
                for name, value in values.items()
                if name in known
            }
        )
    except TypeError as error:
        raise RecordingError(number, f"incomplete {kind.__name__}") from error


def _value(kind: Any, value: Any, number: int) -> Any:  # noqa: PLR0911 - a case a kind of type
    """``value`` as ``kind``, or RecordingError."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in {types.UnionType, typing.Union}:
        if value is None and type(None) in arguments:
            return None
        inner = [argument for argument in arguments if argument is not type(None)]
        return _value(inner[0], value, number)
    if origin is tuple and isinstance(value, list | tuple):
        return _tuple(arguments, value, number)
    if isinstance(kind, type) and is_dataclass(kind):
        if isinstance(value, kind):
            return value
        if isinstance(value, dict):
            return _build(kind, value, number)
    if isinstance(kind, type) and issubclass(kind, StrEnum) and value in set(kind):
        return kind(value)
    if kind in {int, bool, str} and type(value) is kind and not (kind is int and _absurd(value)):
        return value
    raise RecordingError(number, f"{str(value)[:40]!r} is not what belongs here")


def _absurd(value: int) -> bool:
    """Whether a number is beyond what times and sizes can be (64 bits)."""
    return abs(value) >= 1 << 63


def _tuple(arguments: tuple[Any, ...], values: Sequence[Any], number: int) -> tuple[Any, ...]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 - tuple[X, ...]
        return tuple(_value(arguments[0], value, number) for value in values)
    if len(arguments) != len(values):
        raise RecordingError(number, f"{len(values)} values where {len(arguments)} belong")
    return tuple(_value(kind, value, number) for kind, value in zip(arguments, values, strict=True))


def _check_columns(table: Any, number: int) -> None:
    lengths = {
        len(column) for field in fields(table) if (column := getattr(table, field.name)) is not None
    }
    if len(lengths) > 1:
        raise RecordingError(number, "columns of unequal length")


def _check_places(stream: Stream, number: int) -> None:
    """Every read index must point at a read, in order, or later code would stumble."""
    count = len(stream.reads)
    columns = (
        stream.events.first_read,
        stream.events.data_read,
        stream.events.dispatch_read,
        stream.chunks.first_read,
        stream.chunks.last_read,
        stream.comment_reads,
        () if stream.head is None else (stream.head.read_index,),
    )
    if any(not 0 <= index < count for column in columns for index in column):
        raise RecordingError(number, "an index points at a read that is not there")
    if any(left > right for left, right in pairwise(stream.events.data_read)):
        raise RecordingError(number, "events are out of order")
