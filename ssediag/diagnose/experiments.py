"""The next question: a variation of the request that would separate what is still open."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssediag.diagnose.hops import HopJudgement
from ssediag.model.diagnosis import Experiment

IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class Question:
    """An experiment to run: its name, on which hops, and the header fields to set."""

    name: str
    hops: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]


def next_question(judgements: Sequence[HopJudgement], asked: frozenset[str]) -> Question | None:
    """What to ask next, or None when nothing that could be asked would decide anything.

    A hop that answers with a content coding is asked again for none: whether a rhythm is the
    compressor's or the path's shows in no other way.
    """
    coded = tuple(
        judgement.hop.name
        for judgement in judgements
        if any(run.stream.coding is not None for run in judgement.runs)
    )
    if coded and IDENTITY not in asked:
        return Question(IDENTITY, coded, (("Accept-Encoding", "identity"),))
    return None


def experiments_of(judgements: Sequence[HopJudgement]) -> tuple[Experiment, ...]:
    """The experiments that were run, and what each decided."""
    tried = [judgement for judgement in judgements if judgement.identity_runs]
    if not tried:
        return ()
    decided = [clause for judgement in tried if (clause := _decided(judgement)) is not None]
    return (
        Experiment(
            IDENTITY, "Accept-Encoding: identity instead of gzip", "; ".join(decided) or None
        ),
    )


def _decided(judgement: HopJudgement) -> str | None:
    name = judgement.hop.name
    if all(run.stream.coding is not None for run in judgement.identity_runs):
        return f"{name} compresses even when asked not to"
    if judgement.rhythm is None:
        return f"{name} streams with and without the coding"
    if judgement.rhythm.entry.replaces:
        return f"{name} streams without the coding: the compressor holds the bytes"
    return f"{name} shows {judgement.rhythm.entry.id} without the coding too"
