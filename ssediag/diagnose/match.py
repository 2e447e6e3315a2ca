"""Which mechanisms of the catalogue a set of facts shows, and on what evidence."""

from collections.abc import Iterable
from dataclasses import dataclass

from ssediag.diagnose.vocabulary import Facts, Value, unit_of
from ssediag.model.diagnosis import Evidence
from ssediag.model.mechanism import Condition, MechanismEntry, Signature


@dataclass(frozen=True, slots=True)
class Match:
    """A mechanism whose signature holds, how sure that makes us, and the facts it stands on."""

    entry: MechanismEntry
    confidence: float
    evidence: tuple[Evidence, ...]


def matches(entries: Iterable[MechanismEntry], facts: Facts) -> tuple[Match, ...]:
    """Every mechanism that ``facts`` show, surest first; equal ones in the catalogue's order."""
    found = [match for entry in entries if (match := _match(entry, facts)) is not None]
    return tuple(sorted(found, key=lambda match: (-match.confidence, match.entry.precedence)))


def _match(entry: MechanismEntry, facts: Facts) -> Match | None:
    """The surest signature of ``entry`` that holds, or None."""
    holding = [signature for signature in entry.signatures if _holds(signature, facts)]
    if not holding:
        return None
    best = max(holding, key=lambda signature: signature.confidence)
    return Match(entry, best.confidence, evidence(best.conditions, facts))


def _holds(signature: Signature, facts: Facts) -> bool:
    return all(
        satisfied(condition, facts.get(condition.fact)) for condition in signature.conditions
    )


def satisfied(condition: Condition, value: Value) -> bool:
    """Whether ``value`` lies in the bounds; an unknown value never does."""
    if value is None:
        return False
    if condition.equals is not None:
        return value == condition.equals
    if isinstance(value, str):
        return False
    above = condition.at_least is None or value >= condition.at_least
    below = condition.at_most is None or value <= condition.at_most
    return above and below


def evidence(conditions: Iterable[Condition], facts: Facts) -> tuple[Evidence, ...]:
    """The facts behind ``conditions``, each with the bound it was held against."""
    found = []
    for condition in conditions:
        value = facts.get(condition.fact)
        if value is None:
            continue
        bound = condition.equals if condition.equals is not None else _bound(condition)
        found.append(Evidence(condition.fact, value, unit_of(condition.fact), bound))
    return tuple(found)


def _bound(condition: Condition) -> float | None:
    return condition.at_least if condition.at_least is not None else condition.at_most
