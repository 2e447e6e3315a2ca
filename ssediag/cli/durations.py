"""Durations as users write them."""

import re

import typer

_UNITS_NS = {"ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000}
_SHAPE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")


def duration_ns(text: str | int) -> int:
    """``2s``, ``500ms``, ``1m``, or a bare number of seconds, in nanoseconds.

    Raises typer.BadParameter for anything else, and for 0.
    """
    if isinstance(text, int):  # a default, already in nanoseconds
        return text
    found = _SHAPE.fullmatch(text.strip().lower())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no duration: write 500ms, 2s, 1m or seconds")
    value = round(float(found[1]) * _UNITS_NS[found[2] or "s"])
    if value <= 0:
        raise typer.BadParameter("a duration must be longer than 0")
    return value
