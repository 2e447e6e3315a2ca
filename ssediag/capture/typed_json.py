"""JSON values into the model's frozen dataclasses, each field checked against its annotation."""

from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

# Nanoseconds and sizes fit a signed 64-bit word; more would overflow where they are divided.
_MAX_INTEGER = (1 << 63) - 1
_WORDS = {int: "a whole number", str: "a text", bool: "true or false"}


class MalformedError(ValueError):
    """A JSON value is not what the model wants; the text names the field and the reason."""


def field_values(
    shape: type[Any], value: Any, name: str, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The fields of dataclass ``shape`` out of the JSON object ``value``.

    Unknown keys are ignored, and a field with a default may be absent. Fields named in
    ``without`` are left out. ``name`` is what messages call the object. Raises MalformedError.
    """
    if not isinstance(value, dict):
        raise MalformedError(f"{name} is not an object")
    hints = get_type_hints(shape)
    found: dict[str, Any] = {}
    for field in fields(shape):
        if field.name in without:
            continue
        if field.name in value:
            found[field.name] = _value(hints[field.name], value[field.name], f"{name}.{field.name}")
        elif field.default is MISSING:
            raise MalformedError(f"{name}.{field.name} is missing")
    return found


def _value(hint: Any, value: Any, name: str) -> Any:
    """``value`` as the model's type ``hint``: a plain type, an enum, a dataclass, a row."""
    if isinstance(hint, UnionType):  # the model has no union but "or None"
        return None if value is None else _value(get_args(hint)[0], value, name)
    if get_origin(hint) is tuple:
        return _row(get_args(hint), value, name)
    if is_dataclass(hint) and isinstance(hint, type):
        return hint(**field_values(hint, value, name))
    if issubclass(hint, StrEnum):
        return _member(hint, value, name)
    return _plain(hint, value, name)


def _row(hints: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise MalformedError(f"{name} is not a list")
    if hints[-1] is Ellipsis:
        if _are_numbers(hints[0], value):
            return tuple(value)
        return tuple(_value(hints[0], entry, name) for entry in value)
    if len(value) != len(hints):
        raise MalformedError(f"{name} has {len(value)} entries instead of {len(hints)}")
    return tuple(_value(hint, entry, name) for hint, entry in zip(hints, value, strict=True))


def _are_numbers(hint: Any, column: list[Any]) -> bool:
    """Whether a whole column passes at once: a long stream has millions of numbers."""
    kinds = set(map(type, column))
    if hint == int | None:
        column = [entry for entry in column if entry is not None]
        kinds.discard(NoneType)
    elif hint is not int:
        return False
    return kinds <= {int} and all(
        abs(extreme) <= _MAX_INTEGER for extreme in (min(column, default=0), max(column, default=0))
    )


def _member(kind: type[StrEnum], value: Any, name: str) -> StrEnum:
    try:
        return kind(value)
    except ValueError as error:
        raise MalformedError(f"{name}: {str(value)[:40]!r} is unknown") from error


def _plain(kind: Any, value: Any, name: str) -> Any:
    if type(value) is not kind:  # exactly: true is no number here
        raise MalformedError(f"{name}: {str(value)[:40]!r} is not {_WORDS[kind]}")
    if kind is int and abs(value) > _MAX_INTEGER:
        raise MalformedError(f"{name}: the number is too large")
    if kind is str and not _is_unicode(value):
        raise MalformedError(f"{name} is not Unicode text")
    return value


def _is_unicode(text: str) -> bool:
    """Whether a report could print this: JSON lets half a surrogate pair through."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
