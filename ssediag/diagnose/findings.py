"""What a measurement shows besides the rhythm: facts worth a line in the report."""

from collections.abc import Iterable, Sequence

from ssediag.diagnose.hops import HopJudgement
from ssediag.model.diagnosis import Finding, Severity
from ssediag.model.stream import Stream


def findings_of(judgements: Sequence[HopJudgement]) -> tuple[Finding, ...]:
    """Findings of every hop, inner hops first; each only once a hop."""
    return tuple(finding for judgement in judgements for finding in _of_hop(judgement))


def _of_hop(judgement: HopJudgement) -> Iterable[Finding]:
    name = judgement.hop.name
    if judgement.cached is not None:
        yield Finding(
            "cache-hit",
            Severity.NOTE,
            name,
            "other",
            "a cache replayed this answer, so its rhythm says nothing about the stream",
            judgement.cached,
            "ask in a way that is not cached: POST, a nonce, or Cache-Control: no-cache",
        )
    if judgement.streams:
        yield from _of_route(name, judgement.streams[0], judgement.hop.target)
    streams = [run.stream for run in judgement.runs]
    if streams:
        yield from _of_stream(name, streams[0])


def _of_route(name: str, stream: Stream, target: str) -> Iterable[Finding]:
    """Hops that nobody named but that the answer came through."""
    proxy, source = stream.request.proxy, stream.request.proxy_source
    if proxy is not None:
        yield Finding(
            "forward-proxy",
            Severity.NOTE,
            name,
            "streaming-rhythm",
            f"asked through the forward proxy {proxy} (from {source}): it is a hop of this path, "
            "and was not measured by itself",
            f"{source}: {proxy}",
            "--noproxy '*' goes without it",
        )
    if stream.request.target.partition("://")[2] != target.partition("://")[2]:
        yield Finding(
            "redirected",
            Severity.NOTE,
            name,
            "other",
            f"redirected to {stream.request.target}: that is what was measured",
            f"Location: {stream.request.target}",
            None,
        )


def _of_stream(name: str, stream: Stream) -> Iterable[Finding]:
    if stream.terminator is False and stream.error is None:
        yield Finding(
            "terminator-missing",
            Severity.WARNING,
            name,
            "contract",
            f"the {stream.dialect} stream ended without its terminator",
            f"ending on the wire: {stream.ending.value}",
            None,
        )
    kind = stream.head.header("content-type") if stream.head is not None else None
    if not (kind or "").lower().startswith("text/event-stream"):
        yield Finding(
            "content-type",
            Severity.WARNING,
            name,
            "contract",
            "an event stream that is not labelled text/event-stream: proxies that flush by type, "
            "and EventSource, will not see one",
            f"Content-Type: {kind or 'absent'}",
            "send Content-Type: text/event-stream",
        )
    if stream.head is not None and stream.head.header("content-length") is not None:
        yield Finding(
            "content-length",
            Severity.WARNING,
            name,
            "streaming-rhythm",
            "a stream with a Content-Length: some hop knew the whole body before it sent the head",
            f"Content-Length: {stream.head.header('content-length')}",
            None,
        )
    for note in stream.notes:
        yield Finding("wire-defect", Severity.WARNING, name, "contract", note, note, None)
