"""The hops at a glance: a row of numbers each, and their arrivals on one time axis."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ssediag.model.diagnosis import HopResult, Origin
from ssediag.model.mechanism import Verdict
from ssediag.report.timeline import Line, axis, strips
from ssediag.report.wording import clean, duration_text, gap_text, number_text

STYLES = {
    Verdict.STREAMS: "green",
    Verdict.BURSTS: "red",
    Verdict.HELD: "red",
    Verdict.CUT: "red",
    Verdict.BROKEN: "red",
    Verdict.NOT_MEASURED: "yellow",
    Verdict.INCONCLUSIVE: "yellow",
}
_NARROW = 72  # below this many columns the product has no room
_WIDE = 100  # from this many on there is room for the whole stream's numbers
_GAP = 2
_WORDS = frozenset({"hop", "verdict", "product"})
_LEAST = 8  # columns that a name keeps when all must give way
_LONGEST_NAME = 16
_NOTHING = "–"


def hop_table(hops: Sequence[HopResult], width: int) -> Table:
    """A row per hop, the instance first. Names give way before numbers and verdicts do."""
    rows = [_row(result) for result in hops]
    headers = [header for header in rows[0] if _has_room(header, width)] if rows else []
    widths = {
        header: max(cell_len(header), *(cell_len(row[header].plain) for row in rows))
        for header in headers
    }
    spare = width - sum(widths.values()) - _GAP * (len(headers) - 1)
    for header in ("product", "hop"):
        if header in widths and spare < 0:
            cut = min(-spare, max(widths[header] - _LEAST, 0))
            widths[header] -= cut
            spare += cut
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for header in headers:
        table.add_column(
            header,
            justify="left" if header in _WORDS else "right",
            width=widths[header],
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in rows:
        table.add_row(*(row[header] for header in headers))
    return table


def _has_room(header: str, width: int) -> bool:
    if header in {"events", "last"}:
        return width >= _WIDE
    return header != "product" or width >= _NARROW


def _row(result: HopResult) -> dict[str, Text]:
    metrics = result.metrics
    style = Style.parse(STYLES[result.verdict])
    return {
        "#": Text(str(result.hop.position)),
        "hop": Text(clean(result.hop.name)),
        "verdict": Text(_verdict_word(result), style=style),
        "first": Text(_duration(metrics.first_event_ns)),
        "last": Text(_duration(metrics.last_event_ns)),
        "gap p50": Text(_gap(result)),
        "events": Text(number_text(metrics.event_count)),
        "ev/burst": Text(_number(metrics.events_per_burst_p50)),
        "bursts": Text(_number(metrics.burst_count)),
        "product": Text(clean(result.product.name) if result.product else _NOTHING),
    }


def inherits(result: HopResult) -> bool:
    """Whether all that is wrong at this hop was already so further in."""
    if result.verdict is Verdict.STREAMS or not result.mechanisms:
        return False
    return all(found.origin is Origin.INHERITED for found in result.mechanisms)


def _verdict_word(result: HopResult) -> str:
    word = result.verdict.value
    return f"({word})" if inherits(result) else word


def _duration(ns: int | None) -> str:
    return _NOTHING if ns is None else duration_text(ns)


def _gap(result: HopResult) -> str:
    gap_ns = result.metrics.gap_ns_p50
    return _NOTHING if gap_ns is None else gap_text(gap_ns, result.metrics.floor_ns)


def _number(value: float | None) -> str:
    return _NOTHING if value is None else number_text(value)


def arrivals(hops: Sequence[HopResult], width: int, *, unicode: bool) -> Iterator[Text]:
    """A strip per hop that brought events, and the one axis under them all."""
    shown = [result for result in hops if result.arrivals_ns]
    if not shown:
        return
    lines = [Line(result.arrivals_ns, _end_ns(result)) for result in shown]
    span_ns = max(line.end_ns for line in lines)
    names = [clean(result.hop.name) for result in shown]
    column = min(max(cell_len(name) for name in names), _LONGEST_NAME)
    cells = width - column - 3
    drawn = strips(lines, span_ns, cells, unicode=unicode)
    yield Text("\nArrivals", style="bold").append(
        f"  one cell is {duration_text(span_ns / cells)}, its height the events in it", style="dim"
    )
    for result, name, strip in zip(shown, names, drawn, strict=True):
        line = Text(f"  {set_cell_size(name, column)} ")
        yield line.append(strip, style=STYLES[result.verdict])
    for scale in axis(span_ns, cells, unicode=unicode):
        yield Text(" " * (column + 3) + scale, style="dim")


def _end_ns(result: HopResult) -> int:
    """Until when the run was watched: silence after the last event belongs to the picture."""
    return max(result.span_ns or 0, result.arrivals_ns[-1])
