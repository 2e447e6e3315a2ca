"""Finished diagnoses, written by hand: what the renderers are tested with.

Nothing here is measured or diagnosed, so that a stored report changes only when its rendering does.
"""

from dataclasses import replace
from itertools import pairwise

from ssediag.model.diagnosis import (
    Alternative,
    Attempt,
    Context,
    Cost,
    Culprit,
    Diagnosis,
    Evidence,
    Experiment,
    Finding,
    FoundMechanism,
    HopResult,
    Metrics,
    Origin,
    Pairing,
    Product,
    Severity,
    StepResult,
    Unit,
)
from ssediag.model.mechanism import Fix, Proof, Verdict
from ssediag.model.recording import Clock, Hop, Role, Stage
from ssediag.model.stream import Ending

MS = 1_000_000
CONTEXT = Context(
    version="0.0.0",
    command="ssediag compare instance=http://instance/ proxy=http://proxy/",
    began_at="2026-01-02T03:04:05.678+00:00",
    python="3.11.0",
    platform="Linux",
    clock="kernel",
    rights="none",
)
EVIL = "evil\x1b[31m\x9b2J\u202e::error::\r\n\x07\u2028"

INSTANCE = Hop("instance", "http://instance/", 0, Role.INSTANCE)
PROXY = Hop("proxy", "http://proxy/", 1, Role.PROXY)
CDN = Hop("cdn", "https://cdn/", 2, Role.CDN)
ALONE = Hop("alone", "http://alone/", 0)

# 80 events about 20 ms apart: the jitter repeats, so that the strips are the same for ever.
STREAMED = tuple((50 + 20 * number + (number * 7) % 11) * MS for number in range(80))
BLOCKS = tuple((50 + 20 * min(13 * (number // 13) + 13, 79)) * MS for number in range(80))
WHOLE = (1_640 * MS,) * 80

NGINX_FIX = Fix(
    "nginx",
    "Switch RESPONSE buffering off where the stream passes. The upstream can do it per answer "
    "with the response header `X-Accel-Buffering: no`.",
    "location /v1/ {\n    proxy_pass http://upstream;\n    proxy_buffering off;\n}",
    Proof.MEASURED,
    "nginx 1.22.1: clean with proxy_buffering off",
)
GENERAL_FIX = Fix(
    None,
    "Switch RESPONSE buffering off at this hop; request buffering is another setting.",
    None,
    Proof.DOCUMENTED,
    "settings of known proxies",
)
SIZE_FLUSH = FoundMechanism(
    id="size-flush",
    confidence=0.97,
    origin=Origin.HERE,
    parameters=(("bytes", 4096.0), ("period_ns", 260.4 * MS)),
    evidence=(
        Evidence("event_count", 80.0, Unit.COUNT, 10.0),
        Evidence("per_burst_events", 13.0, Unit.EVENTS, 2.0),
        Evidence("split_share", 1.0, Unit.SHARE, 0.5),
        Evidence("gap_p50_ns", 12_000.0, Unit.NS, 150_000.0),
        Evidence("source_groups", "no", Unit.WORD, "no"),
    ),
    fixes=(NGINX_FIX,),
)
FULL_BUFFER = FoundMechanism(
    id="full-buffer",
    confidence=0.95,
    origin=Origin.HERE,
    parameters=(("after_ns", 1_640.0 * MS),),
    evidence=(
        Evidence("first_event_share", 0.998, Unit.SHARE, 0.9),
        Evidence("largest_burst_share", 1.0, Unit.SHARE, 0.9),
    ),
    fixes=(GENERAL_FIX,),
)
STALL = FoundMechanism(
    id="source-stall",
    confidence=0.8,
    origin=Origin.HERE,
    parameters=(("after_ns", 1_234.0 * MS),),
    evidence=(
        Evidence("longest_gap_ns", 1_234.0 * MS, Unit.NS, 200.0 * MS),
        Evidence("catch_up_events", 1.0, Unit.EVENTS, 2.0),
    ),
    fixes=(GENERAL_FIX,),
)


def metrics(arrivals_ns: tuple[int, ...], bursts: int) -> Metrics:
    """Numbers that fit ``arrivals_ns``, were they in ``bursts`` bursts."""
    return Metrics(
        run_count=2,
        request_sent_ns=1_200_000,
        headers_ns=31 * MS,
        first_event_ns=arrivals_ns[0],
        first_token_ns=arrivals_ns[0],
        last_event_ns=arrivals_ns[-1],
        closed_ns=arrivals_ns[-1] + MS,
        event_count=len(arrivals_ns),
        token_event_count=len(arrivals_ns) - 1,
        burst_count=bursts,
        events_per_burst_p50=len(arrivals_ns) / bursts,
        events_per_burst_max=max(1, len(arrivals_ns) // bursts),
        burst_bytes_p50=300.0,
        burst_period_ns_p50=20 * MS,
        gap_ns_p50=20_123_456 if bursts == len(arrivals_ns) else 12_000,
        gap_ns_p95=29 * MS,
        longest_silence_ns=30 * MS,
        smoothness=0.98,
        clock=Clock.KERNEL,
        floor_ns=53_000,
        undated_share=0.01234567,
    )


def measured(
    hop: Hop,
    arrivals_ns: tuple[int, ...] = STREAMED,
    bursts: int = 80,
    verdict: Verdict = Verdict.STREAMS,
    *mechanisms: FoundMechanism,
    product: Product | None = None,
) -> HopResult:
    """A hop that was measured in two runs."""
    return HopResult(
        hop=hop,
        protocol="http/1.1",
        status=200,
        dialect="openai-chat",
        verdict=verdict,
        product=product,
        mechanisms=mechanisms,
        metrics=metrics(arrivals_ns, bursts),
        attempts=tuple(Attempt(run, None, None, None, Ending.COMPLETE) for run in (1, 2)),
        headers=(("Content-Type", "text/event-stream"),),
        arrivals_ns=arrivals_ns,
        span_ns=arrivals_ns[-1] + MS,
    )


def unmeasured(hop: Hop, stage: Stage, reason: str) -> HopResult:
    """A hop that answered nothing."""
    return HopResult(
        hop=hop,
        protocol=None,
        status=None,
        dialect=None,
        verdict=Verdict.NOT_MEASURED,
        product=None,
        mechanisms=(),
        metrics=Metrics(run_count=1),
        attempts=(Attempt(1, None, stage, reason, None),),
        headers=(),
        arrivals_ns=(),
        span_ns=None,
    )


def diagnosis(
    verdict: Verdict,
    *hops: HopResult,
    culprit: Culprit | None = None,
    added_first_event_ns: int = 0,
) -> Diagnosis:
    """The hops as a whole, with a step between each two."""
    codes = {Verdict.STREAMS: 0, Verdict.NOT_MEASURED: 4, Verdict.INCONCLUSIVE: 5}
    steps = tuple(
        StepResult(
            inner=inner.hop.name,
            outer=outer.hop.name,
            pairing=Pairing.SEPARATE_RUNS,
            operator="transparent",
            added_first_event_ns=added_first_event_ns,
            added_delay_ns=None,
            headers_added=("x-proxy-trace",),
            headers_removed=(),
        )
        for inner, outer in pairwise(hops)
    )
    return Diagnosis(
        verdict=verdict,
        exit_code=codes.get(verdict, 3),
        culprit=culprit,
        hops=hops,
        steps=steps,
        findings=(),
        experiments=(),
        cost=Cost(2 * len(hops), 160 * len(hops), 5_300 * MS),
        not_observable=(),
    )


def guilty(hop: str, inner: str | None, found: FoundMechanism, *because: str) -> Culprit:
    """The culprit that goes with ``found`` at ``hop``."""
    return Culprit(hop, inner, found.id, found.confidence, (), because)


CLOUDFLARE = Product("Cloudflare", "CF-Ray: 8a-FRA")
NGINX = Product("nginx", "Server: nginx/1.22.1")
INHERITED = replace(SIZE_FLUSH, origin=Origin.INHERITED, fixes=())
IN_BURSTS = Verdict.BURSTS
PERIODIC = replace(
    SIZE_FLUSH, id="time-flush", parameters=(("period_ns", 201.0 * MS),), fixes=(GENERAL_FIX,)
)
COMPRESSION = replace(
    FULL_BUFFER,
    id="compression",
    parameters=(),
    evidence=(Evidence("identity_rhythm", "none", Unit.WORD, "none"),),
)
TRUNCATED = replace(
    FULL_BUFFER,
    id="truncated",
    parameters=(),
    evidence=(
        Evidence("answered", "yes", Unit.WORD, "yes"),
        Evidence("ending", "no-last-chunk", Unit.WORD, "no-last-chunk"),
    ),
)
CONTENT_TYPE = Finding(
    "content-type",
    Severity.WARNING,
    "proxy",
    "contract",
    "an event stream that is not labelled text/event-stream",
    "Content-Type: text/plain",
    "send Content-Type: text/event-stream",
)

ONE_HOP = (
    "One hop alone cannot tell whether alone or something behind it does this: ssediag compare "
    "INSTANCE_URL http://alone/"
)

RESULTS: dict[str, Diagnosis] = {
    "size-flush-in-the-middle": diagnosis(
        Verdict.BURSTS,
        measured(INSTANCE),
        measured(PROXY, BLOCKS, 7, IN_BURSTS, SIZE_FLUSH, product=NGINX),
        measured(CDN, BLOCKS, 7, IN_BURSTS, INHERITED, product=CLOUDFLARE),
        culprit=guilty(
            "proxy", "instance", SIZE_FLUSH, "proxy passes the stream on in blocks of one size."
        ),
        added_first_event_ns=238 * MS,
    ),
    "clean-chain": diagnosis(
        Verdict.STREAMS, measured(INSTANCE), measured(PROXY), measured(CDN, product=NGINX)
    ),
    "clean-alone-with-a-stall": diagnosis(
        Verdict.STREAMS, measured(ALONE, STREAMED, 80, Verdict.STREAMS, STALL)
    ),
    "compression-alone": replace(
        diagnosis(
            Verdict.HELD,
            measured(ALONE, WHOLE, 1, Verdict.HELD, COMPRESSION),
            culprit=guilty("alone", None, COMPRESSION, "alone holds the bytes in a compressor."),
        ),
        experiments=(
            Experiment("identity", "Accept-Encoding: identity", "it streams without the coding"),
            Experiment("http2", "HTTP/2", None),
        ),
        not_observable=(ONE_HOP,),
    ),
    "held-tie": diagnosis(
        Verdict.HELD,
        measured(ALONE, WHOLE, 1, Verdict.HELD, FULL_BUFFER),
        culprit=replace(
            guilty("alone", None, FULL_BUFFER, "The whole body is 1920 bytes."),
            alternatives=(Alternative("size-flush", 0.4), Alternative("head-hold", 0.25)),
        ),
    ),
    "timer-without-a-name": replace(
        diagnosis(
            Verdict.BURSTS,
            measured(INSTANCE),
            measured(PROXY, BLOCKS, 7, IN_BURSTS, PERIODIC),
            culprit=guilty("proxy", "instance", PERIODIC),
        ),
        findings=(CONTENT_TYPE,),
    ),
    "truncated": diagnosis(
        Verdict.BROKEN,
        measured(ALONE, STREAMED[:3], 3, Verdict.BROKEN, TRUNCATED),
        culprit=guilty("alone", None, TRUNCATED),
    ),
    "connection-refused": diagnosis(
        Verdict.NOT_MEASURED, unmeasured(ALONE, Stage.CONNECT, "connection refused by 192.0.2.1:9")
    ),
    "one-hop-lost": diagnosis(
        Verdict.NOT_MEASURED,
        measured(INSTANCE),
        unmeasured(PROXY, Stage.TLS, "the certificate is for example.net, not for proxy"),
        measured(CDN),
    ),
    "swapped": replace(
        diagnosis(
            Verdict.INCONCLUSIVE,
            measured(INSTANCE, BLOCKS, 7, IN_BURSTS, SIZE_FLUSH),
            measured(PROXY),
        ),
        findings=(
            Finding(
                "hops-swapped",
                Severity.ERROR,
                "proxy",
                "other",
                "instance bursts, yet proxy, given as further out, streams",
                "instance was given as the inner hop of proxy",
                "give the instance first: ssediag compare proxy=… instance=…",
            ),
        ),
    ),
    "too-few-events": replace(
        diagnosis(Verdict.INCONCLUSIVE, measured(ALONE, STREAMED[:4], 4, Verdict.INCONCLUSIVE)),
        not_observable=("alone: 4 events are too few to judge a rhythm (at least 10).",),
    ),
    "hostile": replace(
        diagnosis(
            Verdict.BROKEN,
            measured(
                Hop(EVIL, f"http://host/{EVIL}", 0),
                STREAMED,
                80,
                Verdict.BROKEN,
                replace(TRUNCATED, evidence=(Evidence(f"x_{EVIL}", EVIL, Unit.WORD, EVIL),)),
                product=Product("nginx", f"Server: {EVIL * 400}"),
            ),
            unmeasured(Hop("dead", "http://dead/", 1), Stage.BODY, EVIL),
            culprit=replace(guilty(EVIL, None, TRUNCATED, EVIL)),
        ),
        findings=(replace(CONTENT_TYPE, evidence=f"Content-Type: {EVIL * 400}"),),
        not_observable=(EVIL,),
    ),
}
