"""Arrivals as a strip of cells on a time axis: even for a stream, posts for bursts."""

from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*#@"
_EMPTY = {True: "·", False: " "}


def strip(times_ns: Sequence[int], span_ns: int, width: int, *, unicode: bool) -> str:
    """``width`` cells for 0 … ``span_ns``; a cell is the higher the more events arrived in it.

    The height is logarithmic, so that a burst does not flatten everything else: one step per
    doubling, from one event (lowest) to 128 and more (full).
    """
    counts = [0] * width
    for time_ns in times_ns:
        place = int(max(time_ns, 0) * width / span_ns) if span_ns > 0 else 0
        counts[min(place, width - 1)] += 1
    marks = _BLOCKS if unicode else _ASCII
    return "".join(
        _EMPTY[unicode] if count == 0 else marks[min(count.bit_length() - 1, len(marks) - 1)]
        for count in counts
    )


def axis(label: str, width: int) -> str:
    """A scale under the strips: 0 at the left end, ``label`` at the right one."""
    return "0" + label.rjust(width - 1)
