"""Several hops: the first step that changes the rhythm is guilty, whatever comes after it."""

from typing import Any

import pytest

from ssediag.diagnose.diagnosis import diagnose
from ssediag.diagnose.operators import Operator, full_buffer, head_hold, size_flush, time_flush
from ssediag.model.diagnosis import Diagnosis, Origin
from ssediag.model.mechanism import Verdict
from ssediag.model.recording import Hop, NotMeasured, Stage
from ssediag.model.stream import Ending, Stream
from tests.diagnose.tapes import INSTANCE, MS, PROXY, grouped, jittery, paced, poisson, stream

CDN = Hop("cdn", "http://cdn/", 2)


def runs(
    hop: Hop, operator: Operator | None = None, parameter: float = 0, **more: Any
) -> list[Stream]:
    tapes = [jittery(hop.position * 10 + run, 80) for run in (1, 2)]
    return [
        stream(tape, operator, parameter, hop=hop, run=run, **more)
        for run, tape in enumerate(tapes, 1)
    ]


def chain(*hops: list[Stream]) -> Diagnosis:
    return diagnose([run for hop in hops for run in hop], elapsed_ns=0)


def test_a_clean_chain_has_no_culprit() -> None:
    result = chain(runs(INSTANCE), runs(PROXY), runs(CDN))
    assert (result.verdict, result.culprit, result.exit_code) == (Verdict.STREAMS, None, 0)
    assert [step.operator for step in result.steps] == ["transparent", "transparent"]


@pytest.mark.parametrize(
    ("operator", "parameter", "mechanism", "verdict"),
    [
        (size_flush, 4096, "size-flush", Verdict.BURSTS),
        (time_flush, 200 * MS, "time-flush", Verdict.BURSTS),
        (full_buffer, 0, "full-buffer", Verdict.HELD),
    ],
)
def test_the_guilty_step_is_named_and_later_hops_inherit(
    operator: Operator, parameter: float, mechanism: str, verdict: Verdict
) -> None:
    result = chain(runs(INSTANCE), runs(PROXY, operator, parameter), runs(CDN, operator, parameter))
    assert result.culprit is not None
    assert (result.culprit.inner, result.culprit.hop) == ("instance", "proxy")
    assert (result.culprit.mechanism, result.verdict, result.exit_code) == (mechanism, verdict, 3)
    assert [step.operator for step in result.steps] == [mechanism, "transparent"]
    assert [hop.mechanisms[0].origin for hop in result.hops[1:]] == [Origin.HERE, Origin.INHERITED]


def test_the_fault_may_sit_in_the_outer_step() -> None:
    result = chain(runs(INSTANCE), runs(PROXY), runs(CDN, size_flush, 4096))
    assert result.culprit is not None
    assert (result.culprit.inner, result.culprit.hop) == ("proxy", "cdn")


def test_a_second_fault_further_out_is_reported_too() -> None:
    result = chain(runs(INSTANCE), runs(PROXY, size_flush, 1024), runs(CDN, full_buffer))
    assert result.culprit is not None
    assert (result.culprit.hop, result.culprit.mechanism) == ("proxy", "size-flush")
    assert (result.hops[2].mechanisms[0].id, result.hops[2].mechanisms[0].origin) == (
        "full-buffer",
        Origin.HERE,
    )


def test_the_instance_itself_can_be_guilty() -> None:
    result = chain(runs(INSTANCE, size_flush, 4096), runs(PROXY, size_flush, 4096))
    assert result.culprit is not None
    assert (result.culprit.inner, result.culprit.hop) == (None, "instance")


@pytest.mark.parametrize("seed", range(20))
def test_no_source_is_blamed_on_a_transparent_chain(seed: int) -> None:
    hops = [
        [stream(poisson(seed * 31 + hop.position * 7 + run), hop=hop, run=run) for run in (1, 2, 3)]
        for hop in (INSTANCE, PROXY, CDN)
    ]
    assert chain(*hops).verdict is Verdict.STREAMS


def test_swapped_hops_are_noticed_and_nobody_is_blamed() -> None:
    result = chain(runs(INSTANCE, size_flush, 4096), runs(PROXY))
    assert (result.verdict, result.exit_code, result.culprit) == (Verdict.INCONCLUSIVE, 5, None)
    assert "hops-swapped" in [finding.id for finding in result.findings]


def test_an_inner_hop_that_compresses_only_for_those_who_ask_is_no_swap() -> None:
    result = chain(runs(INSTANCE, full_buffer, coding="gzip"), runs(PROXY))
    assert "hops-swapped" not in [finding.id for finding in result.findings]


def test_a_document_behind_a_stream_is_not_a_stream() -> None:
    page = stream([], hop=PROXY, looks_like="json", headers=(("Content-Type", "application/json"),))
    result = chain(runs(INSTANCE), [page])
    assert result.culprit is not None
    assert (result.culprit.hop, result.culprit.mechanism) == ("proxy", "not-a-stream")
    assert (result.verdict, result.exit_code) == (Verdict.BROKEN, 3)


def test_a_document_anywhere_else_is_only_not_measured() -> None:
    page = stream([], hop=INSTANCE, looks_like="html", headers=(("Content-Type", "text/html"),))
    result = chain([page])
    assert (result.verdict, result.exit_code, result.culprit) == (Verdict.NOT_MEASURED, 4, None)
    assert result.hops[0].attempts[0].reason == "status 200 with an HTML page (text/html)"


def test_a_refused_hop_is_not_measured_and_blames_nobody() -> None:
    refused = stream([], hop=PROXY, status=401, looks_like="json")
    result = chain(runs(INSTANCE), [refused])
    assert (result.exit_code, result.culprit) == (4, None)
    assert result.hops[1].attempts[0].outcome is Stage.REFUSED


def test_a_fault_outweighs_a_hop_that_could_not_be_measured() -> None:
    dead = stream([], hop=CDN, not_measured=NotMeasured(Stage.CONNECT, "connection refused"))
    result = chain(runs(INSTANCE), runs(PROXY, size_flush, 4096), [dead])
    assert (result.exit_code, result.hops[2].verdict) == (3, Verdict.NOT_MEASURED)


def test_a_truncation_passed_on_is_the_inner_hops() -> None:
    result = chain(
        runs(INSTANCE),
        runs(PROXY, ending=Ending.NO_LAST_CHUNK),
        runs(CDN, ending=Ending.NO_LAST_CHUNK),
    )
    assert result.culprit is not None
    assert (result.culprit.hop, result.culprit.mechanism) == ("proxy", "truncated")


def test_header_names_show_what_a_step_added_and_ate() -> None:
    inner = runs(
        INSTANCE, headers=(("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no"))
    )
    outer = runs(PROXY, headers=(("Content-Type", "text/event-stream"), ("Server", "nginx")))
    step = chain(inner, outer).steps[0]
    assert (step.headers_added, step.headers_removed) == (("server",), ("x-accel-buffering",))


def test_a_header_that_was_only_passed_on_does_not_name_the_outer_hop() -> None:
    named = (("Content-Type", "text/event-stream"), ("Server", "uvicorn"))
    result = chain(runs(INSTANCE, headers=named), runs(PROXY, time_flush, 200 * MS, headers=named))
    assert result.hops[0].product is not None
    assert result.hops[1].product is None
    assert [fix.product for fix in result.hops[1].mechanisms[0].fixes] == [None]


def test_groups_that_the_source_emits_are_not_blamed_on_a_hop_that_passes_them_on() -> None:
    hops = [
        [stream(grouped(paced(60), 3), hop=hop, run=run) for run in (1, 2)]
        for hop in (INSTANCE, PROXY, CDN)
    ]
    result = chain(*hops)
    assert (result.verdict, result.culprit) == (Verdict.STREAMS, None)
    assert [found.id for found in result.hops[1].mechanisms] == ["source-batching"]
    assert result.hops[1].mechanisms[0].origin is Origin.INHERITED


def test_a_held_head_over_a_source_that_emits_groups_is_still_one() -> None:
    tapes = [grouped(jittery(run, 90), 3) for run in (1, 2)]
    inner = [stream(tape, hop=INSTANCE, run=run) for run, tape in enumerate(tapes, 1)]
    outer = [stream(t, head_hold, 4096, hop=PROXY, run=run) for run, t in enumerate(tapes, 1)]
    culprit = chain(inner, outer).culprit
    assert culprit is not None
    assert (culprit.hop, culprit.mechanism) == ("proxy", "head-hold")
