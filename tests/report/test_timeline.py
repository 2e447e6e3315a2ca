"""Strips: even for a stream, posts for bursts, all on one axis."""

from itertools import pairwise

import pytest

from ssediag.report.timeline import Line, axis, strips
from tests.report.results import BLOCKS, MS, STREAMED, WHOLE

LINES = [Line(times, times[-1]) for times in (STREAMED, BLOCKS, WHOLE)]
SPAN_NS = max(line.end_ns for line in LINES)


def test_token_by_token_looks_even_and_bursts_look_like_posts() -> None:
    even, posts, whole = strips(LINES, SPAN_NS, 60, unicode=True)
    assert set(even) <= set("·▁ ")
    assert set(posts) <= set("·▁▄▅▆▇█ ")
    assert posts.count("·") > 45
    assert (whole.count("█"), whole.count("·")) == (1, 59)


def test_without_unicode_the_same_in_ascii() -> None:
    even, posts, whole = strips(LINES, SPAN_NS, 60, unicode=False)
    assert (even + posts + whole).isascii()
    assert set(even) <= set(". ")
    assert whole == " " * 59 + "@"


@pytest.mark.parametrize("width", [1, 2, 10, 60, 200])
def test_every_strip_and_the_axis_are_as_wide_as_asked(width: int) -> None:
    assert {len(strip) for strip in strips(LINES, SPAN_NS, width, unicode=True)} == {width}
    line, times = axis(SPAN_NS, width)
    assert len(line) == width
    assert len(times) <= width


def test_a_line_that_ended_is_blank_from_then_on_and_one_that_hangs_is_not() -> None:
    ended, hanging = strips(
        [Line((5 * MS,), 5 * MS), Line((5 * MS,), 100 * MS)], 100 * MS, 10, unicode=True
    )
    assert ended == "▁         "
    assert hanging == "▁·········"


def test_more_events_in_a_cell_are_never_drawn_lower() -> None:
    marks = "·▁▂▃▄▅▆▇█"
    drawn = [
        strips([Line((0,) * count, 0), Line(WHOLE, 0)], 10, 20, unicode=True)[0][0]
        for count in range(60)
    ]
    heights = [marks.index(mark) for mark in drawn]
    assert all(left <= right for left, right in pairwise(heights))
    assert (heights[0], heights[1], heights[2]) == (0, 1, 1)


def test_times_outside_the_axis_fall_in_its_first_or_last_cell() -> None:
    (strip,) = strips([Line((-5, 500), 500)], 100, 5, unicode=True)
    assert strip == "▁···▁"


def test_a_stream_in_one_moment_is_one_cell() -> None:
    (strip,) = strips([Line((0, 0, 0), 0)], 0, 5, unicode=True)
    assert strip[0] != "·"
    assert strip[1:] == "    "


def test_ticks_are_round_times() -> None:
    line, times = axis(1_680 * MS, 60)
    assert times.split("  ")[0] == "0"
    assert [word.strip() for word in times.split("  ") if word] == ["0", "500 ms", "1 s", "1.5 s"]
    assert (line[0], line.count("┴")) == ("└", 3)
    assert axis(1_680 * MS, 60, unicode=False)[0].isascii()
