"""The rhythm of one stream: what arrived when, and how it falls into bursts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Deliveries of body bytes, and the events that they completed.

    A delivery is a read that brought body bytes; it happened within its ``earliest_ns`` …
    ``latest_ns`` and is ``dated`` unless that interval says nothing. An event is complete with
    delivery ``event_delivery`` and began in ``event_first_delivery``. ``chunk_counts`` are the
    HTTP chunks or DATA frames that ended in a delivery. Columns of one prefix are equally long.
    """

    earliest_ns: tuple[int, ...]
    latest_ns: tuple[int, ...]
    dated: tuple[bool, ...]
    byte_counts: tuple[int, ...]
    chunk_counts: tuple[int, ...]
    event_delivery: tuple[int, ...]
    event_first_delivery: tuple[int, ...]
    event_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Burst:
    """Deliveries that came together: body bytes, events completed, chunks ended.

    ``splits_event``: the burst ended in the middle of an event. ``proven``: the arrival
    intervals are narrow enough to say that its deliveries came together.
    """

    began_ns: int
    ended_ns: int
    byte_count: int
    event_count: int
    chunk_count: int
    splits_event: bool
    proven: bool


@dataclass(frozen=True, slots=True)
class Cadence:
    """The rhythm of one stream.

    ``together_ns`` is the distance up to which two arrivals count as one burst. Of the gaps
    between neighbouring events, ``together_count`` are proven smaller than it, ``apart_count``
    proven larger, ``undated_count`` neither. ``times_ns`` are the events' latest bounds.
    """

    event_count: int
    times_ns: tuple[int, ...]
    event_bytes: tuple[int, ...]
    together_ns: int
    together_count: int
    apart_count: int
    undated_count: int
    bursts: tuple[Burst, ...]
