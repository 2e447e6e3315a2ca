"""Every mechanism finds its tape and only it; its near-misses stay silent."""

import pytest

from ssediag.diagnose.diagnosis import diagnose
from ssediag.diagnose.operators import (
    Departures,
    Operator,
    full_buffer,
    head_hold,
    size_flush,
    threshold_flush,
    time_flush,
)
from ssediag.model.mechanism import Verdict
from ssediag.model.stream import Ending, Stream
from tests.diagnose.tapes import INSTANCE, MS, grouped, jittery, paced, poisson, stream


def found(*streams: Stream) -> tuple[str, ...]:
    result = diagnose(streams, elapsed_ns=0)
    return tuple(mechanism.id for mechanism in result.hops[0].mechanisms)


def verdict(*streams: Stream) -> Verdict:
    return diagnose(streams, elapsed_ns=0).verdict


SOURCES = {
    "paced at 20 ms": [paced(), paced()],
    "paced at 5 ms": [paced(200, 5), paced(200, 5)],
    "paced at 200 ms": [paced(20, 200), paced(20, 200)],
    "jittery": [jittery(1), jittery(2)],
    "Poisson": [poisson(3, 100), poisson(4, 100)],
    "after 3 s of prefill": [paced(30, 10, prefill_ms=3000), paced(30, 10, prefill_ms=3000)],
    "with 4 KB events": [paced(size=4096), paced(size=4096)],
}


@pytest.mark.parametrize("tapes", SOURCES.values(), ids=SOURCES)
def test_an_untouched_source_streams(tapes: list[list[tuple[int, int]]]) -> None:
    runs = [stream(tape, run=run) for run, tape in enumerate(tapes, 1)]
    assert (verdict(*runs), found(*runs)) == (Verdict.STREAMS, ())


@pytest.mark.parametrize("seed", range(40))
def test_no_poisson_or_jittery_source_is_ever_called_buffered(seed: int) -> None:
    for make in (poisson, jittery):
        runs = [stream(make(seed * 7 + run, 64), run=run) for run in (1, 2, 3)]
        assert verdict(*runs) is Verdict.STREAMS


@pytest.mark.parametrize(
    ("operator", "parameter", "tape", "mechanism"),
    [
        (full_buffer, 0, paced(), "full-buffer"),
        (full_buffer, 0, jittery(5), "full-buffer"),
        (full_buffer, 0, paced(40, 10, 0, 48), "full-buffer"),
        (size_flush, 4096, paced(), "size-flush"),
        (size_flush, 4096, poisson(6, 100), "size-flush"),
        (size_flush, 1024, paced(100, 5), "size-flush"),
        (size_flush, 16384, paced(64, 20), "size-flush"),
        (threshold_flush, 4096, jittery(7, 100), "size-flush"),
        (threshold_flush, 4096, paced(100), "size-flush"),
        (time_flush, 200 * MS, paced(), "time-flush"),
        (time_flush, 200 * MS, paced(200, 5), "time-flush"),
        (time_flush, 250 * MS, jittery(8, 100), "time-flush"),
        (time_flush, 500 * MS, poisson(9, 200), "time-flush"),
        (time_flush, 250 * MS, paced(80, 10), "time-flush"),
        (threshold_flush, 4096, paced(64, 20, size=250), "size-flush"),
        (threshold_flush, 4096, paced(300, 2, size=200), "size-flush"),
        (size_flush, 1024, paced(60, 20, size=2013), "size-flush"),
        (head_hold, 4096, paced(), "head-hold"),
        (head_hold, 4096, jittery(10), "head-hold"),
    ],
)
def test_an_operator_is_named_by_its_mechanism(
    operator: Operator, parameter: float, tape: Departures, mechanism: str
) -> None:
    runs = [stream(tape, operator, parameter, run=run) for run in (1, 2)]
    assert found(*runs) == (mechanism,)


def test_a_rhythm_needs_more_than_one_run_out_of_three() -> None:
    stalled = stream(paced(), full_buffer, run=1)
    clean = [stream(paced(), run=run) for run in (2, 3)]
    assert verdict(stalled, *clean) is Verdict.STREAMS


def test_two_runs_that_disagree_leave_the_hop_open() -> None:
    assert (
        verdict(stream(paced(), full_buffer, run=1), stream(paced(), run=2)) is Verdict.INCONCLUSIVE
    )


def test_nine_events_are_too_few_for_a_rhythm() -> None:
    few = [stream(paced(9), full_buffer, run=run) for run in (1, 2)]
    assert verdict(*few) is Verdict.INCONCLUSIVE


def test_twenty_events_at_once_right_after_the_request_prove_nothing() -> None:
    fast = [stream([(2 * MS, 100)] * 20, run=run) for run in (1, 2)]
    assert verdict(*fast) is Verdict.INCONCLUSIVE


def test_a_short_held_stream_is_a_tie_with_a_block_larger_than_it() -> None:
    runs = [stream(paced(40, 10, 0, 48), threshold_flush, 4096, run=run) for run in (1, 2)]
    culprit = diagnose(runs, elapsed_ns=0).culprit
    assert culprit is not None
    assert culprit.mechanism == "full-buffer"
    assert [other.mechanism for other in culprit.alternatives] == ["size-flush"]
    assert culprit.confidence == 0.6
    longer = [stream(paced(400, 10, 0, 48), threshold_flush, 4096, run=run) for run in (1, 2)]
    assert found(*longer) == ("size-flush",)


def test_a_stall_without_catch_up_is_a_note_and_no_fault() -> None:
    tape = paced(30) + [(time + 1500 * MS, size) for time, size in paced(30, prefill_ms=650)]
    runs = [stream(tape, run=run) for run in (1, 2)]
    assert (verdict(*runs), found(*runs)) == (Verdict.STREAMS, ("source-stall",))


def test_ten_tokens_in_an_event_are_the_sources_doing() -> None:
    runs = [stream(paced(20, 200, size=900), run=run, token_count=10) for run in (1, 2)]
    assert (verdict(*runs), found(*runs)) == (Verdict.STREAMS, ("source-batching",))


def test_groups_of_one_count_at_the_instance_are_the_sources_doing() -> None:
    runs = [stream(grouped(paced(60), 5), run=run, hop=INSTANCE) for run in (1, 2)]
    assert (verdict(*runs), found(*runs)) == (Verdict.STREAMS, ("source-batching",))


def test_the_tools_own_lateness_is_never_a_finding() -> None:
    late = [stream(paced(), time_flush, 200 * MS, run=run, width_ns=190 * MS) for run in (1, 2)]
    assert (verdict(*late), found(*late)) == (Verdict.INCONCLUSIVE, ("probe-lag",))


@pytest.mark.parametrize("ending", [Ending.NO_LAST_CHUNK, Ending.SHORT, Ending.RESET])
def test_a_missing_end_is_truncated_however_few_the_events(ending: Ending) -> None:
    assert verdict(stream(paced(3), ending=ending)) is Verdict.BROKEN
    assert found(stream(paced(3), ending=ending)) == ("truncated",)


def test_a_clean_end_without_terminator_is_no_truncation() -> None:
    result = diagnose([stream(paced(), terminator=False, run=n) for n in (1, 2)], elapsed_ns=0)
    assert result.verdict is Verdict.STREAMS
    assert [finding.id for finding in result.findings] == ["terminator-missing"]


def test_a_close_that_proves_nothing_and_no_terminator_is_truncated() -> None:
    assert found(stream(paced(), ending=Ending.EOF, terminator=False)) == ("truncated",)
    assert found(stream(paced(), ending=Ending.EOF, terminator=None)) == ()


def test_our_own_total_limit_is_no_truncation() -> None:
    flowing = stream(paced(3000), ending=Ending.TIMED_OUT, closed_ms=60_000)
    assert found(flowing) == ()
    silent = stream(paced(12), ending=Ending.TIMED_OUT, closed_ms=30_300)
    assert found(silent) == ("truncated",)


def test_a_slow_instance_at_the_limit_is_not_silent() -> None:
    slow = stream(paced(11, 5_000), ending=Ending.TIMED_OUT, closed_ms=54_000)
    assert found(slow) == ()


def test_compression_takes_the_place_of_the_rhythm_it_leaves() -> None:
    coded = [stream(paced(), full_buffer, run=run, coding="gzip") for run in (1, 2)]
    identity = stream(paced(), run=3, experiment="identity")
    result = diagnose([*coded, identity], elapsed_ns=0)
    assert result.verdict is Verdict.HELD
    assert [mechanism.id for mechanism in result.hops[0].mechanisms] == ["compression"]
    assert result.experiments[0].decided == (
        "alone streams without the coding: the compressor holds the bytes"
    )


def test_a_compressor_is_found_over_a_source_that_emits_groups() -> None:
    tape = grouped(paced(60), 3)
    coded = [stream(tape, full_buffer, run=run, coding="gzip") for run in (1, 2)]
    assert found(*coded, stream(tape, run=3, experiment="identity")) == ("compression",)


def test_a_hop_that_holds_under_identity_too_is_no_compressor() -> None:
    coded = [stream(paced(), full_buffer, run=run, coding="gzip") for run in (1, 2)]
    identity = stream(paced(), full_buffer, run=3, experiment="identity")
    assert found(*coded, identity) == ("full-buffer",)


def test_a_cache_hit_is_reported_and_not_judged() -> None:
    headers = (("Content-Type", "text/event-stream"), ("X-Cache", "HIT"))
    runs = [stream(paced(), full_buffer, run=run, headers=headers) for run in (1, 2)]
    result = diagnose(runs, elapsed_ns=0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "cache-hit" in [finding.id for finding in result.findings]


def test_an_allowed_mechanism_is_shown_and_is_no_fault() -> None:
    runs = [stream(paced(), full_buffer, run=run) for run in (1, 2)]
    result = diagnose(runs, elapsed_ns=0, allowed=frozenset({"full-buffer"}))
    assert (result.exit_code, result.culprit) == (0, None)
    assert result.hops[0].mechanisms[0].id == "full-buffer"


def test_a_single_run_is_less_sure_than_two() -> None:
    one = diagnose([stream(paced(), size_flush, 1024)], elapsed_ns=0).culprit
    two = diagnose([stream(paced(), size_flush, 1024, run=n) for n in (1, 2)], elapsed_ns=0).culprit
    assert one is not None
    assert two is not None
    assert one.confidence < two.confidence
