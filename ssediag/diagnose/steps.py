"""What a step between two hops does to a rhythm: predict from the inner side, compare outside.

Separate runs are never compared event by event: generation differs from run to run. A step that
passes everything on would show the inner structure itself; every other operator is applied to the
inner runs, and the structure it predicts (how many events come
together, how much of the stream comes first, whether bursts cut events) is held against the
structure that the outer runs show.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from ssediag.diagnose.facts import RunFacts
from ssediag.diagnose.operators import OPERATORS, Departures, Operator
from ssediag.diagnose.rhythm_facts import cadence_facts
from ssediag.diagnose.vocabulary import Facts
from ssediag.measure.arrivals import deliver
from ssediag.measure.cadence import cadence_of
from ssediag.measure.quantiles import median

# Two runs of one healthy stream differ by well under 0.2; a hop that joins two events into one
# burst moves the distance by log 2 = 0.7.
TRANSPARENT_DISTANCE = 0.45


@dataclass(frozen=True, slots=True)
class Fit:
    """How far each explanation is from what the outer hop shows; 0 is a perfect prediction."""

    transparent: float
    by_mechanism: dict[str, float]

    def is_transparent(self) -> bool:
        """Whether the outer rhythm is the inner one, within what two runs differ by."""
        return self.transparent <= TRANSPARENT_DISTANCE

    def best(self) -> str | None:
        """The mechanism that predicts the outer rhythm best, or None without candidates."""
        return min(self.by_mechanism, key=lambda key: self.by_mechanism[key], default=None)


def fit_step(
    inner: Sequence[RunFacts], outer: Sequence[RunFacts], candidates: dict[str, float]
) -> Fit | None:
    """Compare explanations of ``outer`` from ``inner``.

    ``candidates`` maps mechanism ids to the parameter (bytes or ns) that the outer runs show.
    None when either side has no events to compare.
    """
    sources = [run for run in inner if run.cadence.event_count]
    observed = [run.facts for run in outer if run.cadence.event_count]
    if not sources or not observed:
        return None
    return Fit(
        transparent=_distance([run.facts for run in sources], observed),
        by_mechanism={
            mechanism: min(
                _distance([_predict(run, operator, parameter) for run in sources], observed)
                for operator in OPERATORS[mechanism]
            )
            for mechanism, parameter in candidates.items()
            if mechanism in OPERATORS
        },
    )


def _distance(predicted: Sequence[Facts], observed: Sequence[Facts]) -> float:
    """Median distance over all pairs of a predicted and an observed run."""
    return (
        median([structure_distance(left, right) for left in predicted for right in observed]) or 0
    )


def _predict(run: RunFacts, operator: Operator, parameter: float) -> Facts:
    releases = operator(_departures(run), parameter)
    return cadence_facts(cadence_of(deliver(releases, run.arrivals.event_bytes)))


def _departures(run: RunFacts) -> Departures:
    return list(zip(run.cadence.times_ns, run.arrivals.event_bytes, strict=True))


def structure_distance(left: Facts, right: Facts) -> float:
    """How unlike two rhythms are; see the module's text. 0 for equal structure."""
    return (
        abs(
            log(
                _number(left, "typical_burst_events", 1) / _number(right, "typical_burst_events", 1)
            )
        )
        + 2 * abs(_number(left, "first_burst_share", 0) - _number(right, "first_burst_share", 0))
        + 0.5 * abs(_number(left, "split_share", 0) - _number(right, "split_share", 0))
        + 0.2 * min(abs(log(_number(left, "beat_ratio", 1) / _number(right, "beat_ratio", 1))), 2.0)
    )


def _number(facts: Facts, name: str, default: float) -> float:
    value = facts.get(name)
    return value if isinstance(value, int | float) else default
