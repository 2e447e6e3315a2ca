"""When and how a client asks again: the rules of EventSource, and those of resilient fetch clients.

Nothing here waits or sends: given how a connection ended and what is remembered, it says what to
do next. Sources: the WHATWG HTML standard, 9.2 Server-sent events; for fetch the usual client of a
streamed inference API, with exponential back-off and ``X-Stream-Last-Index``.
"""

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum

from ssediag.diagnose.attempts import failure_of
from ssediag.model.recording import Stage
from ssediag.model.request import Request
from ssediag.model.stream import Ending, Head, Stream

_NS_PER_SECOND = 1_000_000_000
# A user agent may wait longer than it is told to; retry: 0 must not make this tool a flood.
LEAST_WAIT_NS = 100_000_000
LONGEST_BACKOFF_NS = 30 * _NS_PER_SECOND
_MOST_DOUBLINGS = 32  # far above the ceiling, and no huge number on the way there
_EVENT_STREAM = "text/event-stream"
_OK = 200
_NO_CONTENT = 204
_OK_STATUSES = range(200, 300)
_FIRST_SERVER_ERROR = 500
_PASSING_STATUSES = frozenset({408, 425, 429})
_LONGEST_HEADER_SECONDS = 6  # digits
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# A certificate or a request that is wrong stays wrong.
_FUTILE_STAGES = frozenset({Stage.TLS, Stage.SEND})


class Style(StrEnum):
    """Whose habits are followed."""

    EVENT_SOURCE = "eventsource"
    FETCH = "fetch"


class End(StrEnum):
    """What the end of a connection is to its client."""

    DONE = "done"  # the stream said that it is finished
    CLOSED = "closed"  # an orderly end that says nothing more
    CUT = "cut"  # an end in the middle, or an error inside the stream
    SILENT = "silent"  # nothing came for as long as we wait
    UNREACHABLE = "unreachable"  # no head of an answer
    FUTILE = "futile"  # likewise, and asking again cannot help
    NO_CONTENT = "no-content"  # 204: do not come back
    REFUSED = "refused"  # a status that is no stream
    WRONG_TYPE = "wrong-type"  # an answer that is no event stream
    STOPPED = "stopped"  # we had enough


ORDERLY = frozenset({End.DONE, End.CLOSED, End.NO_CONTENT, End.STOPPED})
NEVER_BEGUN = frozenset({End.UNREACHABLE, End.FUTILE, End.NO_CONTENT, End.REFUSED, End.WRONG_TYPE})


@dataclass(frozen=True, slots=True)
class Policy:
    """``first_wait_ns`` holds until the server sends ``retry:``; fetch doubles it each time.

    ``most_reconnects`` None: as often as it takes.
    """

    style: Style
    first_wait_ns: int
    most_reconnects: int | None = None


# The standard leaves the time open, "in the region of a few seconds"; Chromium waits 3.
EVENT_SOURCE = Policy(Style.EVENT_SOURCE, 3 * _NS_PER_SECOND)
FETCH = Policy(Style.FETCH, _NS_PER_SECOND, most_reconnects=3)


@dataclass(frozen=True, slots=True)
class Memory:
    """What a client knows when a connection has ended.

    ``retry_ns`` is the server's latest ``retry:``, ``last_index`` the latest number of an event if
    the events are counted, ``reconnect_count`` how often was asked again already.
    """

    last_event_id: str = ""
    retry_ns: int | None = None
    last_index: int | None = None
    reconnect_count: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again after this long."""

    after_ns: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Do not ask again, for this reason: one clause."""

    because: str


def is_stream(head: Head, style: Style) -> bool:
    """Whether the client reads events from an answer with this head."""
    if style is Style.FETCH:
        return head.status in _OK_STATUSES and head.status != _NO_CONTENT
    return head.status == _OK and _media_type(head) == _EVENT_STREAM


def _media_type(head: Head) -> str:
    return (head.header("content-type") or "").partition(";")[0].strip().lower()


def end_of(stream: Stream, style: Style, *, done: bool) -> End:
    """What the end of this connection is to a client; ``done``: it read the stream's own end."""
    head = stream.head
    if head is None:
        failure = stream.not_measured
        futile = failure is not None and failure.stage in _FUTILE_STAGES
        stopped = stream.ending is Ending.STOPPED and failure is None
        return End.FUTILE if futile else End.STOPPED if stopped else End.UNREACHABLE
    if head.status == _NO_CONTENT:
        return End.NO_CONTENT
    if not is_stream(head, style):
        return End.WRONG_TYPE if head.status == _OK else End.REFUSED
    if not (len(stream.events) or stream.comment_reads or _media_type(head) == _EVENT_STREAM):
        return End.WRONG_TYPE
    return End.DONE if done else _end_of_body(stream)


def _end_of_body(stream: Stream) -> End:
    match stream.ending:
        case Ending.STOPPED:
            return End.STOPPED
        case Ending.TIMED_OUT:
            return End.SILENT
        case Ending.COMPLETE | Ending.EOF:
            finished = stream.terminator is not False or stream.finish_reason is not None
            return End.CLOSED if finished and stream.error is None else End.CUT
        case Ending.NO_LAST_CHUNK | Ending.SHORT | Ending.RESET:
            return End.CUT


def reason_of(end: End, stream: Stream) -> str:
    """How the connection ended, in one clause; it may quote the peer."""
    if end is End.WRONG_TYPE and stream.head is not None:  # its body was not waited for
        kind = stream.head.header("content-type")
        return f"status {stream.head.status}, {kind or 'without a content type'}"
    failure = failure_of(stream)
    if end in NEVER_BEGUN and failure is not None:
        return failure.reason
    if end is End.DONE:
        return "the stream said that it is finished"
    if end is End.CUT:
        return f"an error event: {stream.error}" if stream.error else _CUTS[stream.ending]
    if stream.not_measured is not None:
        return stream.not_measured.reason
    return "closed in order" if end is End.CLOSED else "stopped by this side"


_CUTS = {
    Ending.NO_LAST_CHUNK: "cut: the end of the body is missing",
    Ending.SHORT: "cut: shorter than it was announced",
    Ending.RESET: "cut: reset by the peer",
    Ending.COMPLETE: "closed in order, without the end that this dialect has",
    Ending.EOF: "closed without the end that this dialect has",
}


def next_step(policy: Policy, end: End, head: Head | None, memory: Memory) -> Wait | Stop:
    """Ask again, or not: by how the connection with ``head`` ended."""
    final = _final(policy, end, head)
    if final is not None:
        return Stop(final)
    if policy.most_reconnects is not None and memory.reconnect_count >= policy.most_reconnects:
        return Stop(f"the reconnects allowed are used up ({policy.most_reconnects})")
    wait_ns = policy.first_wait_ns if memory.retry_ns is None else memory.retry_ns
    if policy.style is Style.FETCH:
        wait_ns <<= min(memory.reconnect_count, _MOST_DOUBLINGS)
        wait_ns = max(min(wait_ns, LONGEST_BACKOFF_NS), _retry_after_ns(head))
    return Wait(max(wait_ns, LEAST_WAIT_NS))


def _final(policy: Policy, end: End, head: Head | None) -> str | None:
    """Why nobody asks again after this end; None if somebody does."""
    status = 0 if head is None else head.status
    fetch = policy.style is Style.FETCH
    reason = None
    match end:
        case End.DONE:
            reason = "the stream said that it is finished, and applications close on that"
        case End.CLOSED if fetch:
            reason = "the answer is complete"
        case End.NO_CONTENT:
            reason = "status 204 tells the client not to come back"
        case End.FUTILE:
            reason = "asking again would not help"
        case End.REFUSED if not (fetch and _may_pass(head)):
            reason = f"status {status} ends it"
        case End.WRONG_TYPE:
            reason = "the answer is no event stream"
        case End.STOPPED:
            reason = "enough was read"
        case End.CLOSED | End.CUT | End.SILENT | End.UNREACHABLE | End.REFUSED:
            reason = None
    return reason


def _may_pass(head: Head | None) -> bool:
    """Whether a refusal is worth another try; a server may ask for a request without streaming."""
    if head is None or head.header("x-stream-degraded") is not None:
        return False
    return head.status >= _FIRST_SERVER_ERROR or head.status in _PASSING_STATUSES


def _retry_after_ns(head: Head | None) -> int:
    """The server's Retry-After in seconds; a date counts as none."""
    text = (head.header("retry-after") or "") if head is not None else ""
    readable = text.isascii() and text.isdigit() and len(text) <= _LONGEST_HEADER_SECONDS
    return int(text) * _NS_PER_SECOND if readable else 0


def asking(request: Request, style: Style, memory: Memory) -> Request:
    """The request to send now: ``request`` with what the client remembers.

    An EventSource asks for no cached answer. An id that no header field may hold is left out.
    """
    given = {name.lower() for name, _ in request.headers}
    ours = {"Last-Event-ID": sendable(memory.last_event_id)}
    if style is Style.EVENT_SOURCE and "cache-control" not in given:
        ours["Cache-Control"] = "no-cache"
    body = request.body
    if resumes_by_index(style, memory):
        ours |= {"X-Stream-Retry": "true", "X-Stream-Last-Index": str(memory.last_index)}
        body = _with_index(body, memory.last_index)
    names = {name.lower() for name in ours}
    kept = tuple(pair for pair in request.headers if pair[0].lower() not in names)
    added = tuple((name, value) for name, value in ours.items() if value)
    return replace(request, headers=(*kept, *added), body=body)


def resumes_by_index(style: Style, memory: Memory) -> bool:
    """Whether the next request names the last index: a reconnect of fetch to counted events."""
    return style is Style.FETCH and memory.reconnect_count > 0 and memory.last_index is not None


def sendable(last_event_id: str) -> str:
    """The id without the blanks at its ends; empty if it holds what no header field may."""
    bare = last_event_id.strip(" \t")
    return "" if _CONTROL.search(bare) else bare


def _with_index(body: bytes | None, last_index: int | None) -> bytes | None:
    """The body with ``last_token_index``, where it is a JSON object."""
    try:
        document = json.loads(body or b"")
    except (ValueError, RecursionError):
        return body
    if not isinstance(document, dict):
        return body
    return json.dumps({**document, "last_token_index": last_index}).encode()
