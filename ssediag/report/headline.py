"""The answer in one sentence."""

from ssediag.model.diagnosis import Culprit, Diagnosis, HopResult
from ssediag.model.mechanism import Verdict
from ssediag.report.wording import listed, parameter_text

_VERBS = {
    Verdict.BURSTS: "turns per-token output into bursts",
    Verdict.HELD: "holds the stream back",
    Verdict.CUT: "cuts the stream off",
    Verdict.BROKEN: "breaks the stream",
}
_PASSIVE = {
    Verdict.BURSTS: "comes in bursts",
    Verdict.HELD: "is held back",
    Verdict.CUT: "is cut off",
    Verdict.BROKEN: "is broken",
}


def headline(diagnosis: Diagnosis) -> str:
    """Who does what, how surely; or that all is well; or why nobody can tell."""
    if diagnosis.culprit is not None:
        return _guilty(diagnosis, diagnosis.culprit)
    swapped = next((one for one in diagnosis.findings if one.id == "hops-swapped"), None)
    if swapped is not None:
        return f"Inconclusive: {swapped.summary}."
    match diagnosis.verdict:
        case Verdict.STREAMS:
            return _clean(diagnosis)
        case Verdict.NOT_MEASURED:
            return _unmeasured(diagnosis)
        case Verdict.INCONCLUSIVE:
            return f"Inconclusive: {_why_open(diagnosis)}"
        case Verdict.BURSTS | Verdict.HELD | Verdict.CUT | Verdict.BROKEN:
            return f"The stream {_PASSIVE[diagnosis.verdict]}; which hop does it is open."


def reason_of(result: HopResult) -> str:
    """Stage and reason of the first failure at a hop that was not measured."""
    for attempt in result.attempts:
        if attempt.outcome is not None:
            return f"{attempt.outcome.value}: {attempt.reason or 'no reason known'}"
    return "nothing was tried"


def _guilty(diagnosis: Diagnosis, culprit: Culprit) -> str:
    verb = _VERBS.get(diagnosis.verdict, "changes the stream")
    details = (
        parameter_text(found)
        for result in diagnosis.hops
        for found in result.mechanisms
        if result.hop.name == culprit.hop and found.id == culprit.mechanism
    )
    detail = next(details, "")
    what = f"{culprit.mechanism}, {detail}" if detail else culprit.mechanism
    return f"{culprit.hop} {verb}: {what} (confidence {culprit.confidence:.2f})"


def _clean(diagnosis: Diagnosis) -> str:
    count = len(diagnosis.hops)
    if count == 1:
        return f"{diagnosis.hops[0].hop.name} streams event by event."
    return f"All {count} hops stream event by event."


def _unmeasured(diagnosis: Diagnosis) -> str:
    """With one hop the reason too; with several it stands in a line of its own for each."""
    lost = [one for one in diagnosis.hops if one.verdict is Verdict.NOT_MEASURED]
    names = listed([result.hop.name for result in lost])
    if len(diagnosis.hops) == 1:
        return f"Could not measure {names}: {reason_of(lost[0])}."
    answered = len(diagnosis.hops) - len(lost)
    rest = f"; {answered} of {len(diagnosis.hops)} hops answered" if answered else ""
    return f"Could not measure {names}{rest}."


def _why_open(diagnosis: Diagnosis) -> str:
    """The first thing that could not be seen and that kept a hop without a verdict."""
    names = [one.hop.name for one in diagnosis.hops if one.verdict is Verdict.INCONCLUSIVE]
    for sentence in diagnosis.not_observable:
        if any(sentence.startswith(f"{name}: ") for name in names):
            return sentence
    return f"no verdict on {listed(names)}." if names else "nothing was measured."
