"""One run in numbers and words: the facts that the catalogue's signatures put bounds on.

A fact that cannot be known is None, and no condition holds on it. Names carry their unit:
``_ns``, ``_bytes``, ``_count``, ``_events``, ``_share`` (0…1), ``_ratio``; the rest are words.
"""

from dataclasses import dataclass
from itertools import pairwise

from ssediag.diagnose.rhythm_facts import cadence_facts
from ssediag.diagnose.vocabulary import Facts, yes_no
from ssediag.measure.arrivals import arrivals_of
from ssediag.measure.cadence import cadence_of
from ssediag.measure.quantiles import median
from ssediag.model.cadence import Arrivals, Cadence
from ssediag.model.recording import Role
from ssediag.model.stream import Ending, EventKind, Stream

_FEW = 0.05
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
    facts["source_groups"] = yes_no(_groups_at_source(stream.hop.role, facts))
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
        "content_length": yes_no(head is not None and head.header("content-length") is not None),
        "answered": yes_no(head is not None),
        "idle_end": yes_no(_ended_idle(stream)),
        "coding_unfinished": yes_no(any("unfinished" in note for note in stream.notes)),
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
        "error_event": yes_no(stream.error is not None),
        "terminator": "none" if stream.terminator is None else yes_no(stream.terminator),
    }
