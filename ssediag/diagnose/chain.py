"""The chain judged hop by hop: what was already there, what a step added, and who is guilty."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssediag.diagnose.attempts import failure_of
from ssediag.diagnose.facts import Facts
from ssediag.diagnose.hops import Catalogue, HopJudgement
from ssediag.diagnose.match import Match, matches
from ssediag.diagnose.steps import Fit, fit_step
from ssediag.measure.quantiles import median
from ssediag.model.diagnosis import Origin

# A clean inner hop next to a bursting outer one rules the source out.
_CLEAN_INNER_BONUS = 0.05
_CEILING = 0.99
# Two operators whose predictions lie closer than this are a tie.
_CLEARLY_BETTER = 0.15


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
    rhythm, alternatives = _settle(judgement, inner, fit)
    found = [(match, _origin_of_other(match, before)) for match in judgement.others]
    operator = "transparent" if fit is not None and judgement.unsure is None else None
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
    """The parameter that each rhythm would have at this hop, as the runs show it."""
    names = {
        "full-buffer": None,
        "size-flush": "burst_bytes",
        "time-flush": "burst_period_ns",
        "head-hold": "first_burst_bytes",
    }
    candidates: dict[str, float] = {}
    for mechanism, fact in names.items():
        values = [run.facts.get(fact) for run in judgement.runs] if fact else [0.0]
        numbers = [value for value in values if isinstance(value, int | float)]
        if numbers:
            candidates[mechanism] = median(numbers) or 0.0
    return candidates


def _settle(
    judgement: HopJudgement, inner: HopJudgement | None, fit: Fit | None
) -> tuple[Match | None, tuple[Match, ...]]:
    """Let a clean inner hop decide between rhythms that the outer arrivals alone leave open."""
    rhythm, alternatives = judgement.rhythm, judgement.alternatives
    if rhythm is None or inner is None or fit is None or not inner.streams_cleanly:
        return rhythm, alternatives
    if fit.is_transparent():
        return rhythm, alternatives
    known = {match.entry.id: match for match in (rhythm, *alternatives)}
    scores = {key: score for key, score in fit.by_mechanism.items() if key in known}
    best = min(scores, key=lambda key: scores[key], default=rhythm.entry.id)
    if scores and scores[best] + _CLEARLY_BETTER < scores.get(rhythm.entry.id, 0.0):
        known[best], alternatives = (
            replace(known[best], confidence=max(known[best].confidence, rhythm.confidence)),
            tuple(match for key, match in known.items() if key != best),
        )
        rhythm = known[best]
    sure = min(rhythm.confidence + _CLEAN_INNER_BONUS, _CEILING)
    return replace(rhythm, confidence=sure), alternatives


def _origin_of_rhythm(before: Link | None, fit: Fit | None) -> Origin:
    """Inherited if the inner hop has a rhythm too, and this one is that one passed on."""
    if before is None or before.judgement.rhythm is None or fit is None:
        return Origin.HERE
    return Origin.INHERITED if fit.is_transparent() else Origin.HERE


def _origin_of_other(match: Match, before: Link | None) -> Origin:
    if before is not None and any(seen.entry.id == match.entry.id for seen, _ in before.found):
        return Origin.INHERITED
    return Origin.HERE
