"""Arrivals as strips of cells on one time axis: even for a stream, posts for bursts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ssediag.report.wording import duration_text

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*#%@"
# A cell that holds up to twice what an even flow would put there is drawn as even: jitter alone
# does that. The tallest post is eight times that, or the largest cell of all strips if larger.
_EVEN = 2
_LEAST_TOP = 4
_TICK_COUNT = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One hop's arrivals; ``end_ns`` is when its watching ended."""

    times_ns: tuple[int, ...]
    end_ns: int


def strips(lines: Sequence[Line], span_ns: int, width: int, *, unicode: bool) -> list[str]:
    """A strip of ``width`` cells for each of ``lines``, all on the axis 0 … ``span_ns``.

    The height of a cell is the number of events that arrived in it, on a scale that all strips
    share: the lowest mark is what an even flow would bring, then logarithmic, so that one huge
    burst does not flatten the others. Cells after the end of a line are blank.
    """
    counts = [_counts(line, span_ns, width) for line in lines]
    ratios = [_ratios(cells) for cells in counts]
    top = max((ratio for cells in ratios for ratio in cells), default=0)
    marks, empty = (_BLOCKS, "·") if unicode else (_ASCII, " ")
    return [
        "".join(_mark(ratio, max(top, _LEAST_TOP), marks) or empty for ratio in cells[:open_count])
        + " " * (width - open_count)
        for line, cells in zip(lines, ratios, strict=True)
        for open_count in [_cell(line.end_ns, span_ns, width) + 1]
    ]


def axis(span_ns: int, width: int, *, unicode: bool = True) -> tuple[str, str]:
    """The scale under the strips, ``width`` columns: a line with ticks, and their times."""
    step_ns = _round_step(span_ns)
    corner, tick, dash = ("└", "┴", "─") if unicode else ("+", "+", "-")
    line = [dash] * width
    times = [" "] * width
    for place_ns in range(0, span_ns + 1, step_ns):
        column = _cell(place_ns, span_ns, width)
        line[column] = tick if column else corner
        label = duration_text(place_ns) if place_ns else "0"
        start = min(column, width - len(label))
        if start >= 0 and not "".join(times[max(start - 1, 0) :]).strip():
            times[start : start + len(label)] = label
    return "".join(line), "".join(times).rstrip()


def _cell(time_ns: int, span_ns: int, width: int) -> int:
    """The cell that a time falls in; times outside the axis fall in its first or last one."""
    place = time_ns * width // span_ns if span_ns > 0 else 0
    return min(max(place, 0), width - 1)


def _counts(line: Line, span_ns: int, width: int) -> list[int]:
    counts = [0] * width
    for time_ns in line.times_ns:
        counts[_cell(time_ns, span_ns, width)] += 1
    return counts


def _ratios(counts: Sequence[int]) -> list[float]:
    """Each count over what counts as even: twice the mean, and never less than two events."""
    even = _EVEN * max(1.0, sum(counts) / len(counts))
    return [count / even for count in counts]


def _mark(ratio: float, top: float, marks: str) -> str:
    """The mark for a cell; empty for a cell without events."""
    if ratio <= 1:
        return marks[0] if ratio > 0 else ""
    return marks[math.ceil((len(marks) - 1) * math.log(ratio) / math.log(top) - 1e-9)]


def _round_step(span_ns: int) -> int:
    """The distance between ticks: 1, 2 or 5 times a power of ten, about five to the axis."""
    least = max(span_ns / _TICK_COUNT, 1)
    power = 10 ** math.floor(math.log10(least))
    return int(next(power * size for size in (1, 2, 5, 10) if power * size >= least))
