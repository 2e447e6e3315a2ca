"""Whether what several connections brought joins to one text: gaps, duplicates, new beginnings.

What tells is, in this order: a number that the events themselves carry (``index``), their ids,
and else their text, which shows a repetition but no gap.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from ssediag.model.stream import EventKind

_SILENT_KINDS = frozenset({EventKind.KEEPALIVE, EventKind.END, EventKind.ERROR})
# Fewer events alike are chance in a text, and one text over and over is no text.
_LEAST_REPEATED = 3
_LEAST_DIFFERENT = 2
# Numbers that jump more often than this do not count events one by one.
_LEAST_SINGLE_STEPS = 0.9
_MOST_DIGITS = 18


class Heard(NamedTuple):
    """One event as its reader gets it; ``last_event_id`` is the id in force with it."""

    kind: EventKind
    name: str
    data: str
    last_event_id: str


class Basis(StrEnum):
    """What the check stands on."""

    INDEX = "index"
    ID = "id"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Continuity:
    """The joined stream, checked.

    ``duplicate_count`` events came again. ``missing_count`` events never came, None where nobody
    can tell. ``restarts`` are the connections (from 0) that began again at the first event.
    """

    basis: Basis
    duplicate_count: int
    missing_count: int | None
    restarts: tuple[int, ...]


_Keys = Sequence[Sequence[int | str]]


def check(connections: Sequence[Sequence[Heard]], first_id: str = "") -> Continuity:
    """Join the events of ``connections``; ``first_id`` is the id that the first one was sent."""
    told = [[event for event in one if event.kind not in _SILENT_KINDS] for one in connections]
    roles = {place for place, one in enumerate(told) if place and _begins_a_chat(one)}
    indices = [counted(one) for one in told]
    if any(indices) and all(map(_agrees, told, indices)):
        return _by_keys(Basis.INDEX, indices, roles)
    ids = _own_ids(told, first_id)
    if ids is not None:
        return _by_keys(Basis.ID, ids, roles)
    return _by_text([[event.data for event in one] for one in told], roles)


def counted(events: Sequence[Heard]) -> tuple[int, ...]:
    """The ``index`` of each event that has one, if they grow; empty if they count nothing.

    Blocks are numbered too (Anthropic's ``index``), but many events have the number of one block;
    where only one event came, the ``type`` that such events carry tells.
    """
    documents = [_object(event.data) for event in events]
    found = [one for one in documents if _is_count(one.get("index"))]
    numbers = tuple(int(one["index"]) for one in found)
    if len(found) == 1 and "type" in found[0]:
        return ()
    return numbers if all(left < right for left, right in pairwise(numbers)) else ()


def _object(data: str) -> dict[str, Any]:
    """The JSON object in ``data``; empty where it cannot matter."""
    if '"index"' not in data:
        return {}
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _agrees(events: Sequence[Heard], indices: Sequence[int]) -> bool:
    """Whether a connection does not contradict that ``index`` counts."""
    return bool(indices) or not any("index" in _object(event.data) for event in events)


def _begins_a_chat(events: Sequence[Heard]) -> bool:
    return bool(events) and events[0].kind is EventKind.ROLE


def _own_ids(connections: Sequence[Sequence[Heard]], first_id: str) -> _Keys | None:
    """The ids that the events brought themselves; None if they do not tell events apart."""
    keys: list[list[str]] = []
    last = Heard(EventKind.OTHER, "", "", first_id)
    for events in connections:
        own: list[str] = []
        for place, event in enumerate(events):
            is_new = event.last_event_id != last.last_event_id
            is_again = place == 0 and event.data == last.data
            if event.last_event_id and (is_new or is_again):
                own.append(event.last_event_id)
            last = event
        if len(set(own)) < len(own):
            return None
        keys.append(own)
    words = [word for own in keys for word in own]
    if not words:
        return None
    if all(word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS for word in words):
        return [[int(word) for word in own] for own in keys]
    return keys


def _by_keys(basis: Basis, connections: _Keys, roles: set[int]) -> Continuity:
    seen: dict[int | str, None] = {}
    duplicate_count = 0
    restarts = set(roles)
    for place, keys in enumerate(connections):
        again = sum(key in seen for key in keys)
        if again and len(seen) >= _LEAST_DIFFERENT and keys[0] == next(iter(seen)):
            restarts.add(place)
        duplicate_count += again
        seen.update(dict.fromkeys(keys))
    return Continuity(basis, duplicate_count, _missing(connections), tuple(sorted(restarts)))


def _missing(connections: _Keys) -> int | None:
    """How many numbers between the first and the last never came; None for other keys."""
    numbers = {key for keys in connections for key in keys if isinstance(key, int)}
    steps = [
        right - left
        for keys in connections
        for left, right in pairwise(keys)
        if isinstance(left, int) and isinstance(right, int)
    ]
    singles = sum(step == 1 for step in steps)
    if not numbers or not steps or singles < _LEAST_SINGLE_STEPS * len(steps):
        return None
    return max(numbers) - min(numbers) + 1 - len(numbers)


def _by_text(connections: Sequence[Sequence[str]], roles: set[int]) -> Continuity:
    """Look for a connection that repeats the beginning or the end of what came before it."""
    joined: list[str] = []
    duplicate_count = 0
    restarts = set(roles)
    for place, texts in enumerate(connections):
        head = _common_beginning(joined, texts)
        tail = _overlap(joined, texts)
        if head and head >= tail:
            restarts.add(place)
        duplicate_count += max(head, tail)
        joined += texts
    return Continuity(Basis.TEXT, duplicate_count, None, tuple(sorted(restarts)))


def _common_beginning(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count if _says_something(right[:count]) else 0


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """How many events at the end of ``before`` come again at the beginning of ``after``."""
    for count in range(min(len(before), len(after)), _LEAST_REPEATED - 1, -1):
        if before[-count] == after[0] and list(before[-count:]) == list(after[:count]):
            return count if _says_something(after[:count]) else 0
    return 0


def _says_something(texts: Sequence[str]) -> bool:
    return len(texts) >= _LEAST_REPEATED and len(set(texts)) >= _LEAST_DIFFERENT
