"""One hop judged by its own runs: which mechanisms they show, how often, and what stays open."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssediag.diagnose.facts import RunFacts, run_facts
from ssediag.diagnose.match import Match, matches
from ssediag.diagnose.vocabulary import Facts
from ssediag.measure.quantiles import median
from ssediag.model.mechanism import MechanismEntry, Verdict
from ssediag.model.recording import Hop
from ssediag.model.stream import Stream

# Under ten events a rhythm is a guess: three bursts of three can be chance (contract).
MIN_EVENT_COUNT = 10
# Above this share of gaps that nobody can date, the tool itself was the slow one.
MAX_UNDATED_SHARE = 0.2
# An instance that makes an event per millisecond or faster looks like a burst from outside.
MIN_PACE_NS = 1_000_000
_OK_STATUS = range(200, 300)
_ONE_RUN_DISCOUNT = 0.85
_SPLIT_VOTE_DISCOUNT = 0.9

Catalogue = dict[str, MechanismEntry]


@dataclass(frozen=True, slots=True)
class HopJudgement:
    """What the runs of one hop say, before any other hop is asked.

    ``runs`` are the plain ones, ``identity_runs`` those that asked for no content coding.
    ``rhythm`` is the burst or hold that most runs show, ``shown`` are the rhythms of each judged
    run, ``alternatives`` explain the same arrivals. ``others`` are the mechanisms that are no
    rhythm. ``unsure`` says why there is no verdict, or is None.
    """

    hop: Hop
    streams: tuple[Stream, ...]
    runs: tuple[RunFacts, ...]
    identity_runs: tuple[RunFacts, ...]
    rhythm: Match | None
    shown: tuple[frozenset[str], ...]
    alternatives: tuple[Match, ...]
    others: tuple[Match, ...]
    unsure: str | None
    cached: str | None

    @property
    def answered(self) -> bool:
        """Whether any run brought events, or the beginning of a stream."""
        return bool(self.runs)

    @property
    def streams_cleanly(self) -> bool:
        """Whether the hop was judged and shows no rhythm of its own or anybody's."""
        return self.answered and self.rhythm is None and self.unsure is None


def judge_hop(hop: Hop, streams: Sequence[Stream], catalogue: Catalogue) -> HopJudgement:
    """Judge ``hop`` by its ``streams``, plain runs and experiments alike."""
    measured = [run_facts(stream) for stream in streams if is_stream(stream)]
    plain = tuple(run for run in measured if run.stream.experiment is None)
    identity = tuple(run for run in measured if run.stream.experiment == "identity")
    cached = next((note for run in measured if (note := cache_hit(run.stream))), None)
    judged = [run for run in plain if _enough(run)]
    rhythm, alternatives = (None, ()) if cached else _vote(judged, catalogue)
    if rhythm is not None:
        rhythm, alternatives = _explain_coding(rhythm, alternatives, judged, identity, catalogue)
    others = _others(plain, catalogue)
    return HopJudgement(
        hop=hop,
        streams=tuple(streams),
        runs=plain,
        identity_runs=identity,
        rhythm=rhythm,
        shown=tuple(
            frozenset(match.entry.id for match in rhythms(run, catalogue)) for run in judged
        ),
        alternatives=alternatives,
        others=others,
        unsure=None if rhythm else _unsure(plain, judged, cached, catalogue),
        cached=cached,
    )


def is_stream(stream: Stream) -> bool:
    """Whether the run was answered with a stream, begun or whole."""
    return stream.head is not None and stream.head.status in _OK_STATUS and len(stream.events) > 0


def cache_hit(stream: Stream) -> str | None:
    """The header that says a cache replayed this answer, or None."""
    if stream.head is None:
        return None
    for name in ("x-cache", "cf-cache-status", "x-vercel-cache", "cache-status"):
        value = stream.head.header(name) or ""
        if "hit" in value.lower() and "miss" not in value.lower():
            return f"{name}: {value}"
    return None


def rhythms(run: RunFacts, catalogue: Catalogue) -> tuple[Match, ...]:
    """The bursts and holds that one run shows, surest first."""
    return tuple(
        match for match in matches(catalogue.values(), run.facts) if is_rhythm(match.entry)
    )


def is_rhythm(entry: MechanismEntry) -> bool:
    """Whether the mechanism is a pattern of arrivals, not the cause behind one."""
    return entry.verdict in {Verdict.BURSTS, Verdict.HELD} and not entry.replaces


def _enough(run: RunFacts) -> bool:
    undated = run.facts.get("undated_share")
    dated = not isinstance(undated, float) or undated <= MAX_UNDATED_SHARE
    return run.cadence.event_count >= MIN_EVENT_COUNT and dated


def _vote(runs: Sequence[RunFacts], catalogue: Catalogue) -> tuple[Match | None, tuple[Match, ...]]:
    """The rhythm that most runs show. A host that stalls can imitate a buffer, in one run."""
    found = [rhythms(run, catalogue) for run in runs]
    seen = Counter(match.entry.id for matches_of_run in found for match in matches_of_run[:1])
    if not seen:
        return None, ()
    leader, votes = seen.most_common(1)[0]
    if votes * 2 <= len(runs):
        return None, ()
    mine = [match for of_run in found for match in of_run if match.entry.id == leader]
    confidence = (median([match.confidence for match in mine]) or 0.0) * _weight(votes, len(runs))
    best = max(mine, key=lambda match: match.confidence)
    return replace(best, confidence=confidence), _alternatives(leader, found)


def _weight(votes: int, run_count: int) -> float:
    if run_count == 1:
        return _ONE_RUN_DISCOUNT
    return 1.0 if votes == run_count else _SPLIT_VOTE_DISCOUNT


def _alternatives(leader: str, found: Sequence[Sequence[Match]]) -> tuple[Match, ...]:
    """What else the runs could be, surest first, one match a mechanism."""
    others: dict[str, Match] = {}
    for match in sorted((m for of_run in found for m in of_run), key=lambda m: -m.confidence):
        if match.entry.id != leader:
            others.setdefault(match.entry.id, match)
    return tuple(others.values())


def _explain_coding(
    rhythm: Match,
    alternatives: tuple[Match, ...],
    runs: Sequence[RunFacts],
    identity: Sequence[RunFacts],
    catalogue: Catalogue,
) -> tuple[Match, tuple[Match, ...]]:
    """Put the compressor in place of the rhythm it leaves, where an identity run proves it."""
    coded = [run for run in runs if run.stream.coding is not None]
    if not coded:
        return rhythm, alternatives
    facts = coding_facts(rhythm, coded, identity, catalogue)
    for match in matches(catalogue.values(), facts):
        if rhythm.entry.id in match.entry.replaces:
            entry = replace(match.entry, verdict=rhythm.entry.verdict)
            sure = min(match.confidence, rhythm.confidence)
            return Match(entry, sure, match.evidence + rhythm.evidence), ()
    return rhythm, alternatives


def coding_facts(
    rhythm: Match, coded: Sequence[RunFacts], identity: Sequence[RunFacts], catalogue: Catalogue
) -> Facts:
    """What the experiment "identity" says about a rhythm seen under a content coding."""
    plain = [run for run in identity if run.stream.coding is None and _enough(run)]
    without, _ = _vote(plain, catalogue)
    return {
        "coding": coded[0].stream.coding,
        "coded_rhythm": rhythm.entry.id,
        "identity_rhythm": _without_coding(coded, plain, without),
        "coded_always": "yes" if identity and not plain else "no",
    }


def _without_coding(
    coded: Sequence[RunFacts], plain: Sequence[RunFacts], rhythm: Match | None
) -> str | None:
    """The rhythm under identity; "none", or "weaker" where bursts are less than half as large."""
    if not plain:
        return None
    if rhythm is None:
        return "none"
    return "weaker" if 2 * _typical_burst(plain) <= _typical_burst(coded) else rhythm.entry.id


def _typical_burst(runs: Sequence[RunFacts]) -> float:
    """Events in the burst that a randomly picked event sits in, over ``runs``."""
    found = [run.facts.get("typical_burst_events") for run in runs]
    return median([value for value in found if isinstance(value, int | float)]) or 1.0


def _others(runs: Sequence[RunFacts], catalogue: Catalogue) -> tuple[Match, ...]:
    """Mechanisms that are no rhythm: a broken end in any run is a fact, a note needs only one."""
    found: dict[str, Match] = {}
    for run in runs:
        for match in matches(catalogue.values(), run.facts):
            if not is_rhythm(match.entry) and not match.entry.replaces:
                found.setdefault(match.entry.id, match)
    return tuple(sorted(found.values(), key=lambda match: match.entry.precedence))


def _unsure(
    runs: Sequence[RunFacts], judged: Sequence[RunFacts], cached: str | None, catalogue: Catalogue
) -> str | None:
    """Why a hop without a rhythm still can't be called clean; None if it can."""
    if not runs:
        return None
    if cached:
        return f"the answer came from a cache ({cached}): its rhythm is not the stream's"
    if not judged:
        return _too_little(runs)
    if max(_pace_ns(run) for run in judged) < MIN_PACE_NS:
        return "all events came faster than one per millisecond: too fast to tell one from the next"
    if any(rhythms(run, catalogue) for run in judged) and len(judged) <= 2:  # noqa: PLR2004
        return "the runs disagree: one shows bursts, another does not"
    return None


def _pace_ns(run: RunFacts) -> float:
    """Time from the request to the last event, per event."""
    return run.cadence.times_ns[-1] / run.cadence.event_count


def _too_little(runs: Sequence[RunFacts]) -> str:
    most = max(run.cadence.event_count for run in runs)
    if most < MIN_EVENT_COUNT:
        return f"{most} events are too few to judge a rhythm (at least {MIN_EVENT_COUNT})"
    return "this machine picked the reads up too late to date them (its own lag, not the path's)"
