"""Words for numbers and facts. The only place that divides by a million."""

import unicodedata
from collections.abc import Sequence

from ssediag.model.diagnosis import Evidence, FoundMechanism, Unit
from ssediag.model.stream import Stream

_NS_PER_MS = 1_000_000
_NS_PER_SECOND = 1_000_000_000
# Characters that reorder what a terminal shows: Unicode bidirectional controls.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """``text`` from the network, fit for a terminal: controls become visible escapes."""
    return "".join(_visible(letter) for letter in text)


def _visible(letter: str) -> str:
    if letter in _BIDI or unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
        return ascii(letter)[1:-1]
    return letter


def milliseconds(ns: float) -> float:
    """Nanoseconds as milliseconds, to the microsecond: for machines."""
    return round(ns / _NS_PER_MS, 3)


def seconds(ns: float) -> float:
    """Nanoseconds as seconds, to the millisecond: for machines."""
    return round(ns / _NS_PER_SECOND, 3)


def duration_text(ns: float) -> str:
    """Three significant digits in the unit that suits: ``53 µs``, ``20.1 ms``, ``1.35 s``."""
    size = abs(ns)
    if size < _NS_PER_MS:
        return f"{_three(ns / 1000)} µs"
    if size < _NS_PER_SECOND:
        return f"{_three(ns / _NS_PER_MS)} ms"
    return f"{_three(ns / _NS_PER_SECOND)} s"


def number_text(value: float) -> str:
    """A count without a false decimal: ``13``, ``13.5``."""
    return str(round(value)) if abs(value - round(value)) < 0.05 else f"{value:.1f}"  # noqa: PLR2004


def _three(value: float) -> str:
    if value == 0:
        return "0"
    digits = max(0, 2 - len(str(int(abs(value)))) + 1)
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def value_text(value: float | str, unit: Unit) -> str:
    """A value with its unit."""
    if isinstance(value, str):
        return clean(value)
    match unit:
        case Unit.NS:
            return duration_text(value)
        case Unit.BYTES:
            return f"{number_text(value)} bytes"
        case Unit.SHARE:
            return f"{value:.0%}"
        case Unit.EVENTS | Unit.COUNT:
            return number_text(value)
        case Unit.RATIO | Unit.WORD:
            return f"{value:.2g}"


# What a fact says in a report; facts that only a machine cares for have no phrase.
_PHRASES = {
    "first_event_share": "the first event comes at {} of the stream's time",
    "largest_burst_share": "{} of all events come in one burst",
    "gap_p50_ns": "median gap between events {}",
    "per_burst_events": "{} events in a burst",
    "multi_share": "{} of the events come in company",
    "split_share": "{} of the bursts end in the middle of an event",
    "regular_bytes_share": "{} of the bursts have the same size",
    "burst_bytes": "{} in a burst",
    "period_variation_share": "the period varies by {}",
    "first_burst_events": "{} events in the first burst",
    "later_multi_share": "after it {} of the events come in company",
    "identity_rhythm": "asked for no coding, its rhythm is: {}",
    "coding": "the answer is coded: {}",
    "coded_always": "compresses even when asked not to: {}",
    "tokens_per_event_ratio": "{} tokens in an event",
    "longest_gap_ns": "a silence of {}",
    "catch_up_events": "{} events at its end",
    "ending": "ended on the wire: {}",
    "terminator": "the dialect's terminator came: {}",
    "error_event": "an error event: {}",
    "coding_unfinished": "the content coding never ended: {}",
    "idle_end": "silence until the limit: {}",
    "looks_like": "what came instead: {}",
    "undated_share": "{} of the gaps could not be dated",
    "known_size": "bursts end with the event that fills a block of a known size: {}",
    "known_period": "the period is that of a known timer: {}",
}


def evidence_text(evidence: Evidence) -> str | None:
    """One clause for one fact; None for facts that say nothing to a reader."""
    phrase = _PHRASES.get(evidence.fact)
    return None if phrase is None else phrase.format(value_text(evidence.value, evidence.unit))


def evidence_clauses(evidence: Sequence[Evidence]) -> list[str]:
    """The clauses of several facts, each once."""
    said = [clause for item in evidence if (clause := evidence_text(item)) is not None]
    return list(dict.fromkeys(said))


def parameter_text(mechanism: FoundMechanism) -> str:
    """``4096 bytes every 201 ms``, or the part of it that is known; empty if nothing is."""
    values = dict(mechanism.parameters)
    parts = []
    if "bytes" in values:
        parts.append(f"{number_text(values['bytes'])} bytes")
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
    return f"{name}: {count} events in {took}, {stream.ending.value}"
