"""Follow one stream over its reconnects, as an EventSource or a resilient fetch client does.

The loop: ask, listen, see how it ended, wait, ask again with what is remembered; then check what
came together. The rules are in ``reconnect``, the check is in ``continuity``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic_ns

from ssediag.capture.http import capture
from ssediag.decode.unwrap import unwrap
from ssediag.jobs.continuity import Continuity, Heard, check, counted
from ssediag.jobs.listening import Ears, Listener
from ssediag.jobs.reconnect import (
    NEVER_BEGUN,
    ORDERLY,
    End,
    Memory,
    Policy,
    Stop,
    Style,
    Wait,
    asking,
    end_of,
    next_step,
    reason_of,
    resumes_by_index,
    sendable,
)
from ssediag.jobs.redirect import MAX_REDIRECT_COUNT, redirected, same_place
from ssediag.jobs.targets import Target
from ssediag.model.mechanism import Verdict
from ssediag.model.request import Limits, Request
from ssediag.model.stream import Ending, Stream

_NS_PER_SECOND = 1_000_000_000
_LOST = frozenset({End.CUT, End.SILENT})


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection: what it sent and brought, how it ended, and what was done then.

    ``sent_id`` and ``sent_index`` are where it asked to go on (None: nowhere). ``since_epoch_ns``
    is since when its reader had been without a stream; None if there was none before. ``reason``
    says how it ended. ``wait_ns`` is the pause after it; None if there is no next one, and then
    ``stopped`` says why.
    """

    stream: Stream
    event_count: int
    sent_id: str | None
    sent_index: int | None
    since_epoch_ns: int | None
    end: End
    reason: str
    wait_ns: int | None
    stopped: str | None

    @property
    def first_event_ns(self) -> int | None:
        """When its first event was here, from the request; None if none came."""
        stream = self.stream
        if not self.event_count or not len(stream.events):
            return None
        return stream.reads.latest_ns[stream.events.dispatch_read[0]]

    @property
    def outage_ns(self) -> int | None:
        """How long its reader had been without a stream when the first event came, if one did."""
        if self.since_epoch_ns is None or self.first_event_ns is None:
            return None
        return max(0, self.stream.began_epoch_ns + self.first_event_ns - self.since_epoch_ns)

    @property
    def ended_epoch_ns(self) -> int:
        """When it was over, by the wall clock."""
        return self.stream.began_epoch_ns + (self.stream.phases.closed_ns or 0)


@dataclass(frozen=True, slots=True)
class Followed:
    """A stream over all its connections. ``interrupted``: somebody said stop."""

    style: Style
    connections: tuple[Connection, ...]
    continuity: Continuity
    interrupted: bool

    @property
    def verdict(self) -> Verdict:
        """BROKEN: events are missing or came again, or it did not recover from its last loss.

        INCONCLUSIVE: no events, or nobody can tell whether some were lost with a connection.
        """
        joined, last = self.continuity, self.connections[-1]
        if all(one.end in NEVER_BEGUN for one in self.connections):
            return Verdict.NOT_MEASURED
        unsound = joined.duplicate_count or joined.missing_count or joined.restarts
        if unsound or not (last.end in ORDERLY or self.interrupted):
            return Verdict.BROKEN
        lost = any(one.end in _LOST for one in self.connections)
        unsure = lost and joined.missing_count is None
        return Verdict.INCONCLUSIVE if unsure or not self.event_count else Verdict.STREAMS

    @property
    def event_count(self) -> int:
        """Events of all connections."""
        return sum(one.event_count for one in self.connections)

    @property
    def longest_outage_ns(self) -> int | None:
        """The longest time without a stream that an event ended."""
        outages = [one.outage_ns for one in self.connections if one.outage_ns is not None]
        return max(outages, default=None)


@dataclass(frozen=True, slots=True)
class _Job:
    """What all connections of one follow share; ``connections`` and ``heard`` grow by each."""

    target: Target
    request: Request
    limits: Limits
    policy: Policy
    stop: Event
    ears: Ears
    dialect: str
    with_data: bool
    began_ns: int
    connections: list[Connection] = field(default_factory=list)
    heard: list[list[Heard]] = field(default_factory=list)

    def left_ns(self) -> int:
        """What is left of the time for everything."""
        return self.limits.total_ns - (monotonic_ns() - self.began_ns)

    def left_event_count(self) -> int | None:
        """How many more events are wanted; None for all."""
        most = self.limits.max_event_count
        return None if most is None else most - sum(map(len, self.heard))


def follow(
    target: Target,
    limits: Limits,
    policy: Policy,
    stop: Event,
    observe: Callable[[Connection], None],
    *,
    ears: Ears | None = None,
    wait: Callable[[float], object] | None = None,
    dialect: str = "auto",
    with_data: bool = False,
) -> Followed:
    """Follow the live ``target``. Never raises for what network and peers do.

    ``limits.total_ns`` and ``limits.max_event_count`` bound all connections together, the other
    limits each one. ``observe`` is called with every finished connection. ``wait(seconds)`` pauses
    and returns early once ``stop`` is set: ``stop.wait`` unless given. A ``Last-Event-ID`` in the
    request is where the client begins. Raises ValueError for a target that is a recording.
    """
    request = target.request
    if request is None:
        raise ValueError("a recording cannot be followed")
    job = _Job(
        target, request, limits, policy, stop, ears or Ears(), dialect, with_data, monotonic_ns()
    )
    first_id = next((v for name, v in request.headers if name.lower() == "last-event-id"), "")
    memory = Memory(last_event_id=first_id)
    while True:
        memory = _connect(job, memory)
        connection = job.connections[-1]
        observe(connection)
        if connection.wait_ns is None:
            break
        (wait or stop.wait)(connection.wait_ns / _NS_PER_SECOND)
        if stop.is_set():
            break
        memory = replace(memory, reconnect_count=memory.reconnect_count + 1)
    joined = check(job.heard, first_id)
    return Followed(policy.style, tuple(job.connections), joined, stop.is_set())


def _connect(job: _Job, memory: Memory) -> Memory:
    """Make and note one connection; returns what is known after it."""
    style = job.policy.style
    stream, listener = _ask(job, memory)
    job.heard.append(listener.heard)
    indices = counted(listener.heard)
    known = replace(
        memory,
        last_event_id=listener.last_event_id,
        retry_ns=listener.retry_ns,
        last_index=indices[-1] if indices else memory.last_index,
    )
    end = _end(job, stream, done=listener.done)
    step = _step(job, end, stream, known)
    connection = Connection(
        stream=stream,
        event_count=len(listener.heard),
        sent_id=sendable(memory.last_event_id) or None,
        sent_index=memory.last_index if resumes_by_index(style, memory) else None,
        since_epoch_ns=max(
            (one.ended_epoch_ns for one in job.connections if one.event_count), default=None
        ),
        end=end,
        reason=reason_of(end, stream),
        wait_ns=step.after_ns if isinstance(step, Wait) else None,
        stopped=step.because if isinstance(step, Stop) else None,
    )
    job.connections.append(connection)
    return known


def _ask(job: _Job, memory: Memory) -> tuple[Stream, Listener]:
    """Send the request, redirects followed, and listen until the connection is over."""
    request, route = asking(job.request, job.policy.style, memory), job.target.route
    left = job.left_event_count()
    for redirect_count in range(MAX_REDIRECT_COUNT + 1):
        listener = Listener(
            job.policy.style, job.dialect, memory.last_event_id, memory.retry_ns, job.ears
        )
        recording = capture(
            job.target.hop,
            request,
            replace(job.limits, total_ns=max(1, job.left_ns()), max_event_count=left),
            run=len(job.connections) + 1,
            experiment=None,
            route=route,
            stop=job.stop,
            watch=listener,
        )
        stream = unwrap(recording, dialect=job.dialect, with_data=job.with_data)
        following = redirected(request, stream)
        if following is None or job.stop.is_set() or redirect_count == MAX_REDIRECT_COUNT:
            break
        if not same_place(request.url, following.url):
            route = replace(route, connect_to=None, unix_socket=None)
        request = following
    return stream, listener


def _end(job: _Job, stream: Stream, *, done: bool) -> End:
    """How it ended to the client; what our limit for everything or a wish ended was stopped."""
    end = end_of(stream, job.policy.style, done=done)
    if job.stop.is_set() and stream.ending is Ending.STOPPED:
        return End.STOPPED
    return End.STOPPED if end is End.SILENT and job.left_ns() <= 0 else end


def _step(job: _Job, end: End, stream: Stream, memory: Memory) -> Wait | Stop:
    """What the policy says, within the limits of this follow."""
    if job.stop.is_set():
        return Stop("interrupted")
    left = job.left_event_count()
    step = next_step(job.policy, end, stream.head, memory)
    if isinstance(step, Stop):
        return step
    if left is not None and left <= 0:
        return Stop("enough events were read")
    if step.after_ns >= job.left_ns():
        return Stop("the time limit for following comes before the next try")
    return step
