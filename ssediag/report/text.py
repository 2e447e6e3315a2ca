"""The report for a person at a terminal: who, what, why, what to change, what stays open."""

import textwrap
from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ssediag.model.diagnosis import (
    Context,
    Culprit,
    Diagnosis,
    Finding,
    FoundMechanism,
    HopResult,
    Origin,
    Severity,
    StepResult,
)
from ssediag.model.mechanism import Fix, Verdict
from ssediag.report.headline import headline, reason_of
from ssediag.report.hop_table import STYLES, arrivals, hop_table, inherits
from ssediag.report.wording import (
    brief,
    clean,
    counted,
    duration_text,
    evidence_clauses,
    listed,
    parameter_text,
    sentence,
)

_FAULTS = frozenset({Verdict.BURSTS, Verdict.HELD, Verdict.CUT, Verdict.BROKEN})
# Mechanisms that are no fault of the path (the contract's table of verdicts).
_NO_FAULT = frozenset({"source-batching", "source-stall", "packet-loss", "probe-lag"})
_LONGEST_QUOTE = 100  # characters of what a server said
_MOST_HEADERS = 6
_KEPT = "\N{NO-BREAK SPACE}"  # no line ends here; printed as a plain space
_SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: ""}
_IN_ASCII = str.maketrans(
    {"–": "-", "…": "...", "·": "|", "→": "->", "±": "+-", "µ": "u", "×": "x"}
)


def text_report(
    diagnosis: Diagnosis,
    context: Context,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """The report, ``width`` columns wide, ending in a line end.

    ``unicode`` False gives ASCII only. Nothing that came from the network can control the
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
    lines = captured.get().split("\n")
    text = "\n".join(line if color else line.rstrip() for line in lines).strip("\n") + "\n"
    return text if unicode else _ascii(text)


def _ascii(text: str) -> str:
    """Drawing characters as their likes in ASCII, all others as escapes."""
    return text.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _parts(
    diagnosis: Diagnosis, context: Context, width: int, *, unicode: bool
) -> Iterator[Text | Table]:
    style = f"bold {STYLES[diagnosis.verdict]}"
    yield _wrapped(headline(diagnosis), width, style=style)
    if not _nothing_to_show(diagnosis):
        yield Text()
        yield hop_table(diagnosis.hops, width)
        if any(inherits(result) for result in diagnosis.hops):
            yield _wrapped("(in brackets: already so when it arrived there)", width, style="dim")
        yield from arrivals(diagnosis.hops, width, unicode=unicode)
        yield from _failures(diagnosis.hops, width)
    yield from _why(diagnosis, width)
    yield from _fixes(diagnosis, width)
    yield from _findings(diagnosis, width)
    yield from _list("Not observable", diagnosis.not_observable, width)
    yield Text()
    yield _wrapped(_cost(diagnosis, context), width, style="dim")


def _nothing_to_show(diagnosis: Diagnosis) -> bool:
    """One hop, and that was not measured: the headline has said it all."""
    return len(diagnosis.hops) <= 1 and diagnosis.verdict is Verdict.NOT_MEASURED


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
    return Text(lines.replace(_KEPT, " "), style=style)


def _title(text: str) -> Text:
    return Text("\n" + text, style="bold")


def _list(title: str, lines: Sequence[str], width: int) -> Iterator[Text]:
    if lines:
        yield _title(title)
    for line in lines:
        yield _wrapped(line, width, first="  - ", rest="    ")


def _failures(hops: Sequence[HopResult], width: int) -> Iterator[Text]:
    """One line for each hop that could not be measured: hop, stage, reason."""
    lost = [result for result in hops if result.verdict is Verdict.NOT_MEASURED]
    if lost:
        yield _title("Not measured")
    for result in lost:
        line = f"{result.hop.name}: {brief(reason_of(result), _LONGEST_QUOTE)}"
        yield _wrapped(line, width, first="  - ", rest="    ", style=STYLES[result.verdict])


def _why(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """Where it happens, and what the verdict stands on."""
    culprit = diagnosis.culprit
    if culprit is not None:
        yield from _list("Why", list(_reasons(diagnosis, culprit)), width)


def _reasons(diagnosis: Diagnosis, culprit: Culprit) -> Iterator[str]:
    if culprit.inner is None:
        yield f"It happens at {culprit.hop} or behind it."
    else:
        yield (
            f"It happens between {culprit.inner} and {culprit.hop}; a hop that was not measured "
            "may sit there."
        )
    yield from culprit.because
    for result, found in _found(diagnosis):
        if (result.hop.name, found.id) == (culprit.hop, culprit.mechanism):
            yield from filter(None, [_evidence(result, found)])
    for step in diagnosis.steps:
        if (step.inner, step.outer) == (culprit.inner, culprit.hop):
            yield from _changes(diagnosis, step)
    for tried in diagnosis.experiments:
        if tried.decided:
            yield f"Experiment {tried.name}: {tried.decided}."
    if culprit.alternatives:
        named = [f"{one.mechanism} ({one.confidence:.2f})" for one in culprit.alternatives]
        yield f"Also possible: {listed(named)}."


def _changes(diagnosis: Diagnosis, step: StepResult) -> Iterator[str]:
    """What else the guilty step did: it made the reader wait, and it left its headers."""
    outer = next(result for result in diagnosis.hops if result.hop.name == step.outer)
    added_ns = step.added_first_event_ns
    if added_ns is not None and added_ns > (outer.metrics.floor_ns or 0):
        yield f"The first event comes {duration_text(added_ns)} later than at {step.inner}."
    if step.headers_added and outer.product is None:
        names = listed([brief(name, _LONGEST_QUOTE) for name in step.headers_added[:_MOST_HEADERS]])
        yield f"Headers that only {step.outer} sends: {names}."


def _found(diagnosis: Diagnosis) -> Iterator[tuple[HopResult, FoundMechanism]]:
    for result in diagnosis.hops:
        for found in result.mechanisms:
            yield result, found


def _evidence(result: HopResult, found: FoundMechanism) -> str:
    return sentence(evidence_clauses(found.evidence, result.metrics.floor_ns))


def _is_fault(result: HopResult, found: FoundMechanism) -> bool:
    """Whether ``found`` is a fault that works at this hop and was not allowed."""
    here = found.origin is Origin.HERE and found.id not in _NO_FAULT
    return here and result.verdict in _FAULTS


def _fixes(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """What to change, for every fault; nothing while nobody is found guilty."""
    if diagnosis.culprit is None:
        return
    for result, found in _found(diagnosis):
        if found.fixes and _is_fault(result, found):
            yield from _fix_block(result, found, width)


def _fix_block(result: HopResult, found: FoundMechanism, width: int) -> Iterator[Text]:
    product = result.product
    because = brief(product.because, _LONGEST_QUOTE) if product else ""
    who = f"{product.name}, by {because}" if product else "a hop without a name"
    yield Text()
    yield _wrapped(f"What to change at {result.hop.name} ({who})", width, style="bold")
    detail = parameter_text(found)
    yield _wrapped(f"{found.id}: {detail}" if detail else found.id, width, first="  ")
    for fix in found.fixes:
        yield from _fix(fix, width)


def _fix(fix: Fix, width: int) -> Iterator[Text]:
    """The advice, what to paste (never wrapped, so that it stays right), and its source."""
    yield _wrapped(fix.text, width, first="  ", rest="  ")
    if fix.config is not None:
        yield Text(textwrap.indent(fix.config, "      "), style="cyan")
    proof = f"[{fix.proof.value}: {fix.source}]"
    yield _wrapped(proof, width, first="  ", rest="  ", style="dim")


def _findings(diagnosis: Diagnosis, width: int) -> Iterator[Text]:
    """What else was seen: mechanisms that are no fault, then findings besides the rhythm."""
    notes = [
        _note(result, found)
        for result, found in _found(diagnosis)
        if found.origin is Origin.HERE
        and (diagnosis.culprit is None or not _is_fault(result, found))
    ]
    if notes or diagnosis.findings:
        yield _title("Also seen")
    for note in notes:
        yield _wrapped(note, width, first="  - ", rest="    ")
    for finding in diagnosis.findings:
        yield from _finding(finding, width)


def _note(result: HopResult, found: FoundMechanism) -> str:
    detail = parameter_text(found)
    said = _evidence(result, found)
    return f"{result.hop.name}: {found.id}{', ' + detail if detail else ''}. {said}".rstrip()


def _finding(finding: Finding, width: int) -> Iterator[Text]:
    where = "" if finding.hop is None else f"{finding.hop}: "
    quote = brief(finding.evidence, _LONGEST_QUOTE)
    evidence = "" if finding.evidence in finding.summary else f" ({quote})"
    line = f"{where}{finding.severity.value} {finding.id}: {finding.summary}{evidence}"
    style = _SEVERITY_STYLES[finding.severity]
    yield _wrapped(line, width, first="  - ", rest="    ", style=style)
    if finding.fix is not None:
        yield _wrapped(f"→ {finding.fix}", width, first="    ", rest="      ")


def _cost(diagnosis: Diagnosis, context: Context) -> str:
    """What it took, and how exact it is; the parts stay whole where a line must end."""
    cost = diagnosis.cost
    runs = max((result.metrics.run_count for result in diagnosis.hops), default=0)
    floors = [result.metrics.floor_ns for result in diagnosis.hops if result.metrics.floor_ns]
    took = (
        f"{counted(runs, 'run')} × {counted(len(diagnosis.hops), 'hop')}",
        counted(cost.request_count, "request"),
        counted(cost.token_count, "token"),
        duration_text(cost.elapsed_ns),
    )
    clock = f"{context.clock} clock" + (f" ±{duration_text(max(floors))}" if floors else "")
    return " · ".join(part.replace(" ", _KEPT) for part in (", ".join(took), clock))
