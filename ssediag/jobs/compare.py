"""Measure hops from the instance outward, interleaved, and name the step that changes the rhythm.

A probe is a comparison of one hop. The loop: record runs until they agree, judge, ask the next
question if one would decide something, judge again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic_ns

from ssediag.capture.http import capture
from ssediag.decode.unwrap import Unwrapper, unwrap
from ssediag.diagnose.attempts import failure_of
from ssediag.diagnose.diagnosis import diagnose, judge
from ssediag.diagnose.experiments import Question, next_question
from ssediag.diagnose.hops import HopJudgement
from ssediag.jobs.redirect import MAX_REDIRECT_COUNT, redirected, same_place
from ssediag.jobs.targets import Plan, Target
from ssediag.model.diagnosis import Diagnosis
from ssediag.model.stream import Stream

# A run this long is not repeated unless runs were asked for by number: it holds enough bursts to
# judge by, and three of them try a user's patience.
_LONG_RUN_NS = 20_000_000_000
_RUNS_TO_AGREE = 2
_SURE = 0.8

Observe = Callable[[Stream], None]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A diagnosis with the streams it stands on; ``interrupted``: somebody said stop."""

    diagnosis: Diagnosis
    streams: tuple[Stream, ...]
    interrupted: bool


@dataclass(frozen=True, slots=True)
class _Session:
    """What every run of one comparison shares; ``streams`` grows by each run."""

    plan: Plan
    stop: Event
    observe: Observe
    streams: list[Stream]


def compare(plan: Plan, stop: Event, observe: Observe) -> Measurement:
    """Measure ``plan``. Never raises for what network and peers do.

    ``stop`` may be set from a signal handler: the run under way ends at once, and what was
    measured is diagnosed. ``observe`` is called with every finished run.
    """
    began_ns = monotonic_ns()
    streams = [stream for target in plan.targets for stream in target.recorded]
    session = _Session(plan, stop, observe, streams)
    for run in range(1, plan.max_run_count + 1):
        due = [target for target in plan.targets if _is_due(target, streams, run, plan)]
        if not due or stop.is_set():
            break
        for target in due:
            _record(session, target, run)
        if plan.stop_early and run >= _RUNS_TO_AGREE and _agree(judge(streams)):
            break
    if plan.experiments:
        _experiment(session)
    diagnosis = diagnose(streams, elapsed_ns=monotonic_ns() - began_ns, allowed=plan.allowed)
    return Measurement(diagnosis, tuple(streams), stop.is_set())


def _experiment(session: _Session) -> None:
    """Ask questions until nothing that could be asked would decide anything."""
    asked: frozenset[str] = frozenset()
    streams = session.streams
    while not session.stop.is_set():
        question = next_question(judge(streams), asked)
        if question is None:
            return
        asked |= {question.name}
        for target in session.plan.targets:
            if target.hop.name in question.hops and _may_ask(target, streams, session.plan):
                run = 1 + sum(stream.hop == target.hop for stream in streams)
                _record(session, _varied(target, question), run, question.name)


def _may_ask(target: Target, streams: Sequence[Stream], plan: Plan) -> bool:
    """A body of the user's own is not sent more often than asked for."""
    if target.request is None:
        return False
    used = sum(stream.hop == target.hop for stream in streams)
    return not plan.own_body or used < plan.max_run_count


def _varied(target: Target, question: Question) -> Target:
    """The target asked with the question's header fields in place of its own."""
    if target.request is None:
        return target
    changed = {name.lower() for name, _ in question.headers}
    kept = tuple(pair for pair in target.request.headers if pair[0].lower() not in changed)
    return replace(target, request=replace(target.request, headers=kept + question.headers))


def _is_due(target: Target, streams: Sequence[Stream], run: int, plan: Plan) -> bool:
    """Whether another run at this hop can tell anything new."""
    if target.request is None:
        return False
    before = [stream for stream in streams if stream.hop == target.hop]
    if not before:
        return True
    last = before[-1]
    if failure_of(last) is not None or not len(last.events):
        return False
    long = (last.phases.closed_ns or 0) > _LONG_RUN_NS
    return run <= plan.max_run_count and not (long and plan.stop_early)


def _record(session: _Session, target: Target, run: int, experiment: str | None = None) -> None:
    """Capture one run, redirects followed, and take it apart."""
    plan = session.plan
    if target.request is None or session.stop.is_set():
        return
    request = target.request
    route = target.route
    for _ in range(MAX_REDIRECT_COUNT + 1):
        recording = capture(
            target.hop,
            request,
            plan.limits,
            run=run,
            experiment=experiment,
            route=route,
            stop=session.stop,
            watch=Unwrapper(plan.dialect),
        )
        stream = unwrap(recording, dialect=plan.dialect, with_data=plan.with_data)
        following = redirected(request, stream)
        if following is None or session.stop.is_set():
            break
        if not same_place(request.url, following.url):
            route = replace(route, connect_to=None, unix_socket=None)
        request = following
    session.streams.append(stream)
    session.observe(stream)


def _agree(judgements: Sequence[HopJudgement]) -> bool:
    """Whether every hop's runs say the same, surely enough."""
    return all(_settled(judgement) for judgement in judgements)


def _settled(judgement: HopJudgement) -> bool:
    if not judgement.answered:
        return True
    if judgement.rhythm is None:
        return not any(judgement.shown)
    return judgement.rhythm.confidence >= _SURE
