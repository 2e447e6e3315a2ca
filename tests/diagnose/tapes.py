"""Streams written down as tapes: who sends what when, and which operator stands in between."""

import random
from collections.abc import Callable, Sequence

from ssediag.measure.arrivals import deliver
from ssediag.model.recording import Clock, Hop, NotMeasured, Phases, Quality, Role, SentRequest
from ssediag.model.stream import (
    ChunkTable,
    Ending,
    EventKind,
    EventTable,
    Framing,
    Head,
    ReadTable,
    Stream,
)

MS = 1_000_000
Departures = list[tuple[int, int]]

INSTANCE = Hop("instance", "http://instance/", 0, Role.INSTANCE)
PROXY = Hop("proxy", "http://proxy/", 1)
ALONE = Hop("alone", "http://alone/", 0)


def paced(
    count: int = 64, gap_ms: float = 20, prefill_ms: float = 50, size: int = 300
) -> Departures:
    return [(round((prefill_ms + gap_ms * index) * MS), size) for index in range(count)]


def poisson(seed: int, count: int = 64, gap_ms: float = 20, prefill_ms: float = 50) -> Departures:
    draw = random.Random(seed)
    time_ms, tape = prefill_ms, []
    for _ in range(count):
        tape.append((round(time_ms * MS), draw.randint(180, 320)))
        time_ms += draw.expovariate(1 / gap_ms)
    return tape


def jittery(seed: int, count: int = 64, gap_ms: float = 20, size: int = 300) -> Departures:
    draw = random.Random(seed)
    time_ms, tape = 50.0, []
    for _ in range(count):
        tape.append((round(time_ms * MS), size + draw.randint(-40, 40)))
        time_ms += gap_ms * draw.uniform(0.4, 1.6)
    return tape


def grouped(tape: Departures, group: int) -> Departures:
    """Every ``group`` events leave when the last of them is ready."""
    return [
        (tape[min(index - index % group + group, len(tape)) - 1][0], size)
        for index, (_, size) in enumerate(tape)
    ]


def stream(
    tape: Departures,
    operator: Callable[[Departures, float], Sequence[tuple[int, int]]] | None = None,
    parameter: float = 0,
    *,
    hop: Hop = ALONE,
    run: int = 1,
    experiment: str | None = None,
    coding: str | None = None,
    ending: Ending = Ending.COMPLETE,
    terminator: bool | None = None,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),),
    looks_like: str | None = None,
    width_ns: int = 0,
    token_count: int | None = None,
    not_measured: NotMeasured | None = None,
    closed_ms: float | None = None,
    error: str | None = None,
) -> Stream:
    """A decoded stream: ``tape`` as it leaves the source, after ``operator`` with ``parameter``."""
    releases = list(operator(tape, parameter)) if operator else list(tape)
    arrivals = deliver(releases, tuple(size for _, size in tape))
    reads = len(releases) + 1
    times = (1 * MS, *arrivals.latest_ns)
    quality = Quality.UNKNOWN if width_ns > 50 * MS else Quality.EXACT
    end_ns = times[-1] + MS if closed_ms is None else round(closed_ms * MS)
    return Stream(
        hop=hop,
        run=run,
        experiment=experiment,
        protocol="http/1.1",
        request=SentRequest("GET", hop.target),
        phases=Phases(
            began_ns=-2 * MS, resolved_ns=-2 * MS, connected_ns=-1 * MS, closed_ns=end_ns
        ),
        clock=Clock.KERNEL,
        began_epoch_ns=1_700_000_000_000_000_000,
        peer="192.0.2.1:80",
        not_measured=not_measured,
        head=Head(status, "OK", "1.1", headers, 0),
        framing=Framing.CHUNKED,
        coding=coding,
        dialect="sse-plain" if tape else None,
        ending=ending,
        terminator=terminator,
        finish_reason=None,
        usage_tokens=None,
        error=error,
        looks_like=looks_like,
        reads=ReadTable(
            earliest_ns=tuple(time - width_ns for time in times),
            latest_ns=times,
            quality=(quality,) * reads,
            segment_count=(1,) * reads,
            wire_bytes=(100, *(count + 8 for _, count in releases)),
            body_bytes=(0, *arrivals.byte_counts),
            plain_bytes=(0, *arrivals.byte_counts),
        ),
        chunks=ChunkTable(arrivals.byte_counts, tuple(range(1, reads)), tuple(range(1, reads))),
        events=EventTable(
            kind=(EventKind.TOKEN,) * len(tape),
            first_read=tuple(index + 1 for index in arrivals.event_first_delivery),
            data_read=tuple(index + 1 for index in arrivals.event_delivery),
            dispatch_read=tuple(index + 1 for index in arrivals.event_delivery),
            size_bytes=arrivals.event_bytes,
            text_bytes=(4,) * len(tape),
            token_count=(token_count,) * len(tape),
        ),
    )
