"""The answer in one sentence."""

from ssediag.model.diagnosis import Culprit, Diagnosis
from ssediag.model.mechanism import Verdict
from ssediag.report.wording import parameter_text

_VERBS = {
    Verdict.BURSTS: "turns per-token output into bursts",
    Verdict.HELD: "holds the stream back",
    Verdict.CUT: "cuts the stream off",
    Verdict.BROKEN: "breaks the stream",
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
            lost = [one for one in diagnosis.hops if one.verdict is Verdict.NOT_MEASURED]
            names = ", ".join(result.hop.name for result in lost)
            return f"Could not measure {names}: {_first_reason(diagnosis)}."
        case _:
            return f"Inconclusive: {_why_open(diagnosis)}"


def _guilty(diagnosis: Diagnosis, culprit: Culprit) -> str:
    verb = _VERBS.get(diagnosis.verdict, "changes the stream")
    result = next(one for one in diagnosis.hops if one.hop.name == culprit.hop)
    found = next((one for one in result.mechanisms if one.id == culprit.mechanism), None)
    detail = "" if found is None else parameter_text(found)
    what = f"{culprit.mechanism}, {detail}" if detail else culprit.mechanism
    return f"{culprit.hop} {verb}: {what} (confidence {culprit.confidence:.2f})"


def _clean(diagnosis: Diagnosis) -> str:
    count = len(diagnosis.hops)
    if count == 1:
        return f"{diagnosis.hops[0].hop.name} streams event by event."
    return f"All {count} hops stream event by event."


def _first_reason(diagnosis: Diagnosis) -> str:
    for result in diagnosis.hops:
        if result.verdict is Verdict.NOT_MEASURED and result.attempts:
            return result.attempts[0].reason or "no reason known"
    return "nothing was tried"


def _why_open(diagnosis: Diagnosis) -> str:
    """The first thing that could not be seen and that kept a hop without a verdict."""
    names = [one.hop.name for one in diagnosis.hops if one.verdict is Verdict.INCONCLUSIVE]
    for sentence in diagnosis.not_observable:
        if any(sentence.startswith(f"{name}: ") for name in names):
            return sentence
    return "nothing was measured."
