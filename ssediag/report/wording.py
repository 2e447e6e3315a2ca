"""Words for numbers and facts. The only place that divides by a million."""

import unicodedata
from collections.abc import Sequence

from ssediag.model.diagnosis import Evidence, FoundMechanism, Unit
from ssediag.model.stream import Stream
from ssediag.report.phrases import PHRASES, SILENT, VALUE_PHRASES

_NS_PER_US = 1_000
_NS_PER_MS = 1_000_000
_NS_PER_SECOND = 1_000_000_000
# A decimal of a median count that rounds away says nothing.
_VISIBLE_DECIMAL = 0.05
_ENDINGS = ("_ns", "_bytes", "_events", "_count", "_share", "_ratio")
# Control, format (bidirectional overrides are there), surrogate and private characters, and the
# line and paragraph separators: all that may move a cursor, reorder a line or start a new one.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def clean(text: str) -> str:
    """``text`` from the network, fit for a terminal: controls become visible escapes."""
    return "".join(
        ascii(letter)[1:-1] if unicodedata.category(letter) in _UNSAFE else letter
        for letter in text
    )


def brief(text: str, length: int) -> str:
    """``text`` cleaned and cut to ``length`` characters: a peer may send a header of any size."""
    said = clean(text)
    return said if len(said) <= length else said[: length - 1] + "…"


def milliseconds(ns: float) -> float:
    """Nanoseconds as milliseconds, to the microsecond: for machines."""
    return round(ns / _NS_PER_MS, 3)


def seconds(ns: float) -> float:
    """Nanoseconds as seconds, to the millisecond: for machines."""
    return round(ns / _NS_PER_SECOND, 3)


def duration_text(ns: float) -> str:
    """Three significant digits in the unit that suits: ``53 µs``, ``20.1 ms``, ``1.35 s``."""
    for unit, size in (("µs", _NS_PER_US), ("ms", _NS_PER_MS)):
        rounded = float(f"{ns / size:.3g}")
        if abs(rounded) < 1000:  # noqa: PLR2004 - from a thousand on the next unit suits
            return f"{rounded:g} {unit}" if rounded else "0 ms"
    return f"{_three(ns / _NS_PER_SECOND)} s"


def _three(value: float) -> str:
    """Three significant digits, never as a power of ten."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004 - as above


def gap_text(ns: float, floor_ns: int | None) -> str:
    """A duration; below the error bar ``floor_ns`` only that it is below."""
    if floor_ns is not None and 0 <= ns < floor_ns:
        return f"<{duration_text(floor_ns)}"
    return duration_text(ns)


def number_text(value: float) -> str:
    """A count without a false decimal: ``13``, ``13.5``."""
    whole = abs(value - round(value)) < _VISIBLE_DECIMAL
    return str(round(value)) if whole else f"{value:.1f}"


def counted(count: float, noun: str) -> str:
    """``1 run``, ``3 runs``."""
    return f"{number_text(count)} {noun}{'' if number_text(count) == '1' else 's'}"


def value_text(value: float | str, unit: Unit) -> str:
    """A value with its unit."""
    if isinstance(value, str):
        return clean(value)
    match unit:
        case Unit.NS:
            said = duration_text(value)
        case Unit.BYTES:
            said = counted(value, "byte")
        case Unit.EVENTS:
            said = counted(value, "event")
        case Unit.SHARE:
            said = f"{value:.0%}"
        case Unit.COUNT:
            said = number_text(value)
        case Unit.RATIO | Unit.WORD:
            said = f"{value:.2g}"
    return said


def evidence_text(evidence: Evidence, floor_ns: int | None = None) -> str | None:
    """One clause for one fact; None for those that only a machine cares for.

    ``floor_ns`` is the error bar: a duration below it is only said to be below.
    """
    fact = evidence.fact
    whole = VALUE_PHRASES.get((fact, str(evidence.value)))
    if whole is not None or fact in SILENT:
        return whole
    said = value_text(evidence.value, evidence.unit)
    if evidence.unit is Unit.NS and not isinstance(evidence.value, str):
        said = gap_text(evidence.value, floor_ns).replace("<", "below ")
    phrase = PHRASES.get(fact)
    if phrase is None:
        return f"{_plain_name(fact)}: {said}"
    if phrase.startswith("{} of"):
        said = {"100%": "all", "0%": "none"}.get(said, said)
    return phrase.format(said)


def _plain_name(fact: str) -> str:
    """A fact's name without its unit: readable, if not pretty."""
    ending = next((one for one in _ENDINGS if fact.endswith(one)), "")
    return clean(fact.removesuffix(ending).replace("_", " "))


def evidence_clauses(evidence: Sequence[Evidence], floor_ns: int | None = None) -> list[str]:
    """The clauses of several facts, each once."""
    said = [evidence_text(item, floor_ns) for item in evidence]
    return list(dict.fromkeys(clause for clause in said if clause is not None))


def sentence(clauses: Sequence[str]) -> str:
    """Clauses as one sentence; empty if there are none."""
    said = "; ".join(clauses)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def parameter_text(mechanism: FoundMechanism) -> str:
    """``4096 bytes every 201 ms``, or the part of it that is known; empty if nothing is."""
    values = dict(mechanism.parameters)
    parts = []
    if "bytes" in values:
        parts.append(counted(values["bytes"], "byte"))
    if "period_ns" in values:
        parts.append(f"every {duration_text(values['period_ns'])}")
    if "after_ns" in values:
        parts.append(f"after {duration_text(values['after_ns'])}")
    return " ".join(parts)


def attempt_line(stream: Stream) -> str:
    """One line about one run: what came, or why nothing did."""
    name = f"{clean(stream.hop.name)} run {stream.run}"
    if stream.experiment is not None:
        name += f" ({stream.experiment})"
    count = len(stream.events)
    if not count and stream.not_measured is not None:
        return f"{name}: {clean(stream.not_measured.reason)}"
    if not count:
        status = "no answer" if stream.head is None else f"status {stream.head.status}, no event"
        return f"{name}: {status}"
    took = duration_text(stream.phases.closed_ns or 0)
    return f"{name}: {counted(count, 'event')} in {took}, {stream.ending.value}"
