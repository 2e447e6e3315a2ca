"""The cadence of a stream: which arrivals came together, which apart, and which nobody can tell.

A burst is claimed only when the arrival intervals prove it: a read that the tool itself picked up
late has a wide interval, and its gaps become "undated", never "together".
"""

from bisect import bisect_right
from itertools import pairwise

from ssediag.model.cadence import Arrivals, Burst, Cadence

# A tenth of the mean gap separates "together" from "apart": a Poisson source then shows about
# 1.1 events a burst (1 / (1 - (1 - e^-0.1))), while any buffer that matters shows two and more.
_TOGETHER_SHARE = 0.1
# Two segments of one send lie tens of microseconds apart on loopback and up to about half a
# millisecond through a proxy under load; a kernel-dated read is right to 53 µs at p99 (measured).
_TOGETHER_FLOOR_NS = 500_000
_TOGETHER_CEILING_NS = 20_000_000


def cadence_of(arrivals: Arrivals) -> Cadence:
    """Measure ``arrivals``. With fewer than two events there are no gaps and at most one burst."""
    times = tuple(arrivals.latest_ns[index] for index in arrivals.event_delivery)
    together_ns = _together_ns(times)
    together, apart, undated = _gaps(arrivals, together_ns)
    return Cadence(
        event_count=len(times),
        times_ns=times,
        event_bytes=arrivals.event_bytes,
        together_ns=together_ns,
        together_count=together,
        apart_count=apart,
        undated_count=undated,
        bursts=_bursts(arrivals, together_ns),
    )


def _together_ns(times: tuple[int, ...]) -> int:
    if len(times) < 2:  # noqa: PLR2004 - a gap needs two
        return _TOGETHER_FLOOR_NS
    mean = (times[-1] - times[0]) / (len(times) - 1)
    return round(min(max(mean * _TOGETHER_SHARE, _TOGETHER_FLOOR_NS), _TOGETHER_CEILING_NS))


def _gaps(arrivals: Arrivals, together_ns: int) -> tuple[int, int, int]:
    """Count the gaps between neighbouring events: proven together, proven apart, undated."""
    together = apart = undated = 0
    order = arrivals.event_delivery
    for left, right in pairwise(order):
        if not (arrivals.dated[left] and arrivals.dated[right]):
            undated += 1
        elif arrivals.latest_ns[right] - arrivals.earliest_ns[left] <= together_ns:
            together += 1
        elif left != right and arrivals.earliest_ns[right] - arrivals.latest_ns[left] > together_ns:
            apart += 1
        else:
            undated += 1
    return together, apart, undated


def _bursts(arrivals: Arrivals, together_ns: int) -> tuple[Burst, ...]:
    """Join deliveries whose distance is at most ``together_ns``, bound to bound."""
    bursts: list[Burst] = []
    begin = 0
    count = len(arrivals.latest_ns)
    for index in range(1, count + 1):
        if index < count and _joined(arrivals, index, together_ns):
            continue
        bursts.append(_burst(arrivals, begin, index, together_ns))
        begin = index
    return tuple(bursts)


def _joined(arrivals: Arrivals, index: int, together_ns: int) -> bool:
    return arrivals.latest_ns[index] - arrivals.latest_ns[index - 1] <= together_ns


def _burst(arrivals: Arrivals, begin: int, end: int, together_ns: int) -> Burst:
    """The burst of deliveries ``begin`` … ``end`` - 1."""
    completed_before = bisect_right(arrivals.event_delivery, begin - 1)
    completed = bisect_right(arrivals.event_delivery, end - 1)
    begun = bisect_right(arrivals.event_first_delivery, end - 1)
    return Burst(
        began_ns=arrivals.latest_ns[begin],
        ended_ns=arrivals.latest_ns[end - 1],
        byte_count=sum(arrivals.byte_counts[begin:end]),
        event_count=completed - completed_before,
        chunk_count=sum(arrivals.chunk_counts[begin:end]),
        splits_event=begun > completed,
        proven=all(_narrow(arrivals, index, together_ns) for index in range(begin, end)),
    )


def _narrow(arrivals: Arrivals, index: int, together_ns: int) -> bool:
    """Whether delivery ``index`` came within twice the distance that counts as together."""
    width = arrivals.latest_ns[index] - arrivals.earliest_ns[index]
    return arrivals.dated[index] and width <= 2 * together_ns
