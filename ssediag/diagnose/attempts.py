"""What became of each run: measured, or where and why not."""

from ssediag.model.diagnosis import Attempt
from ssediag.model.recording import NotMeasured, Stage
from ssediag.model.stream import Stream

_OK_STATUS = range(200, 300)
_REFUSALS = frozenset({400, 401, 403, 404, 405, 422, 429})
_SERVER_ERRORS = range(500, 600)


def attempt_of(stream: Stream) -> Attempt:
    """The contract's outcome of one run. A run that brought events is "ok", however it ended."""
    failure = None if len(stream.events) and _status_ok(stream) else failure_of(stream)
    return Attempt(
        run=stream.run,
        experiment=stream.experiment,
        outcome=None if failure is None else failure.stage,
        reason=_reason(stream, failure),
        ending=stream.ending if stream.head is not None else None,
    )


def _reason(stream: Stream, failure: NotMeasured | None) -> str | None:
    if failure is not None:
        return failure.reason
    return None if stream.not_measured is None else stream.not_measured.reason


def failure_of(stream: Stream) -> NotMeasured | None:
    """Why the run is no stream: the transport's reason, the status, or what came instead."""
    if stream.head is None:
        return stream.not_measured or NotMeasured(Stage.HEADERS, "the answer had no head")
    if not _status_ok(stream):
        return _status_failure(stream)
    if stream.not_measured is not None:
        return stream.not_measured
    if stream.head.status in {204, 205}:
        return NotMeasured(Stage.STATUS, f"status {stream.head.status}: no content, no stream")
    if not len(stream.events):
        return NotMeasured(Stage.BODY, _instead(stream))
    return None


def _status_ok(stream: Stream) -> bool:
    return stream.head is not None and stream.head.status in _OK_STATUS


def _status_failure(stream: Stream) -> NotMeasured | None:
    if stream.head is None:
        return None
    status = stream.head.status
    refused = status in _REFUSALS or status in _SERVER_ERRORS
    clauses = [f"status {status}" + (f" {stream.head.reason}" if stream.head.reason else "")]
    for name in ("retry-after", "location"):
        value = stream.head.header(name)
        if value is not None:
            clauses.append(f"{name.title()}: {value}" if value else f"{name.title()} is empty")
    if stream.error:
        clauses.append(stream.error)
    return NotMeasured(Stage.REFUSED if refused else Stage.STATUS, ", ".join(clauses))


_INSTEAD = {
    "json": "a whole JSON document",
    "html": "an HTML page",
    "gzip": "gzip bytes without a Content-Encoding",
    "text": "text that is no event stream",
    "binary": "binary data",
    "empty": "an empty body",
    None: "no complete event",
}


def _instead(stream: Stream) -> str:
    """What a 200 without events brought, with the content type it claims."""
    kind = stream.head.header("content-type") if stream.head is not None else None
    what = _INSTEAD.get(stream.looks_like, stream.looks_like)
    if stream.looks_like is None and stream.comment_reads:
        what = f"{len(stream.comment_reads)} comments, alive, but no event"
    told = f"status 200 with {what}" + (f" ({kind})" if kind else "")
    return "; ".join([told, *stream.notes[:2]])
