"""The chain judged hop by hop: what was already there, what a step added, and who is guilty."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssediag.diagnose.attempts import failure_of
from ssediag.diagnose.hops import Catalogue, HopJudgement
from ssediag.diagnose.match import Match, matches
from ssediag.diagnose.operators import OPERATORS
from ssediag.diagnose.steps import Fit, fit_step
from ssediag.diagnose.vocabulary import Facts
from ssediag.measure.quantiles import median
from ssediag.model.diagnosis import Origin
from ssediag.model.mechanism import Verdict

# A clean inner hop next to a bursting outer one rules the source out.
_CLEAN_INNER_BONUS = 0.05
_CEILING = 0.99
# Two operators whose predictions lie closer than this are a tie.
_CLEARLY_BETTER = 0.15
_MUCH_BETTER = 0.4
_FITTED_ONLY = 0.7
# Without this many events after it, a held head is no more than a burst.
_FLOWS_AFTERWARDS = 5


@dataclass(frozen=True, slots=True)
class Link:
    """A hop in its place: its mechanisms with where they come from, and the step that leads here.

    ``operator`` is what the step does ("transparent", a mechanism id, or None when it could not
    be told); ``inner`` is None at the instance. ``rhythm`` is the one among ``found`` that is a
    rhythm, as the inner hop settled it; ``alternatives`` explain the same arrivals.
    """

    judgement: HopJudgement
    inner: HopJudgement | None
    found: tuple[tuple[Match, Origin], ...]
    rhythm: Match | None
    alternatives: tuple[Match, ...]
    operator: str | None


def link_hops(judgements: Sequence[HopJudgement], catalogue: Catalogue) -> tuple[Link, ...]:
    """Walk outward and decide for each hop what it inherited."""
    links: list[Link] = []
    for index, judgement in enumerate(judgements):
        inner = judgements[index - 1] if index else None
        links.append(_link(judgement, inner, links[-1] if links else None, catalogue))
    return tuple(links)


def _link(
    judgement: HopJudgement,
    inner: HopJudgement | None,
    before: Link | None,
    catalogue: Catalogue,
) -> Link:
    judgement = _not_a_stream(judgement, before, catalogue)
    fit = None if inner is None else fit_step(inner.runs, judgement.runs, _candidates(judgement))
    rhythm, alternatives = _settle(judgement, inner, fit, catalogue)
    found = [(match, _origin_of_other(match, before)) for match in judgement.others]
    operator = "transparent" if fit is not None and judgement.unsure is None else None
    if rhythm is not None and _passed_on_from_source(before, fit):
        found += [(match, Origin.INHERITED) for match in _notes_of(before)]
        rhythm, alternatives = None, ()
    if rhythm is not None:
        origin = _origin_of_rhythm(before, fit)
        found.append((rhythm, origin))
        if inner is not None and origin is Origin.HERE:
            operator = rhythm.entry.id
    found.sort(key=lambda pair: pair[0].entry.precedence)
    return Link(judgement, inner, tuple(found), rhythm, alternatives, operator)


def _not_a_stream(
    judgement: HopJudgement, before: Link | None, catalogue: Catalogue
) -> HopJudgement:
    """A hop that answers whole documents though an inner hop streams."""
    if judgement.answered or before is None or not before.judgement.answered:
        return judgement
    for stream in judgement.streams:
        facts: Facts = {
            "status": None if stream.head is None else float(stream.head.status),
            "looks_like": stream.looks_like or "nothing",
            "inner_streams": "yes",
        }
        found = matches(catalogue.values(), facts)
        if found and failure_of(stream) is not None:
            return replace(judgement, others=found[:1])
    return judgement


def _candidates(judgement: HopJudgement) -> dict[str, float]:
    """The parameter that each rhythm would have at this hop, as the runs show it.

    A held head ends with the event that reaches the limit, so the smallest is nearest to it.
    """
    bursts = _numbers(judgement, "burst_bytes")
    periods = _numbers(judgement, "burst_period_ns")
    flows = min(_numbers(judgement, "later_count"), default=0) >= _FLOWS_AFTERWARDS
    heads = _numbers(judgement, "first_burst_bytes") if flows else []
    found = {
        "full-buffer": 0.0,
        "size-flush": median(bursts),
        "time-flush": median(periods),
        "head-hold": min(heads, default=None),
    }
    return {mechanism: value for mechanism, value in found.items() if value is not None}


def _numbers(judgement: HopJudgement, fact: str) -> list[float]:
    values = [run.facts.get(fact) for run in judgement.runs]
    return [value for value in values if isinstance(value, int | float)]


def _settle(
    judgement: HopJudgement, inner: HopJudgement | None, fit: Fit | None, catalogue: Catalogue
) -> tuple[Match | None, tuple[Match, ...]]:
    """Let a clean inner hop decide between rhythms that the outer arrivals alone leave open.

    An operator that predicts the outer arrivals clearly better than the one that matched takes
    its place, also when its own signature does not hold: over a source that emits groups, a held
    head is followed by groups, not by single events.
    """
    rhythm, alternatives = judgement.rhythm, judgement.alternatives
    if rhythm is None or rhythm.entry.id not in OPERATORS or inner is None or fit is None:
        return rhythm, alternatives
    if not inner.streams_cleanly or fit.is_transparent():
        return rhythm, alternatives
    known = {match.entry.id: match for match in (rhythm, *alternatives)}
    best = min(fit.by_mechanism, key=lambda key: fit.by_mechanism[key])
    margin = _CLEARLY_BETTER if best in known else _MUCH_BETTER
    if best != rhythm.entry.id and (
        fit.by_mechanism[best] + margin < fit.by_mechanism[rhythm.entry.id]
    ):
        chosen = known.get(best, Match(catalogue[best], _FITTED_ONLY, ()))
        alternatives = tuple(match for key, match in known.items() if key != best)
        rhythm = replace(chosen, confidence=max(chosen.confidence, _FITTED_ONLY))
    sure = min(rhythm.confidence + _CLEAN_INNER_BONUS, _CEILING)
    return replace(rhythm, confidence=sure), alternatives


def _passed_on_from_source(before: Link | None, fit: Fit | None) -> bool:
    """Whether what looks like a rhythm is only what the inner hop, judged clean, sends itself."""
    if before is None or fit is None or not fit.is_transparent():
        return False
    return before.judgement.streams_cleanly


def _notes_of(before: Link | None) -> list[Match]:
    """What the inner hop was found to do without being at fault."""
    if before is None:
        return []
    return [match for match, _ in before.found if match.entry.verdict is Verdict.STREAMS]


def _origin_of_rhythm(before: Link | None, fit: Fit | None) -> Origin:
    """Inherited if the inner hop has a rhythm too, and this one is that one passed on."""
    if before is None or before.judgement.rhythm is None or fit is None:
        return Origin.HERE
    return Origin.INHERITED if fit.is_transparent() else Origin.HERE


def _origin_of_other(match: Match, before: Link | None) -> Origin:
    if before is not None and any(seen.entry.id == match.entry.id for seen, _ in before.found):
        return Origin.INHERITED
    return Origin.HERE
