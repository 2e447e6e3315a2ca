"""The first step that changes the rhythm, and why it is that one."""

from collections.abc import Sequence

from ssediag.diagnose.chain import Link
from ssediag.diagnose.match import Match
from ssediag.diagnose.verdict import is_fault
from ssediag.model.diagnosis import Alternative, Culprit, Origin

# A held body may just be shorter than the block it sits in: how likely that is for bodies below a
# page, a TLS record and the largest block that a known product flushes by.
_BLOCK_ALTERNATIVES = ((4_096, 0.4), (16_384, 0.25), (65_536, 0.1))


def culprit_of(links: Sequence[Link], allowed: frozenset[str]) -> Culprit | None:
    """The innermost hop with a fault that works there; None when no hop has one."""
    for link in links:
        for match, origin in link.found:
            fault = is_fault(match.entry.verdict) and match.entry.id not in allowed
            if fault and origin is Origin.HERE:
                return _culprit(link, match)
    return None


def swapped(links: Sequence[Link]) -> tuple[str, str] | None:
    """The names of an inner hop that bursts and an outer one that streams, or None.

    No hop can give back the rhythm that an inner one took, unless the inner one only compresses
    for clients that ask: then the outer hop may simply not have asked.
    """
    for index, inner in enumerate(links):
        rhythm = inner.judgement.rhythm
        if rhythm is None or any(run.stream.coding for run in inner.judgement.runs):
            continue
        for outer in links[index + 1 :]:
            if outer.judgement.streams_cleanly:
                return inner.judgement.hop.name, outer.judgement.hop.name
    return None


def _culprit(link: Link, match: Match) -> Culprit:
    return Culprit(
        hop=link.judgement.hop.name,
        inner=None if link.inner is None else link.inner.hop.name,
        mechanism=match.entry.id,
        confidence=round(confidence_in(link, match), 2),
        alternatives=_alternatives(link, match),
        because=tuple(_because(link, match)),
    )


def confidence_in(link: Link, match: Match) -> float:
    """How sure we are of ``match``, less what speaks for a block that holds the whole stream."""
    if match is link.rhythm and match.entry.id == "full-buffer":
        return min(match.confidence, 1 - _one_block(link))
    return match.confidence


def _one_block(link: Link) -> float:
    """How likely one block of a size-flush holds the whole body; 0 for a long one."""
    size = _body_bytes(link)
    return next((likely for limit, likely in _BLOCK_ALTERNATIVES if size < limit), 0.0)


def _alternatives(link: Link, match: Match) -> tuple[Alternative, ...]:
    if match is not link.rhythm:
        return ()
    found = [Alternative(other.entry.id, round(other.confidence, 2)) for other in link.alternatives]
    known = {alternative.mechanism for alternative in found}
    if match.entry.id == "full-buffer" and "size-flush" not in known and _one_block(link):
        found.append(Alternative("size-flush", _one_block(link)))
    return tuple(found)


def _body_bytes(link: Link) -> int:
    return max((sum(run.arrivals.byte_counts) for run in link.judgement.runs), default=0)


def _because(link: Link, match: Match) -> list[str]:
    """Sentences for the verdict; the figures stand in the evidence."""
    hop = link.judgement.hop.name
    runs = len(link.judgement.runs)
    said = [f"{hop} {match.entry.summary}."]
    if link.inner is not None and link.inner.streams_cleanly:
        said.append(f"{link.inner.hop.name} streams event by event in the same interleaved runs.")
    elif link.inner is not None and not link.inner.answered:
        said.append(f"{link.inner.hop.name} could not be measured, so the step stays wider open.")
    if match is link.rhythm:
        said.append(f"Seen at {hop} in {_agreeing(link, match)} of {runs} runs.")
    if match.entry.id == "full-buffer" and _one_block(link):
        said.append(
            f"The whole body is {_body_bytes(link)} bytes: it would also fit into one block of a "
            "size-flush that large; a longer stream decides."
        )
    if match.entry.id == "compression":
        said.append("The same hop streams when asked for no content coding.")
    return said


def _agreeing(link: Link, match: Match) -> int:
    """In how many plain runs the pattern, or the one that this cause replaces, shows."""
    replaced = set(match.entry.replaces) | {match.entry.id}
    return sum(bool(replaced & ids) for ids in link.judgement.shown)
