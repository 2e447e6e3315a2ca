"""Diagnoses to report on, made from tapes: what the renderers are tested with."""

from ssediag.diagnose.diagnosis import diagnose
from ssediag.diagnose.operators import full_buffer, size_flush, time_flush
from ssediag.model.diagnosis import Context, Diagnosis
from ssediag.model.recording import Hop, NotMeasured, Stage
from ssediag.model.stream import Ending, Stream
from tests.diagnose.tapes import ALONE, INSTANCE, MS, PROXY, jittery, paced, stream

CONTEXT = Context(
    version="0.0.0",
    command="ssediag compare instance=http://instance/ proxy=http://proxy/",
    began_at="2026-01-02T03:04:05.678+00:00",
    python="3.11.0",
    platform="Linux",
    clock="kernel",
    rights="none",
)
CDN = Hop("cdn", "https://cdn/", 2)
TYPE = ("Content-Type", "text/event-stream")
NGINX = (TYPE, ("Server", "nginx/1.22.1"))
EVIL = "evil\x1b[31m\x9b2J\u202e::error::\r\n"


def _runs(hop: Hop, operator=None, parameter: float = 0, **more) -> list[Stream]:  # type: ignore[no-untyped-def] # noqa: ANN001, ANN003
    return [
        stream(jittery(hop.position * 10 + run, 80), operator, parameter, hop=hop, run=run, **more)
        for run in (1, 2)
    ]


STREAMS: dict[str, list[Stream]] = {
    "size-flush-in-the-middle": [
        *_runs(INSTANCE),
        *_runs(PROXY, size_flush, 4096, headers=NGINX),
        *_runs(CDN, size_flush, 4096, headers=(TYPE, ("CF-Ray", "8a-FRA"))),
    ],
    "clean-chain": [*_runs(INSTANCE), *_runs(PROXY), *_runs(CDN)],
    "compression-alone": [
        *_runs(ALONE, full_buffer, coding="gzip"),
        stream(paced(), hop=ALONE, run=3, experiment="identity"),
    ],
    "connection-refused": [
        stream(
            [],
            hop=ALONE,
            not_measured=NotMeasured(Stage.CONNECT, "connection refused by 192.0.2.1:9"),
        )
    ],
    "runs-disagree": [*_runs(ALONE, full_buffer)[:1], *_runs(ALONE)[1:]],
    "truncated": [stream(paced(3), hop=ALONE, ending=Ending.NO_LAST_CHUNK)],
    "held-tie": [stream(paced(40, 10, 0, 48), full_buffer, hop=ALONE, run=run) for run in (1, 2)],
    "timer-without-a-name": [*_runs(INSTANCE), *_runs(PROXY, time_flush, 200 * MS)],
    "swapped": [*_runs(INSTANCE, size_flush, 4096), *_runs(PROXY)],
    "hostile": [
        stream(
            paced(3),
            hop=Hop(EVIL, f"http://host/{EVIL}", 0),
            headers=(TYPE, ("Server", f"nginx{EVIL}"), ("X-Cache", f"HIT {EVIL}")),
            ending=Ending.NO_LAST_CHUNK,
            error=EVIL,
            not_measured=NotMeasured(Stage.BODY, EVIL),
        )
    ],
}


def result(name: str) -> Diagnosis:
    return diagnose(STREAMS[name], elapsed_ns=5_300_000_000)
