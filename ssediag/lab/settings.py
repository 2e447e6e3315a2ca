"""What a token instance can be told, on its command line or in a request's query string."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any


class Jitter(StrEnum):
    """How the time between tokens varies around ``gap_ms``, which stays its mean."""

    NONE = "none"
    UNIFORM = "uniform"
    POISSON = "poisson"


class Framing(StrEnum):
    """How the body ends. ``length`` knows the whole length before, and still keeps the pace."""

    CHUNKED = "chunked"
    LENGTH = "length"
    UNTIL_CLOSE = "until-close"


class Shape(StrEnum):
    """What an event looks like."""

    OPENAI = "openai"
    PLAIN = "plain"
    RAW = "raw"


class Ending(StrEnum):
    """How the stream ends, after ``end_after`` events where that is not 0.

    ``short`` announces one byte more than the whole stream has, ``reset`` sends RST.
    """

    COMPLETE = "complete"
    NO_DONE = "no-done"
    NO_LAST_CHUNK = "no-last-chunk"
    SHORT = "short"
    RESET = "reset"
    ERROR_EVENT = "error-event"


class Answer(StrEnum):
    """What kind of answer comes: a stream, a document, an empty body, or nothing at all."""

    STREAM = "stream"
    JSON = "json"
    HTML = "html"
    EMPTY = "empty"
    SILENCE = "silence"
    HEADERS_THEN_SILENCE = "headers-then-silence"


@dataclass(frozen=True, slots=True)
class Settings:
    r"""One instance's behaviour. Raises ValueError for what makes no sense.

    ``text`` is what the raw shape repeats as it is, with ``\n`` and ``\r`` for line ends; without
    it the raw events are counted. ``event_bytes`` pads token events. ``tokens_per_event`` tokens
    share one event; ``group`` events are written together when the last is ready. After
    ``stall_after`` token events the rest comes ``stall_ms`` later. ``usage`` adds a usage chunk,
    and with several tokens in an event a running count to each. ``stamp`` puts the epoch time of
    its sending into each event.
    """

    tokens: int = 64
    gap_ms: float = 20.0
    prefill_ms: float = 50.0
    jitter: Jitter = Jitter.NONE
    seed: int = 0
    framing: Framing = Framing.CHUNKED
    shape: Shape = Shape.OPENAI
    text: str = ""
    event_bytes: int = 0
    tokens_per_event: int = 1
    group: int = 1
    stall_after: int = 0
    stall_ms: float = 0.0
    ending: Ending = Ending.COMPLETE
    end_after: int = 0
    status: int = 200
    answer: Answer = Answer.STREAM
    usage: bool = False
    gzip: bool = False
    stamp: bool = False
    server_header: str = "ssediag-lab-instance"
    content_type: str = "text/event-stream"

    def __post_init__(self) -> None:
        for name in ("tokens_per_event", "group"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more")
        for name in ("tokens", "gap_ms", "prefill_ms", "stall_ms"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative")
        if self.gzip and self.has_length:
            raise ValueError("gzip has no length before its end; choose another framing")

    @property
    def has_length(self) -> bool:
        """Whether the response announces its length."""
        return self.framing is Framing.LENGTH or self.ending is Ending.SHORT


def changed(settings: Settings, pairs: Iterable[tuple[str, str]]) -> Settings:
    """Give the settings with the named ones changed; raises ValueError with the bad one's name.

    Names that no setting has are passed over: they belong to the request, not to the lab.
    """
    known = {field.name: field.type for field in fields(Settings)}
    texts = {name: text for name, text in pairs if name in known}
    values = {name: _value(name, known[name], text) for name, text in texts.items()}
    return replace(settings, **values)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add one option per setting, as text that ``changed`` reads."""
    for field in fields(Settings):
        option = "--" + field.name.replace("_", "-")
        kind: Any = field.type
        choices = list(kind) if issubclass(kind, StrEnum) else None
        if kind is bool:
            parser.add_argument(option, nargs="?", const="1", help="default: 0")
        else:
            parser.add_argument(option, choices=choices, help=f"default: {field.default}")


def _value(name: str, kind: Any, text: str) -> Any:
    try:
        return bool(int(text)) if kind is bool else kind(text)
    except ValueError:
        raise ValueError(f"{name}={text!r} is no {kind.__name__.lower()}") from None
