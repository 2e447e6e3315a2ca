"""From a decoded stream to its arrivals: deliveries of body bytes and the events they complete."""

from bisect import bisect_left, bisect_right
from collections import Counter

from ssediag.model.cadence import Arrivals
from ssediag.model.recording import Quality
from ssediag.model.stream import Stream


def arrivals_of(stream: Stream) -> Arrivals:
    """Keep the reads that brought body bytes, and tie the events to them.

    An event counts as arrived with its last byte that says something: the blank line that
    completes it may come later without making the event late.
    """
    reads = stream.reads
    kept = [index for index, count in enumerate(reads.body_bytes) if count > 0]
    chunk_ends = Counter(stream.chunks.last_read)
    return Arrivals(
        earliest_ns=tuple(reads.earliest_ns[index] for index in kept),
        latest_ns=tuple(reads.latest_ns[index] for index in kept),
        dated=tuple(reads.quality[index] is not Quality.UNKNOWN for index in kept),
        byte_counts=tuple(reads.body_bytes[index] for index in kept),
        chunk_counts=tuple(chunk_ends[index] for index in kept),
        event_delivery=_positions(kept, stream.events.data_read),
        event_first_delivery=_positions(kept, stream.events.first_read),
        event_bytes=stream.events.size_bytes,
    )


def _positions(kept: list[int], read_indices: tuple[int, ...]) -> tuple[int, ...]:
    """For each read the last kept one that is not later: text may surface when a coding ends."""
    return tuple(max(bisect_right(kept, index) - 1, 0) for index in read_indices)


def deliver(releases: list[tuple[int, int]], event_bytes: tuple[int, ...]) -> Arrivals:
    """The arrivals of a stream whose bytes are released as ``(time_ns, byte count)`` in order.

    An event arrives with the release that carries its last byte.
    """
    ends: list[int] = []
    total = 0
    for _, count in releases:
        total += count
        ends.append(total)
    event_ends: list[int] = []
    end = 0
    for size in event_bytes:
        end += size
        event_ends.append(min(end, total))
    starts = [0, *event_ends[:-1]] if event_ends else []
    times = tuple(time_ns for time_ns, _ in releases)
    return Arrivals(
        earliest_ns=times,
        latest_ns=times,
        dated=(True,) * len(times),
        byte_counts=tuple(count for _, count in releases),
        chunk_counts=(1,) * len(times),
        event_delivery=tuple(bisect_left(ends, end) for end in event_ends),
        event_first_delivery=tuple(bisect_left(ends, start + 1) for start in starts),
        event_bytes=event_bytes,
    )
