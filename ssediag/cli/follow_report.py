"""What ``probe --follow`` says: a line per connection, a summary, and the same as JSON.

The document (schema_version 1)::

    { "schema_version": 1, "kind": "follow", "tool": {"name", "version"}, "command", "began_at",
      "target", "style": "eventsource"|"fetch", "verdict", "exit_code", "stopped_because",
      "connections": [ { "number", "asked_at", "protocol", "status", "sent_last_event_id",
          "sent_last_index", "event_count", "comment_count", "first_event_ms", "duration_ms",
          "outage_ms", "end", "reason", "wait_ms" } ],
      "reconnect_count", "event_count", "longest_outage_ms",
      "continuity": { "basis": "index"|"id"|"text", "duplicate_count", "missing_count",
                      "restarted_connections": [number…] } }

``end`` is one of done, closed, cut, silent, unreachable, futile, no-content, refused, wrong-type,
stopped. ``outage_ms`` is the time without a stream before the connection's first event. What is
not known, or did not happen, is null.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ssediag import __version__
from ssediag.diagnose.verdict import exit_code
from ssediag.jobs.continuity import Basis, Continuity
from ssediag.jobs.follow import Connection, Followed
from ssediag.jobs.reconnect import Style
from ssediag.model.mechanism import Verdict
from ssediag.report.wording import brief, counted, duration_text, milliseconds

_NS_PER_SECOND = 1_000_000_000
_ID_LENGTH = 40
_REASON_LENGTH = 120


def connection_text(connection: Connection) -> str:
    """One line about a finished connection; its time of day is UTC."""
    asked = datetime.fromtimestamp(connection.stream.began_epoch_ns / _NS_PER_SECOND, UTC)
    said = [f"#{connection.stream.run} {asked:%H:%M:%S}.{asked.microsecond // 1000:03d}"]
    if connection.sent_id is not None:
        said.append(f"from id {brief(connection.sent_id, _ID_LENGTH)}")
    if connection.sent_index is not None:
        said.append(f"from index {connection.sent_index}")
    if connection.stream.head is not None:
        took = duration_text(connection.stream.phases.closed_ns or 0)
        said.append(f"{counted(connection.event_count, 'event')} in {took}")
    if connection.outage_ns is not None:
        said.append(f"after an outage of {duration_text(connection.outage_ns)}")
    said.append(brief(connection.reason, _REASON_LENGTH))
    if connection.wait_ns is not None:
        said.append(f"again in {duration_text(connection.wait_ns)}")
    return f"{said[0]}  {', '.join(said[1:])}"


def summary_text(followed: Followed) -> str:
    """The finished follow in a few lines."""
    return "\n".join(_summary(followed))


def _summary(followed: Followed) -> Iterator[str]:
    joined = followed.continuity
    yield _headline(followed)
    yield ", ".join(_counts(followed))
    if followed.event_count:
        missing = joined.missing_count
        gaps = "gaps cannot be seen" if missing is None else f"{counted(missing, 'event')} missing"
        again = f"{counted(joined.duplicate_count, 'event')} twice"
        yield f"{gaps}, {again} (by {_BASES[joined.basis]})"
    if joined.restarts:
        numbers = ", ".join(f"#{place + 1}" for place in joined.restarts)
        yield f"from its start again: {numbers}"
    yield f"stopped: {_stopped(followed)}"


def _headline(followed: Followed) -> str:
    match followed.verdict:
        case Verdict.STREAMS if len(followed.connections) == 1:
            return "The stream needed no reconnect"
        case Verdict.STREAMS:
            return "The stream goes on where it was, whenever it was asked again"
        case Verdict.NOT_MEASURED:
            return "There was no stream to follow"
        case Verdict.INCONCLUSIVE if not followed.event_count:
            return "The stream brought no event"
        case Verdict.INCONCLUSIVE:
            return "Nobody can tell whether events were lost with a connection"
    return _broken(followed.continuity)


def _broken(joined: Continuity) -> str:
    if joined.restarts:
        return "The stream begins from its start again when it is asked again"
    if joined.missing_count or joined.duplicate_count:
        return "What the connections brought does not join to one stream"
    return "The stream did not come back after it was lost"


def _counts(followed: Followed) -> Iterator[str]:
    reconnects = counted(len(followed.connections) - 1, "reconnect")
    yield f"{reconnects} as {_STYLES[followed.style]}"
    yield counted(followed.event_count, "event")
    if followed.longest_outage_ns is not None:
        yield f"longest outage {duration_text(followed.longest_outage_ns)}"


_STYLES = {Style.EVENT_SOURCE: "an EventSource", Style.FETCH: "a fetch client"}
_BASES = {
    Basis.INDEX: "the index in the events",
    Basis.ID: "the events' ids",
    Basis.TEXT: "their text: there are neither ids nor an index",
}


def _stopped(followed: Followed) -> str:
    return followed.connections[-1].stopped or "interrupted"


def follow_document(followed: Followed, command: str, began_at: str) -> dict[str, Any]:
    """The finished follow for machines; see the module."""
    joined = followed.continuity
    outage_ns = followed.longest_outage_ns
    return {
        "schema_version": 1,
        "kind": "follow",
        "tool": {"name": "ssediag", "version": __version__},
        "command": command,
        "began_at": began_at,
        "target": followed.connections[0].stream.hop.target,
        "style": followed.style.value,
        "verdict": followed.verdict.value,
        "exit_code": exit_code(followed.verdict),
        "stopped_because": _stopped(followed),
        "connections": [connection_document(one) for one in followed.connections],
        "reconnect_count": len(followed.connections) - 1,
        "event_count": followed.event_count,
        "longest_outage_ms": None if outage_ns is None else milliseconds(outage_ns),
        "continuity": {
            "basis": joined.basis.value,
            "duplicate_count": joined.duplicate_count,
            "missing_count": joined.missing_count,
            "restarted_connections": [place + 1 for place in joined.restarts],
        },
    }


def connection_document(connection: Connection) -> dict[str, Any]:
    """One connection for machines; see the module."""
    stream = connection.stream
    asked = datetime.fromtimestamp(stream.began_epoch_ns / _NS_PER_SECOND, UTC)
    first_ns = connection.first_event_ns
    return {
        "number": stream.run,
        "asked_at": asked.isoformat(timespec="milliseconds"),
        "protocol": stream.protocol,
        "status": None if stream.head is None else stream.head.status,
        "sent_last_event_id": connection.sent_id,
        "sent_last_index": connection.sent_index,
        "event_count": connection.event_count,
        "comment_count": len(stream.comment_reads),
        "first_event_ms": None if first_ns is None else milliseconds(first_ns),
        "duration_ms": milliseconds(stream.phases.closed_ns or 0),
        "outage_ms": None if connection.outage_ns is None else milliseconds(connection.outage_ns),
        "end": connection.end.value,
        "reason": connection.reason,
        "wait_ms": None if connection.wait_ns is None else milliseconds(connection.wait_ns),
    }


def json_text(followed: Followed, command: str, began_at: str) -> str:
    """The document of a finished follow."""
    return _dump(follow_document(followed, command, began_at), indent=2)


def jsonl_text(followed: Followed, command: str, began_at: str) -> str:
    """A line per connection, then the whole as ``{"summary": …}``."""
    lines = [connection_line(one) for one in followed.connections]
    return "\n".join([*lines, summary_line(followed, command, began_at)])


def connection_line(connection: Connection) -> str:
    """One connection as a line of JSON."""
    return _dump(connection_document(connection))


def summary_line(followed: Followed, command: str, began_at: str) -> str:
    """The last line of the JSON Lines."""
    return _dump({"summary": follow_document(followed, command, began_at)})


def _dump(document: dict[str, Any], indent: int | None = None) -> str:
    # In ASCII nothing from a server can control a terminal, but for DEL.
    return json.dumps(document, indent=indent).replace("\x7f", "\\u007f")
