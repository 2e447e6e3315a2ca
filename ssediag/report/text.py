"""The report for a person at a terminal: who, what, why, what to change, what stays open."""

import textwrap
from collections.abc import Iterator, Sequence
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ssediag.model.diagnosis import (
    Alternative,
    Context,
    Culprit,
    Diagnosis,
    FoundMechanism,
    HopResult,
    Origin,
    Severity,
)
from ssediag.model.mechanism import Fix, Verdict
from ssediag.report.headline import headline
from ssediag.report.timeline import axis, strip
from ssediag.report.wording import (
    clean,
    duration_text,
    evidence_clauses,
    number_text,
    parameter_text,
)

_STYLES = {
    Verdict.STREAMS: "green",
    Verdict.BURSTS: "red",
    Verdict.HELD: "red",
    Verdict.CUT: "red",
    Verdict.BROKEN: "red",
    Verdict.NOT_MEASURED: "yellow",
    Verdict.INCONCLUSIVE: "yellow",
}
_NARROW = 72
_GAP = 2


def text_report(
    diagnosis: Diagnosis,
    context: Context,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """The report, ``width`` columns wide, ending in a line end.

    ``unicode`` False draws with ASCII only. Nothing that came from the network can control the
    terminal: every such text is cleaned.
    """
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as captured:
        for part in _parts(diagnosis, context, width, unicode=unicode):
            console.print(part, soft_wrap=isinstance(part, Text))
    lines = captured.get().splitlines()
    text = "\n".join(line if color else line.rstrip() for line in lines).strip("\n") + "\n"
    return text if unicode else _ascii(text)


def _ascii(text: str) -> str:
    """The drawing characters in ASCII; other text keeps what it can."""
    table = {"–": "-", "…": "...", "·": "|", "→": "->", "±": "+-", "µ": "u", "×": "x", "─": "-"}
    return "".join(table.get(letter, letter) for letter in text)


def _parts(
    diagnosis: Diagnosis, context: Context, width: int, *, unicode: bool
) -> Iterator[Text | Table]:
    yield _wrapped(headline(diagnosis), width, style=_style(diagnosis.verdict, bold=True))
    yield Text()
    yield _table(diagnosis.hops, width)
    yield from _timeline(diagnosis.hops, width, unicode=unicode)
    yield from _failures(diagnosis.hops, width)
    yield from _why(diagnosis, width)
    yield from _fixes(diagnosis, width)
    yield from _notes(diagnosis, width)
    yield from _list("Not observable", diagnosis.not_observable, width)
    yield Text()
    yield _wrapped(_cost(diagnosis, context), width, style="dim")


def _style(verdict: Verdict, *, bold: bool = False) -> str:
    return ("bold " if bold else "") + _STYLES[verdict]


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "", style: str = "") -> Text:
    """``text`` in lines of at most ``width`` columns; long words such as URLs stay whole."""
    lines = textwrap.fill(
        clean(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return Text(lines, style=style)


def _title(text: str) -> Text:
    return Text("\n" + text, style="bold")


def _table(hops: Sequence[HopResult], width: int) -> Table:
    """A row per hop, the instance first. Names give way before numbers and verdicts do."""
    headers = ["#", "hop", "verdict", "first", "gap p50", "ev/burst", "bursts", "product"]
    rows = [_row(result) for result in hops]
    columns = zip(headers, *_plain(rows), strict=True)
    widths = [max(cell_len(text) for text in column) for column in columns]
    if width < _NARROW:
        headers.pop()
    spare = width - sum(widths[: len(headers)]) - _GAP * (len(headers) - 1)
    for place, least in ((7, 8), (1, 8)):
        if place < len(headers) and spare < 0:
            cut = min(-spare, max(widths[place] - least, 0))
            widths[place] -= cut
            spare += cut
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for header, column in zip(headers, widths, strict=False):
        right = header not in {"hop", "verdict", "product"}
        table.add_column(
            header,
            justify="right" if right else "left",
            width=column,
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in rows:
        table.add_row(*row[: len(headers)])
    return table


def _plain(rows: Sequence[Sequence[Text]]) -> list[list[str]]:
    return [[cell.plain for cell in row] for row in rows]


def _row(result: HopResult) -> list[Text]:
    metrics = result.metrics
    return [
        Text(str(result.hop.position)),
        Text(clean(result.hop.name)),
        Text(_verdict_word(result), style=Style.parse(_style(result.verdict))),
        Text(_duration(metrics.first_event_ns)),
        Text(_duration(metrics.gap_ns_p50)),
        Text(_number(metrics.events_per_burst_p50)),
        Text(_number(metrics.burst_count)),
        Text(clean(result.product.name) if result.product else "–"),
    ]


def _verdict_word(result: HopResult) -> str:
    """The verdict; a fault that came from further in is marked as such."""
    faults = [found for found in result.mechanisms if found.origin is Origin.HERE]
    inherited = result.mechanisms and not faults and result.verdict is not Verdict.STREAMS
    return f"({result.verdict.value})" if inherited else result.verdict.value


def _duration(ns: int | None) -> str:
    return "–" if ns is None else duration_text(ns)


def _number(value: float | None) -> str:
    return "–" if value is None else number_text(value)


def _timeline(hops: Sequence[HopResult], width: int, *, unicode: bool) -> Iterator[Text]:
    """The arrivals of every hop on one time axis."""
    shown = [result for result in hops if result.arrivals_ns]
    if not shown:
        return
    span_ns = max(result.arrivals_ns[-1] for result in shown)
    names = max(len(clean(result.hop.name)) for result in shown)
    names = min(names, 16)
    cells = width - names - 3
    yield _title("Arrivals (height: events in that moment)")
    for result in shown:
        name = clean(result.hop.name)[:names].ljust(names)
        cell = strip(result.arrivals_ns, span_ns, cells, unicode=unicode)
        line = Text(f"  {name} ")
        yield line.append(cell, style=_style(result.verdict))
    yield Text(" " * (names + 3) + axis(duration_text(span_ns), cells), style="dim")


def _failures(hops: Sequence[HopResult], width: int) -> Iterator[Text]:
    """One line for each hop that could not be measured: hop, stage, reason."""
    lost = [result for result in hops if result.verdict is Verdict.NOT_MEASURED]
    if lost:
        yield _title("Not measured")
    for result in lost:
        for attempt in result.attempts[:1]:
            stage = "ok" if attempt.outcome is None else attempt.outcome.value
            line = f"{result.hop.name}: {stage}: {attempt.reason or 'no reason known'}"
            yield _wrapped(line, width, first="  ", rest="    ", style="yellow")


def _why(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    culprit = diagnosis.culprit
    if culprit is None:
        return
    yield _title("Why")
    yield _bullet(_between(culprit), width)
    for sentence in culprit.because:
        yield _bullet(sentence, width)
    found = _guilty(diagnosis, culprit)
    clauses = [] if found is None else evidence_clauses(found.evidence)
    if clauses:
        yield _bullet("; ".join(clauses) + ".", width)
    for tried in diagnosis.experiments:
        if tried.decided:
            yield _bullet(f"Experiment {tried.name}: {tried.decided}.", width)
    if culprit.alternatives:
        yield _bullet(_alternatives(culprit.alternatives), width)


def _between(culprit: Culprit) -> str:
    if culprit.inner is None:
        return f"It happens at {culprit.hop} or behind it."
    return (
        f"It happens between {culprit.inner} and {culprit.hop}; a hop that was not measured may "
        "sit there."
    )


def _alternatives(alternatives: Sequence[Alternative]) -> str:
    named = ", ".join(f"{other.mechanism} ({other.confidence:.2f})" for other in alternatives)
    return f"Also possible: {named}."


def _guilty(diagnosis: Diagnosis, culprit: Culprit) -> FoundMechanism | None:
    for result in diagnosis.hops:
        if result.hop.name == culprit.hop:
            return next((one for one in result.mechanisms if one.id == culprit.mechanism), None)
    return None


def _fixes(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """What to change, for every fault that works at its hop."""
    for result in diagnosis.hops:
        for found in result.mechanisms:
            if found.origin is Origin.HERE and found.fixes and result.verdict in _STYLES:
                yield from _fix_block(result, found, width)


def _fix_block(result: HopResult, found: FoundMechanism, width: int) -> Iterator[Text]:
    if _STYLES[result.verdict] != "red":
        return
    product = result.product
    who = f"{product.name}, by {product.because}" if product else "a hop without a name"
    title = f"What to change at {result.hop.name} ({who})"
    yield Text()
    yield _wrapped(title, width, style="bold")
    detail = parameter_text(found)
    yield _wrapped(f"{found.id}{': ' + detail if detail else ''}", width, first="  ")
    for fix in found.fixes:
        yield from _fix(fix, width)


def _fix(fix: Fix, width: int) -> Iterator[Text]:
    proof = f"[{fix.proof.value}: {fix.source}]"
    yield _wrapped(fix.text, width, first="  ", rest="  ")
    if fix.config is not None:
        yield Text(textwrap.indent(fix.config, "      "), style="cyan")
    yield _wrapped(proof, width, first="  ", rest="  ", style="dim")


def _notes(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """Findings besides the rhythm, and mechanisms that are no fault."""
    lines = [
        f"{result.hop.name}: {found.id}: {'; '.join(evidence_clauses(found.evidence))}"
        for result in diagnosis.hops
        for found in result.mechanisms
        if _STYLES[result.verdict] != "red" and found.origin is Origin.HERE
    ]
    for finding in diagnosis.findings:
        mark = "" if finding.severity is Severity.NOTE else f"{finding.severity.value}: "
        said = f"{mark}{finding.summary}"
        evidence = "" if finding.evidence in finding.summary else f" ({finding.evidence})"
        where = "" if finding.hop is None else f"{finding.hop}: "
        lines.append(f"{where}{said}{evidence}" + (f" → {finding.fix}" if finding.fix else ""))
    yield from _list("Notes", lines, width)


def _list(title: str, lines: Sequence[str], width: int) -> Iterator[Text]:
    if lines:
        yield _title(title)
    for line in lines:
        yield _bullet(line, width)


def _bullet(text: str, width: int) -> Text:
    return _wrapped(text, width, first="  - ", rest="    ")


def _cost(diagnosis: Diagnosis, context: Context) -> str:
    cost = diagnosis.cost
    runs = max((result.metrics.run_count for result in diagnosis.hops), default=0)
    floors = [result.metrics.floor_ns for result in diagnosis.hops if result.metrics.floor_ns]
    bar = f", ±{duration_text(max(floors))}" if floors else ""
    return (
        f"{runs} {'run' if runs == 1 else 'runs'} × {len(diagnosis.hops)} "
        f"{'hop' if len(diagnosis.hops) == 1 else 'hops'}, {cost.request_count} requests, "
        f"{cost.token_count} tokens, {duration_text(cost.elapsed_ns)} · {context.clock} clock{bar}"
        f" · ssediag {context.version}"
    )
