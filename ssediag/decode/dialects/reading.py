"""What a dialect reads out of one event, and what a dialect is."""

from collections.abc import Callable
from dataclasses import dataclass

from ssediag.model.stream import EventKind


@dataclass(frozen=True, slots=True)
class Reading:
    """One event understood. What it does not say is None; no text is 0 bytes."""

    kind: EventKind
    text_bytes: int = 0
    token_count: int | None = None
    usage_tokens: int | None = None
    finish_reason: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """A payload format. ``has_terminator``: a stream without its END event is incomplete.

    ``recognises(event field, data)`` looks at the first event, ``read`` at each one. A dialect
    that counts tokens by differences gets the tokens counted so far as the third argument; None
    if text came since that nobody counted, so that a difference would be of several events.
    """

    name: str
    has_terminator: bool
    recognises: Callable[[bytes, bytes], bool]
    read: Callable[[bytes, bytes, int | None], Reading]
