"""The contract's words for what was found: hop verdicts, the chain's verdict, the exit code."""

from collections.abc import Sequence

from ssediag.diagnose.chain import Link
from ssediag.model.mechanism import Verdict

_FAULTS = frozenset({Verdict.BURSTS, Verdict.HELD, Verdict.CUT, Verdict.BROKEN})

EXIT_STREAMS = 0
EXIT_FAULT = 3
EXIT_NOT_MEASURED = 4
EXIT_INCONCLUSIVE = 5


def hop_verdict(link: Link, allowed: frozenset[str]) -> Verdict:
    """The verdict of one hop from its mechanisms; those in ``allowed`` are by design here."""
    for match, _ in link.found:
        if match.entry.verdict in _FAULTS and match.entry.id not in allowed:
            return match.entry.verdict
    if not link.judgement.answered:
        return Verdict.NOT_MEASURED
    return Verdict.INCONCLUSIVE if link.judgement.unsure else Verdict.STREAMS


def is_fault(verdict: Verdict) -> bool:
    """Whether the verdict is a fault of the stream, not of the measurement."""
    return verdict in _FAULTS


def chain_verdict(verdicts: Sequence[Verdict], culprit: Verdict | None) -> Verdict:
    """The chain's verdict: the culprit's, else the worst that is open."""
    if culprit is not None:
        return culprit
    for verdict in (Verdict.NOT_MEASURED, Verdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return Verdict.STREAMS


def exit_code(verdict: Verdict) -> int:
    """The contract's exit code for the chain's verdict."""
    if is_fault(verdict):
        return EXIT_FAULT
    if verdict is Verdict.NOT_MEASURED:
        return EXIT_NOT_MEASURED
    return EXIT_INCONCLUSIVE if verdict is Verdict.INCONCLUSIVE else EXIT_STREAMS
