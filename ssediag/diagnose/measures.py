"""The numbers of a hop's report: medians over its plain runs, counts of its median run."""

from collections.abc import Sequence
from itertools import pairwise

from ssediag.diagnose.facts import RunFacts, headers_ns
from ssediag.diagnose.vocabulary import Facts
from ssediag.measure.quantiles import quantile, whole_median
from ssediag.model.diagnosis import Metrics
from ssediag.model.recording import Clock
from ssediag.model.stream import EventKind, Stream

# Error of a kernel-dated single-segment read, and of a read dated by this process, at p99
# (measured on loopback over 450 events, idle): 53 µs and 3.2 ms.
_FLOOR_NS = {Clock.KERNEL: 53_000, Clock.USER: 3_200_000}


def median_run(runs: Sequence[RunFacts]) -> RunFacts | None:
    """The run whose number of bursts is the median; the first such. None without runs."""
    if not runs:
        return None
    ordered = sorted(runs, key=lambda run: len(run.cadence.bursts))
    return ordered[(len(ordered) - 1) // 2]


def metrics_of(streams: Sequence[Stream], runs: Sequence[RunFacts]) -> Metrics:
    """Metrics over ``runs``, the plain runs with events; ``streams`` are all plain attempts."""
    middle = median_run(runs)
    facts = middle.facts if middle else {}
    return Metrics(
        run_count=len(streams),
        request_sent_ns=_middle([_sent_after_ns(stream) for stream in streams]),
        headers_ns=_middle([headers_ns(stream) for stream in streams]),
        first_event_ns=_over(runs, "first_event_ns"),
        first_token_ns=_middle([_first_token_ns(run) for run in runs]),
        last_event_ns=_over(runs, "last_event_ns"),
        closed_ns=_middle([stream.phases.closed_ns for stream in streams]),
        event_count=middle.cadence.event_count if middle else 0,
        token_event_count=_token_count(middle),
        burst_count=_whole(facts, "burst_count"),
        events_per_burst_p50=_real(facts, "per_burst_events"),
        events_per_burst_max=_largest_burst(middle),
        burst_bytes_p50=_real(facts, "burst_bytes"),
        burst_period_ns_p50=_over(runs, "burst_period_ns"),
        gap_ns_p50=_over(runs, "gap_p50_ns"),
        gap_ns_p95=_over(runs, "gap_p95_ns"),
        longest_silence_ns=_middle([longest_silence_ns(run) for run in runs]),
        clock=middle.stream.clock if middle else None,
        floor_ns=_floor_ns(middle),
        undated_share=_real(facts, "undated_share"),
    )


def longest_silence_ns(run: RunFacts) -> int | None:
    """The longest time without a body byte, from the first one on; None under two deliveries."""
    times = run.arrivals.latest_ns
    gaps = [right - left for left, right in pairwise(times)]
    return max(gaps, default=None)


def _middle(values: Sequence[int | None]) -> int | None:
    return whole_median([value for value in values if value is not None])


def _over(runs: Sequence[RunFacts], fact: str) -> int | None:
    return _middle([_whole(run.facts, fact) for run in runs])


def _real(facts: Facts, name: str) -> float | None:
    value = facts.get(name)
    return value if isinstance(value, int | float) else None


def _whole(facts: Facts, name: str) -> int | None:
    value = _real(facts, name)
    return None if value is None else round(value)


def _sent_after_ns(stream: Stream) -> int | None:
    began = stream.phases.began_ns
    return None if began is None else -began


def _first_token_ns(run: RunFacts) -> int | None:
    kinds = run.stream.events.kind
    tokens = [index for index, kind in enumerate(kinds) if kind is EventKind.TOKEN]
    return run.cadence.times_ns[tokens[0]] if tokens else None


def _token_count(run: RunFacts | None) -> int | None:
    if run is None:
        return None
    return sum(kind is EventKind.TOKEN for kind in run.stream.events.kind)


def _largest_burst(run: RunFacts | None) -> int | None:
    if run is None:
        return None
    return max((burst.event_count for burst in run.cadence.bursts), default=None)


def _floor_ns(run: RunFacts | None) -> int | None:
    """The error bar of one arrival: the clock's own, or the width of this run's intervals."""
    if run is None:
        return None
    widths = [
        latest - earliest
        for earliest, latest in zip(run.arrivals.earliest_ns, run.arrivals.latest_ns, strict=True)
    ]
    return max(_FLOOR_NS[run.stream.clock], round(quantile(widths, 0.95) or 0))
