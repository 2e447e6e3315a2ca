"""One request over httpx and httpcore, and every read of its answer: the measurement itself."""

import re
import threading
import time
from contextlib import closing as closing_after
from contextlib import suppress
from dataclasses import replace
from typing import Any

import h2.exceptions
import h11
import httpcore
import httpx

from ssediag.capture.backend import ProbeBackend, ProbedStream
from ssediag.capture.dial import HttpVersion, Route
from ssediag.capture.outcome import Outcome, failed_outcome, is_goaway
from ssediag.capture.patience import HaltError, Patience, Watch, failed
from ssediag.capture.redact import redact_headers, redact_url
from ssediag.capture.tls import client_context
from ssediag.capture.transport import ProbeTransport
from ssediag.model.recording import (
    Clock,
    Closing,
    Hop,
    NotMeasured,
    Phases,
    Quality,
    Read,
    Recording,
    SentRequest,
    Stage,
)
from ssediag.model.request import Limits, Request

_DRAIN_BYTES = 64 * 1024
_HTTP1_HEAD = re.compile(rb"HTTP/1\.\d \d{3}[ \r\n].*?\n\r?\n", re.DOTALL)
# What the libraries raise when the peer breaks a rule or the connection. h2's errors come bare
# from the body's iterator, h11's from the request's; ValueError is httpcore's for a :status that
# is no number.
_PEER_ERRORS = (
    httpcore.ProtocolError,
    httpcore.NetworkError,
    httpcore.ProxyError,
    h2.exceptions.H2Error,
    h11.ProtocolError,
    ValueError,
)


def capture(
    hop: Hop,
    request: Request,
    limits: Limits,
    *,
    run: int,
    experiment: str | None,
    route: Route,
    stop: threading.Event | None = None,
    watch: Watch,
) -> Recording:
    """Send ``request`` once over a fresh connection and record every read of the answer.

    It never raises for what the network or the peer do: ``Recording.not_measured`` says what
    could not be done. A body that ends early is data (``closing`` FIN or RESET), not a failure.
    Redirects are answers. ``stop``, once set, ends the capture within 0.1 s; a
    KeyboardInterrupt ends it likewise and sets ``stop``.

    Zero of all times is when the last write of the request had returned, but not later than the
    earliest arrival of the first read after that write began. No read that came after the write
    began is dated before it: an answer does not precede its question.
    """
    began_ns = time.time_ns()
    patience = Patience(limits, stop, watch)
    tunnelled = route.proxy is not None and request.url.lower().startswith("https:")
    backend = ProbeBackend(route, patience, watch, tunnelled=tunnelled)
    sent = SentRequest(
        request.method,
        redact_url(request.url),
        redact_headers(request.headers),
        len(request.body or b""),
        None if route.proxy is None else redact_url(route.proxy),
        route.proxy_source,
    )
    try:
        closing, not_measured = _exchange(request, route, backend, patience)
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
        closing = Closing.STOPPED
        not_measured = NotMeasured(patience.stage, f"interrupted {patience.so_far()}")
    finally:
        closed_ns = time.time_ns()
        backend.close()
    zero_ns, reads = _dated(backend.stream, closed_ns)
    kernel_dated = all(read.quality is not Quality.USER for read in reads)
    return Recording(
        hop=hop,
        run=run,
        experiment=experiment,
        protocol="h2" if _is_http2(backend, route) else "http/1.1",
        request=sent,
        phases=_phases(backend, began_ns, closed_ns, zero_ns),
        reads=reads,
        closing=closing,
        clock=Clock.KERNEL if kernel_dated else Clock.USER,
        began_epoch_ns=zero_ns,
        peer=backend.peer,
        not_measured=not_measured,
    )


def _exchange(request: Request, route: Route, backend: ProbeBackend, patience: Patience) -> Outcome:
    """Send, read to the end, and say how it ended."""
    try:
        outgoing = _outgoing(request, backend)
        with _transport(outgoing, route, backend) as transport:
            try:
                with closing_after(transport.handle_request(outgoing)) as response:
                    patience.got_head()
                    for _ in response.iter_raw():
                        """Every byte was recorded below; only the end is waited for."""
            except _PEER_ERRORS as error:
                return _after_error(error, backend, route, patience)
    except HaltError as halt:
        return halt.closing, halt.not_measured
    ended = None if backend.stream is None else backend.stream.closing
    return ended or Closing.FINISHED, None


def _outgoing(request: Request, backend: ProbeBackend) -> httpx.Request:
    """The request with exactly the given headers, Host and Content-Length apart."""

    def on_trace(event: str, _: Any) -> None:
        if event.endswith("receive_response_headers.started") and backend.stream is not None:
            backend.stream.request_is_out()

    try:
        outgoing = httpx.Request(
            request.method,
            request.url,
            headers=httpx.Headers(list(request.headers), encoding="utf-8"),
            content=request.body,
            extensions={"trace": on_trace},
        )
    except (httpx.InvalidURL, ValueError) as error:
        # The message may quote a secret.
        reason = "the URL or a header cannot be sent as HTTP"
        raise failed(Stage.SEND, reason) from error
    if outgoing.url.scheme not in {"http", "https"} or not outgoing.url.host:
        raise failed(Stage.SEND, "the URL is not one of http or https with a host")
    return outgoing


def _transport(outgoing: httpx.Request, route: Route, backend: ProbeBackend) -> ProbeTransport:
    context = None
    if outgoing.url.scheme == "https":
        context = client_context(
            verify=route.verify, ca_file=route.ca_file, client_cert=route.client_cert
        )
    try:
        return ProbeTransport(backend, route, scheme=outgoing.url.scheme, ssl_context=context)
    except (httpx.InvalidURL, ValueError) as error:
        raise failed(Stage.CONNECT, "the proxy is not an http:// URL") from error


def _after_error(
    error: Exception, backend: ProbeBackend, route: Route, patience: Patience
) -> Outcome:
    """What an error of the libraries means; where more may come that can be read, read that."""
    stream = backend.stream
    if stream is None:
        raise error
    is_http2 = _is_http2(backend, route)
    in_body = patience.stage is Stage.BODY
    if is_http2:
        readable = in_body and is_goaway(error)
    else:
        # h11 refuses heads that a decoder can read, and stops at the first bad chunk.
        readable = in_body or _HTTP1_HEAD.match(_received(stream)) is not None
    if stream.closing is not None or not readable:
        return failed_outcome(error, stream, patience.stage, is_http2=is_http2)
    if not in_body:
        patience.got_head()
    return _read_on(stream)


def _read_on(stream: ProbedStream) -> Outcome:
    """Record what still comes, without a library that understands it."""
    with suppress(httpcore.ReadError):
        while stream.read(_DRAIN_BYTES):
            """Recorded by the stream."""
    return stream.closing or Closing.STOPPED, None


def _received(stream: ProbedStream) -> bytes:
    return b"".join(read.data for read in stream.reads)


def _is_http2(backend: ProbeBackend, route: Route) -> bool:
    if route.http_version is HttpVersion.PRIOR_KNOWLEDGE:
        return True
    return backend.stream is not None and backend.stream.alpn_protocol == "h2"


def _dated(stream: ProbedStream | None, closed_ns: int) -> tuple[int, tuple[Read, ...]]:
    """Zero as a wall-clock time, and the reads in times from it."""
    if stream is None or stream.written_ns is None:
        return closed_ns, ()
    before_ns, after_ns = stream.written_ns
    answers = (read.earliest_ns for read in stream.reads if read.latest_ns >= before_ns)
    zero_ns = max(before_ns, min(after_ns, next(answers, after_ns)))
    return zero_ns, tuple(_from_zero(read, before_ns, zero_ns) for read in stream.reads)


def _from_zero(read: Read, written_ns: int, zero_ns: int) -> Read:
    earliest_ns = read.earliest_ns
    if read.latest_ns >= written_ns:
        earliest_ns = max(earliest_ns, written_ns)
    return replace(read, earliest_ns=earliest_ns - zero_ns, latest_ns=read.latest_ns - zero_ns)


def _phases(backend: ProbeBackend, began_ns: int, closed_ns: int, zero_ns: int) -> Phases:
    def from_zero(at_ns: int | None) -> int | None:
        return None if at_ns is None else at_ns - zero_ns

    stream = backend.stream
    return Phases(
        began_ns=from_zero(began_ns),
        resolved_ns=from_zero(backend.resolved_ns),
        connected_ns=from_zero(backend.connected_ns),
        secured_ns=from_zero(stream.secured_ns if stream else None),
        closed_ns=from_zero((stream and stream.ended_ns) or closed_ns),
    )
