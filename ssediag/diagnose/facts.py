"""One run in numbers and words: the facts that the catalogue's signatures put bounds on.

A fact that cannot be known is None, and no condition holds on it. Names carry their unit:
``_ns``, ``_bytes``, ``_count``, ``_events``, ``_share`` (0…1), ``_ratio``; the rest are words.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from ssediag.measure.arrivals import arrivals_of
from ssediag.measure.cadence import cadence_of
from ssediag.measure.quantiles import close_share, median, quantile, variation
from ssediag.model.cadence import Arrivals, Burst, Cadence
from ssediag.model.diagnosis import Unit
from ssediag.model.recording import Role
from ssediag.model.stream import Ending, EventKind, Stream

Value = float | str | None
Facts = dict[str, Value]

# Block sizes and timers of known products; a burst of about this size or period names a suspect
# (sizes: nginx pages, requests, Go, TLS records, PHP; timers: HAProxy, Traefik, Caddy 1, Apache,
# fabio). Hints for a tie, never proof.
KNOWN_SIZES_BYTES = (512, 1024, 1448, 1460, 2048, 4096, 8184, 8192, 16384, 18000, 32768, 65536)
KNOWN_PERIODS_NS = tuple(ms * 1_000_000 for ms in (100, 200, 250, 500, 1000, 2000, 5000))

# Under this much variation a rhythm counts as regular. Three or four bursts of an evenly paced
# source vary by up to 1.5 % in time (measured: HAProxy's 200 ms timer at 10 ms per token) while
# their bytes do not vary at all: what is regular in both tells nothing.
_VARIATION_FLOOR = 0.02
_FEW = 0.05
_BLOCKS_TO_COMPARE = 4
# A stream that is quiet this long when a limit ends the run has stopped, not paused: the shortest
# idle limit that a user would set is a few seconds.
_SILENCE_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A decoded run with what was measured on it."""

    stream: Stream
    arrivals: Arrivals
    cadence: Cadence
    facts: Facts


def run_facts(stream: Stream) -> RunFacts:
    """Measure one run."""
    arrivals = arrivals_of(stream)
    cadence = cadence_of(arrivals)
    facts: Facts = {}
    facts.update(_wire_facts(stream))
    facts.update(cadence_facts(cadence))
    facts.update(_text_facts(stream))
    facts["source_groups"] = _yes(_groups_at_source(stream.hop.role, facts))
    return RunFacts(stream, arrivals, cadence, facts)


def _groups_at_source(role: Role, facts: Facts) -> bool:
    """Whether the instance itself emits whole events in groups of one count.

    A timer's groups vary by an event, a block's are cut inside an event; a group that the
    instance writes is always the same. Only said of a hop that is known to be the instance.
    """
    count, varies, split = (
        facts.get(name) for name in ("per_burst_events", "count_variation_share", "split_share")
    )
    if role is not Role.INSTANCE or not isinstance(count, int | float):
        return False
    whole = isinstance(split, int | float) and split <= _FEW
    same = isinstance(varies, int | float) and varies <= _FEW
    return count >= 2 and whole and same  # noqa: PLR2004 - a group is two or more


def unit_of(fact: str) -> Unit:
    """The unit that the name of a fact carries."""
    for ending, unit in _UNITS:
        if fact.endswith(ending):
            return unit
    return Unit.WORD


_UNITS = (
    ("_ns", Unit.NS),
    ("_bytes", Unit.BYTES),
    ("_events", Unit.EVENTS),
    ("_count", Unit.COUNT),
    ("_share", Unit.SHARE),
    ("_ratio", Unit.RATIO),
)


def cadence_facts(cadence: Cadence) -> Facts:
    """The facts that the rhythm alone gives: also those of a predicted stream."""
    full = [burst for burst in cadence.bursts if burst.event_count]
    inner = full[1:-1]
    return {
        **_extent_facts(cadence, full),
        **_burst_facts(inner or full),
        **_beat_facts(inner, full, cadence),
        **_head_facts(cadence, full),
        **_silence_facts(full),
        "inner_burst_count": len(inner),
    }


def _extent_facts(cadence: Cadence, full: list[Burst]) -> Facts:
    times = cadence.times_ns
    gaps = [right - left for left, right in pairwise(times)]
    judged = cadence.together_count + cadence.apart_count + cadence.undated_count
    return {
        "event_count": cadence.event_count,
        "burst_count": len(full),
        "first_event_ns": times[0] if times else None,
        "last_event_ns": times[-1] if times else None,
        "first_event_share": times[0] / times[-1] if times and times[-1] > 0 else None,
        "pace_ns": times[-1] / len(times) if times else None,
        "gap_p50_ns": median(gaps),
        "gap_p95_ns": quantile(gaps, 0.95),
        "largest_burst_share": (
            max(burst.event_count for burst in full) / cadence.event_count if full else None
        ),
        "first_burst_share": full[0].event_count / cadence.event_count if full else None,
        # the size of the burst that a randomly picked event sits in
        "typical_burst_events": (
            sum(burst.event_count**2 for burst in full) / cadence.event_count if full else None
        ),
        "undated_share": cadence.undated_count / judged if judged else None,
    }


def _burst_facts(bursts: list[Burst]) -> Facts:
    """Events and bytes of typical bursts; the first and last are left out where others exist."""
    counts = [burst.event_count for burst in bursts]
    several = sum(burst.event_count for burst in bursts if burst.event_count > 1 and burst.proven)
    return {
        "per_burst_events": median(counts),
        "multi_share": several / sum(counts) if sum(counts) else None,
        "burst_bytes": median([burst.byte_count for burst in bursts]),
        "chunks_per_burst_count": median([burst.chunk_count for burst in bursts]),
    }


def _beat_facts(inner: list[Burst], full: list[Burst], cadence: Cadence) -> Facts:
    """What the bursts are regular in: bytes (a block), time (a timer), or neither."""
    sizes = [burst.byte_count for burst in inner]
    began = [burst.began_ns for burst in (inner if len(inner) > 1 else full)]
    periods = [right - left for left, right in pairwise(began)]
    period = median(periods)
    size = median(sizes)
    event = quantile(cadence.event_bytes, 0.9)
    bytes_variation = variation(sizes)
    period_variation = variation(periods)
    return {
        "burst_period_ns": period,
        "period_variation_share": period_variation,
        "bytes_variation_share": bytes_variation,
        "count_variation_share": variation([burst.event_count for burst in inner]),
        "beat_ratio": _beat_ratio(bytes_variation, period_variation),
        "regular_bytes_share": (
            None if size is None else close_share(sizes, size, max(8.0, size * 0.005))
        ),
        "common_block_bytes": _common_block(sizes),
        "split_share": (
            sum(burst.splits_event for burst in full[:-1]) / len(full[:-1]) if full[:-1] else None
        ),
        "known_size": _yes(_known_size(size, event)),
        "known_period": _yes(_known_period(period, cadence, inner)),
    }


def _common_block(sizes: list[int]) -> int | None:
    """The largest size that every burst is a whole multiple of; None for few bursts.

    Bursts of chance sizes have no common divisor to speak of.
    """
    return gcd(*sizes) if len(sizes) >= _BLOCKS_TO_COMPARE else None


def _beat_ratio(bytes_variation: float | None, period_variation: float | None) -> float | None:
    """Variation of the bytes over that of the period: small for a block, large for a timer."""
    if bytes_variation is None or period_variation is None:
        return None
    return max(bytes_variation, _VARIATION_FLOOR) / max(period_variation, _VARIATION_FLOOR)


def _known_size(size: float | None, event: float | None) -> bool:
    """Whether bursts end with the event that fills a known block: in [Q, Q + one event)."""
    if size is None or event is None:
        return False
    return any(known <= size < known + event for known in KNOWN_SIZES_BYTES)


def _known_period(period: float | None, cadence: Cadence, inner: list[Burst]) -> bool:
    """Whether bursts come a known time apart, or that and the wait for the next event."""
    if period is None or not inner:
        return False
    events = sum(burst.event_count for burst in inner)
    wait = (inner[-1].began_ns - inner[0].began_ns) / events if events else 0
    slack = min(wait, period * 0.15) + cadence.together_ns
    return any(known * 0.98 <= period <= known * 1.02 + slack for known in KNOWN_PERIODS_NS)


def _head_facts(cadence: Cadence, full: list[Burst]) -> Facts:
    """A first burst that others do not resemble: what was held before the stream began to flow."""
    if not full:
        return {}
    later = full[1:-1]
    later_events = sum(burst.event_count for burst in later)
    multi = sum(burst.event_count for burst in later if burst.event_count > 1)
    first = full[0]
    after = cadence.times_ns[first.event_count :]
    gap = median([right - left for left, right in pairwise(after)])
    held_ns = gap * (first.event_count - 1) if gap else None
    return {
        "first_burst_events": first.event_count,
        "first_burst_bytes": first.byte_count,
        "later_count": later_events,
        "later_multi_share": multi / later_events if later_events else None,
        # how much of the time that the first burst's events took to make lies before it
        "hold_ratio": first.began_ns / held_ns if held_ns else None,
        "first_burst_splits": _yes(first.splits_event),
        "first_size_known": _yes(_known_size(first.byte_count, quantile(cadence.event_bytes, 0.9))),
    }


def _silence_facts(full: list[Burst]) -> Facts:
    """The longest gap between bursts, and how many events came at once after it.

    A buffer repays its debt: after a gap of k periods about k events come at once. A source
    that stalled does not.
    """
    gaps = [(right.began_ns - left.ended_ns, right.event_count) for left, right in pairwise(full)]
    if not gaps:
        return {}
    longest_ns, catch_up = max(gaps)
    typical = median([gap for gap, _ in gaps])
    return {
        "longest_gap_ns": longest_ns,
        "longest_gap_ratio": longest_ns / typical if typical else None,
        "catch_up_events": catch_up,
    }


def _wire_facts(stream: Stream) -> Facts:
    head = stream.head
    return {
        "status": None if head is None else float(head.status),
        "ending": stream.ending.value,
        "framing": stream.framing.value,
        "coding": stream.coding or "identity",
        "looks_like": stream.looks_like,
        "headers_ns": headers_ns(stream),
        "body_bytes": sum(stream.reads.body_bytes),
        "content_length": _yes(head is not None and head.header("content-length") is not None),
        "answered": _yes(head is not None),
        "idle_end": _yes(_ended_idle(stream)),
        "coding_unfinished": _yes(any("unfinished" in note for note in stream.notes)),
    }


def headers_ns(stream: Stream) -> int | None:
    """When the last byte of the response head had come; None without a head."""
    if stream.head is None or not len(stream.reads):
        return None
    return stream.reads.latest_ns[stream.head.read_index]


def _ended_idle(stream: Stream) -> bool:
    """Whether the stream fell silent for good after it had begun, and we stopped waiting.

    A run that our total limit cut while bytes still came is not silent.
    """
    closed = stream.phases.closed_ns
    if stream.ending is not Ending.TIMED_OUT or closed is None or not len(stream.events):
        return False
    times = stream.reads.latest_ns
    pauses = [right - left for left, right in pairwise(times)]
    return closed - times[-1] >= max(_SILENCE_NS, 4 * max(pauses, default=0))


def _text_facts(stream: Stream) -> Facts:
    kinds = stream.events.kind
    tokens = [index for index, kind in enumerate(kinds) if kind is EventKind.TOKEN]
    said = [
        count
        for index, count in enumerate(stream.events.token_count)
        if count is not None and kinds[index] is EventKind.TOKEN
    ]
    per_event = median(said)
    if per_event is None and stream.usage_tokens and tokens:
        per_event = stream.usage_tokens / len(tokens)
    return {
        "tokens_per_event_ratio": per_event,
        "error_event": _yes(stream.error is not None),
        "terminator": "none" if stream.terminator is None else _yes(stream.terminator),
    }


def _yes(value: bool) -> str:  # noqa: FBT001 - a truth value is what it words
    return "yes" if value else "no"
