"""The whole diagnosis: decoded streams in, the answer that every report shows out.

A pure function: a live probe, a recording read back and a test case run the same code.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ssediag.catalogue.load import mechanisms
from ssediag.catalogue.products import name_product
from ssediag.diagnose.attempts import attempt_of
from ssediag.diagnose.chain import Link, link_hops
from ssediag.diagnose.culprit import confidence_in, culprit_of, swapped
from ssediag.diagnose.experiments import experiments_of
from ssediag.diagnose.findings import findings_of
from ssediag.diagnose.hops import HopJudgement, judge_hop
from ssediag.diagnose.limits import not_observable
from ssediag.diagnose.match import Match
from ssediag.diagnose.measures import median_run, metrics_of
from ssediag.diagnose.verdict import (
    EXIT_INCONCLUSIVE,
    chain_verdict,
    exit_code,
    hop_verdict,
)
from ssediag.measure.quantiles import median
from ssediag.model.diagnosis import (
    Cost,
    Culprit,
    Diagnosis,
    Finding,
    FoundMechanism,
    HopResult,
    Origin,
    Pairing,
    Product,
    Severity,
    StepResult,
)
from ssediag.model.mechanism import Fix, MechanismEntry, Verdict
from ssediag.model.recording import Role
from ssediag.model.stream import EventKind, Stream


def judge(streams: Sequence[Stream]) -> tuple[HopJudgement, ...]:
    """Judge every hop that ``streams`` speak of by itself, inner hops first."""
    hops = sorted({stream.hop for stream in streams}, key=lambda hop: hop.position)
    return tuple(
        judge_hop(hop, [stream for stream in streams if stream.hop == hop], mechanisms())
        for hop in hops
    )


def diagnose(
    streams: Sequence[Stream], *, elapsed_ns: int, allowed: frozenset[str] = frozenset()
) -> Diagnosis:
    """Name the guilty step, or say that there is none, or why nobody can tell.

    ``streams`` are all runs at all hops, experiments included. ``allowed`` are mechanism ids
    that are by design here and never a fault. ``elapsed_ns`` is what the measuring took.
    """
    judgements = judge(streams)
    links = link_hops(judgements, mechanisms())
    exchanged = swapped(links)
    culprit = None if exchanged else culprit_of(links, allowed)
    hops = tuple(_hop_result(link, allowed) for link in links)
    verdict = Verdict.INCONCLUSIVE if exchanged else _verdict(hops, culprit)
    return Diagnosis(
        verdict=verdict,
        exit_code=EXIT_INCONCLUSIVE if exchanged else exit_code(verdict),
        culprit=culprit,
        hops=hops,
        steps=tuple(_step(left, right) for left, right in pairwise(links)),
        findings=findings_of(judgements) + _exchanged(exchanged),
        experiments=experiments_of(judgements),
        cost=_cost(streams, elapsed_ns),
        not_observable=not_observable(links, culprit),
    )


def _verdict(hops: Sequence[HopResult], culprit: Culprit | None) -> Verdict:
    guilty = next((hop.verdict for hop in hops if culprit and hop.hop.name == culprit.hop), None)
    return chain_verdict([hop.verdict for hop in hops], guilty)


def _exchanged(names: tuple[str, str] | None) -> tuple[Finding, ...]:
    if names is None:
        return ()
    inner, outer = names
    return (
        Finding(
            "hops-swapped",
            Severity.ERROR,
            outer,
            "other",
            f"{inner} bursts, yet {outer}, given as further out, streams: the order looks swapped",
            f"{inner} was given as the inner hop of {outer}",
            f"give the instance first: ssediag compare {outer}=… {inner}=…",
        ),
    )


def _hop_result(link: Link, allowed: frozenset[str]) -> HopResult:
    judgement = link.judgement
    plain = [stream for stream in judgement.streams if stream.experiment is None]
    shown = median_run(judgement.runs)
    headed = shown.stream if shown else next((s for s in plain if s.head is not None), None)
    headers = headed.head.headers if headed is not None and headed.head is not None else ()
    named = name_product(_own_headers(headers, link.inner))
    product = None if named is None else Product(named[0], named[2])
    hop = judgement.hop
    if named is not None and hop.role is Role.UNKNOWN and named[1] in set(Role):
        hop = replace(hop, role=Role(named[1]))
    return HopResult(
        hop=hop,
        protocol=headed.protocol if headed else None,
        status=headed.head.status if headed and headed.head else None,
        dialect=headed.dialect if headed else None,
        verdict=hop_verdict(link, allowed),
        product=product,
        mechanisms=tuple(_mechanism(link, match, origin, product) for match, origin in link.found),
        metrics=metrics_of(plain, judgement.runs),
        attempts=tuple(attempt_of(stream) for stream in judgement.streams),
        headers=headers,
        arrivals_ns=shown.cadence.times_ns if shown else (),
        span_ns=shown.stream.phases.closed_ns if shown else None,
    )


def _own_headers(
    headers: tuple[tuple[str, str], ...], inner: HopJudgement | None
) -> tuple[tuple[str, str], ...]:
    """The headers that the inner hop did not send just so: what was passed on names nobody here."""
    if inner is None or not inner.runs or inner.runs[0].stream.head is None:
        return headers
    inside = inner.runs[0].stream.head.headers
    passed_on = {(name.lower(), value) for name, value in inside}  # HAProxy lowers the names
    return tuple((name, value) for name, value in headers if (name.lower(), value) not in passed_on)


def _mechanism(link: Link, match: Match, origin: Origin, product: Product | None) -> FoundMechanism:
    return FoundMechanism(
        id=match.entry.id,
        confidence=round(confidence_in(link, match), 2),
        origin=origin,
        parameters=_parameters(match.entry, link.judgement),
        evidence=match.evidence,
        fixes=fixes_for(match.entry, product) if origin is Origin.HERE else (),
    )


def _parameters(entry: MechanismEntry, judgement: HopJudgement) -> tuple[tuple[str, float], ...]:
    """The parameters that the catalogue names, as medians over the plain runs."""
    found = []
    for name, fact in entry.parameters:
        values = [run.facts.get(fact) for run in judgement.runs]
        middle = median([value for value in values if isinstance(value, int | float)])
        if middle is not None:
            found.append((name, middle))
    return tuple(found)


def fixes_for(entry: MechanismEntry, product: Product | None) -> tuple[Fix, ...]:
    """The fixes for the product that was named; the general advice where none was, or none fits."""
    name = None if product is None else product.name
    exact = tuple(fix for fix in entry.fixes if fix.product is not None and fix.product == name)
    return exact or tuple(fix for fix in entry.fixes if fix.product is None)


def _step(inner: Link, outer: Link) -> StepResult:
    inside, outside = inner.judgement, outer.judgement
    added = _first_event_ns(outside), _first_event_ns(inside)
    return StepResult(
        inner=inside.hop.name,
        outer=outside.hop.name,
        pairing=Pairing.SEPARATE_RUNS,
        operator=outer.operator,
        added_first_event_ns=(
            None if added[0] is None or added[1] is None else round(added[0] - added[1])
        ),
        added_delay_ns=None,
        headers_added=_names(outside) if not inside.answered else _new(outside, inside),
        headers_removed=() if not inside.answered else _new(inside, outside),
    )


def _first_event_ns(judgement: HopJudgement) -> float | None:
    return median([run.cadence.times_ns[0] for run in judgement.runs if run.cadence.times_ns])


def _names(judgement: HopJudgement) -> tuple[str, ...]:
    if not judgement.runs or judgement.runs[0].stream.head is None:
        return ()
    return tuple(dict.fromkeys(name.lower() for name, _ in judgement.runs[0].stream.head.headers))


def _new(left: HopJudgement, right: HopJudgement) -> tuple[str, ...]:
    """Header names of ``left`` that ``right`` has not, in the order they came."""
    known = set(_names(right))
    return tuple(name for name in _names(left) if name not in known)


def _cost(streams: Sequence[Stream], elapsed_ns: int) -> Cost:
    tokens = sum(
        stream.usage_tokens
        if stream.usage_tokens is not None
        else sum(kind is EventKind.TOKEN for kind in stream.events.kind)
        for stream in streams
    )
    sent = sum(stream.phases.connected_ns is not None for stream in streams)
    return Cost(request_count=sent, token_count=tokens, elapsed_ns=elapsed_ns)
