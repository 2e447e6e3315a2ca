"""The facts that a rhythm alone gives: how events gather, and what is regular about it."""

from itertools import pairwise
from math import gcd

from ssediag.diagnose.vocabulary import Facts, yes_no
from ssediag.measure.quantiles import close_share, median, quantile, variation
from ssediag.model.cadence import Burst, Cadence

# Block sizes and timers of known products; a burst of about this size or period names a suspect
# (sizes: nginx pages, requests, Go, TLS records, PHP; timers: HAProxy, Traefik, Caddy 1, Apache,
# fabio). Hints for a tie, never proof.
KNOWN_SIZES_BYTES = (512, 1024, 1448, 1460, 2048, 4096, 8184, 8192, 16384, 18000, 32768, 65536)
KNOWN_PERIODS_NS = tuple(ms * 1_000_000 for ms in (100, 200, 250, 500, 1000, 2000, 5000))

# Under this much variation a rhythm counts as regular. Three or four bursts of an evenly paced
# source vary by up to 1.5 % in time (measured: HAProxy's 200 ms timer at 10 ms per token) while
# their bytes do not vary at all: what is regular in both tells nothing.
_VARIATION_FLOOR = 0.02
_BLOCKS_TO_COMPARE = 4


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
        "known_size": yes_no(_known_size(size, event)),
        "known_period": yes_no(_known_period(period, cadence, inner)),
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
        "first_burst_splits": yes_no(first.splits_event),
        "first_size_known": yes_no(
            _known_size(first.byte_count, quantile(cadence.event_bytes, 0.9))
        ),
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
