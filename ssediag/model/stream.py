"""A recording taken apart: head, framing, coding, and events, each tied to the reads it came in.

The tables are columns of equal length: a stream can have millions of events, and an object per
event costs more than decoding it.
"""

from dataclasses import dataclass
from enum import StrEnum

from ssediag.model.recording import (
    Clock,
    Hop,
    NotMeasured,
    Phases,
    Quality,
    SentRequest,
)


class EventKind(StrEnum):
    """What an event is to a reader of text."""

    TOKEN = "token"  # noqa: S105 - a token of text, not a secret
    REASONING = "reasoning"
    TOOL = "tool"
    ROLE = "role"
    USAGE = "usage"
    KEEPALIVE = "keepalive"
    ERROR = "error"
    END = "end"
    OTHER = "other"


class Framing(StrEnum):
    """How the response body says where it ends."""

    CHUNKED = "chunked"
    LENGTH = "length"
    UNTIL_CLOSE = "until-close"
    FRAMES = "frames"
    NONE = "none"


class Ending(StrEnum):
    """How the response ended on the wire; the contract's names."""

    COMPLETE = "complete"
    NO_LAST_CHUNK = "no-last-chunk"
    SHORT = "short"
    RESET = "reset"
    EOF = "eof"
    TIMED_OUT = "timed-out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Head:
    """Status line and header fields as received, and the read that completed them."""

    status: int
    reason: str
    version: str
    headers: tuple[tuple[str, str], ...]
    read_index: int

    def header(self, name: str) -> str | None:
        """The values of field ``name`` (any case), joined by a comma; None if there is none."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None


@dataclass(frozen=True, slots=True)
class ReadTable:
    """When each read arrived and how much it brought on each layer.

    ``wire_bytes`` are all bytes, ``body_bytes`` those of the body without its framing,
    ``plain_bytes`` those that became decodable with this read once a content coding is undone.
    """

    earliest_ns: tuple[int, ...] = ()
    latest_ns: tuple[int, ...] = ()
    quality: tuple[Quality, ...] = ()
    segment_count: tuple[int | None, ...] = ()
    wire_bytes: tuple[int, ...] = ()
    body_bytes: tuple[int, ...] = ()
    plain_bytes: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.latest_ns)


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """Transfer chunks or DATA frames: payload size, and the reads of their first and last byte."""

    size_bytes: tuple[int, ...] = ()
    first_read: tuple[int, ...] = ()
    last_read: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.size_bytes)


@dataclass(frozen=True, slots=True)
class EventTable:
    """Complete events, comments left out.

    ``first_read`` brought the first byte, ``data_read`` the last byte of the last line that says
    something, ``dispatch_read`` the byte that completed the event. ``size_bytes`` counts the
    event in the decoded body, its blank line included. ``token_count`` is what the event itself
    says (usage growth, token ids), or None. ``text_bytes`` is the length of the text delta.
    ``data`` is the payload, kept on request only.
    """

    kind: tuple[EventKind, ...] = ()
    first_read: tuple[int, ...] = ()
    data_read: tuple[int, ...] = ()
    dispatch_read: tuple[int, ...] = ()
    size_bytes: tuple[int, ...] = ()
    text_bytes: tuple[int, ...] = ()
    token_count: tuple[int | None, ...] = ()
    data: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True)
class Stream:
    """One run at one hop, decoded: what the diagnosis works on, and what a recording file holds.

    ``coding`` is the content coding that was undone (None: identity). ``dialect`` is the id of
    the payload's format, or None when nothing was recognised. ``terminator`` says whether the
    dialect's own end was seen (None: the dialect has none). ``error`` is the text of an error
    event. ``notes`` are defects of framing, coding or text, one clause each.
    ``looks_like`` names what a body without events resembles (``json``, ``html``, ``gzip``…).
    """

    hop: Hop
    run: int
    experiment: str | None
    protocol: str
    request: SentRequest
    phases: Phases
    clock: Clock
    began_epoch_ns: int
    peer: str | None
    not_measured: NotMeasured | None
    head: Head | None
    framing: Framing
    coding: str | None
    dialect: str | None
    ending: Ending
    terminator: bool | None
    finish_reason: str | None
    usage_tokens: int | None
    error: str | None
    looks_like: str | None
    reads: ReadTable
    chunks: ChunkTable
    events: EventTable
    comment_reads: tuple[int, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
