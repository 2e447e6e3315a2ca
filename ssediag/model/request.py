"""What is to be sent and how long we are willing to wait: the input of a capture."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. Holds secrets: it is never stored, shown or put into a recording."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a run may take, in nanoseconds, and how much it may bring.

    ``total_ns`` is hard and covers everything from the name lookup to the last byte.
    ``first_event_ns`` runs from the request until the first complete event, ``idle_ns`` between
    bytes after that. ``max_event_count`` None means: until the stream ends.
    """

    total_ns: int = 60_000_000_000
    connect_ns: int = 10_000_000_000
    first_event_ns: int = 30_000_000_000
    idle_ns: int = 30_000_000_000
    max_event_count: int | None = None
    max_bytes: int = 32 * 1024 * 1024
