"""What scripts rely on: the contract's fields, and lines that are whole documents."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from ssediag.model.diagnosis import StepResult
from ssediag.model.stream import EventKind
from ssediag.report.json import json_report
from ssediag.report.jsonl import jsonl_report
from tests.diagnose.tapes import INSTANCE, MS, PROXY, paced, stream
from tests.report.results import CONTEXT, EVIL, RESULTS

SCHEMA = json.loads(files("ssediag.report").joinpath("schema/report-1.schema.json").read_text())
CHAIN = RESULTS["size-flush-in-the-middle"]


def document(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json_report(RESULTS[name], CONTEXT))
    return read


@pytest.mark.parametrize("name", RESULTS)
def test_every_report_fits_the_published_schema(name: str) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(document(name))


def test_the_schema_itself_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "fine"),
        (("schema_version",), 2),
        (("culprit", "confidence"), 1.5),
        (("hops", 0, "metrics", "event_count"), None),
        (("hops", 0, "attempts", 0, "outcome"), "maybe"),
        (("steps", 0, "pairing"), "guessed"),
    ],
)
def test_the_schema_refuses_what_the_contract_does_not_allow(
    path: tuple[str | int, ...], value: object
) -> None:
    wrong = place = document("size-flush-in-the-middle")
    for key in path[:-1]:
        place = place[key]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(wrong)


def test_a_chain_has_a_step_less_than_hops_and_a_culprit_at_the_outer_end() -> None:
    read = document("size-flush-in-the-middle")
    assert (len(read["hops"]), len(read["steps"])) == (3, 2)
    assert read["culprit"]["step"] == {"inner": "instance", "outer": "proxy"}
    assert (read["culprit"]["hop"], read["culprit"]["mechanism"]) == ("proxy", "size-flush")
    assert (read["verdict"], read["exit_code"]) == ("bursts", 3)
    assert read["steps"][0]["added_first_event_ms"] == 238.0
    assert read["steps"][0]["added_delay_ms"] is None


def test_times_are_milliseconds_and_say_so_in_their_names() -> None:
    read = document("size-flush-in-the-middle")["hops"][1]
    mechanism = read["mechanisms"][0]
    assert mechanism["parameters"] == {"bytes": 4096, "period_ms": 260.4}
    gap = {"fact": "gap_p50_ms", "value": 0.012, "unit": "ms", "bound": 0.15}
    assert gap in mechanism["evidence"]
    assert {"fact": "split_share", "value": 1.0, "unit": "share", "bound": 0.5} in (
        mechanism["evidence"]
    )
    assert read["metrics"]["first_event_ms"] == 310.0
    assert read["metrics"]["request_sent_ms"] == 1.2
    assert read["metrics"]["undated_share"] == 0.0123
    assert "_ns" not in json_report(CHAIN, CONTEXT)


def test_delays_of_one_stream_are_three_named_numbers() -> None:
    step: StepResult = replace(CHAIN.steps[0], added_delay_ns=(1 * MS, 2 * MS, 3_500_000))
    read = json.loads(json_report(replace(CHAIN, steps=(step,)), CONTEXT))
    assert read["steps"][0]["added_delay_ms"] == {"p50": 1.0, "p95": 2.0, "max": 3.5}


def test_a_fix_says_for_what_product_and_on_what_proof() -> None:
    mechanism = document("size-flush-in-the-middle")["hops"][1]["mechanisms"][0]
    assert mechanism["fixes"][0]["product"] == "nginx"
    assert mechanism["fixes"][0]["config"].splitlines()[0] == "location /v1/ {"
    assert mechanism["fixes"][0]["proof"] == "measured"


def test_what_is_absent_is_null_and_counts_are_always_there() -> None:
    hop = document("connection-refused")["hops"][0]
    assert hop["metrics"]["event_count"] == 0
    assert hop["metrics"]["first_event_ms"] is None
    assert hop["attempts"][0]["outcome"] == "connect"
    assert hop["attempts"][0]["reason"] == "connection refused by 192.0.2.1:9"
    assert document("clean-chain")["culprit"] is None


def test_the_report_says_what_it_was_made_with() -> None:
    read = document("clean-chain")
    assert read["tool"] == {"name": "ssediag", "version": "0.0.0"}
    assert read["command"].startswith("ssediag compare ")
    assert read["environment"]["clock"] == "kernel"
    assert read["cost"] == {"requests": 6, "tokens": 480, "seconds": 5.3}


def test_hostile_text_is_kept_but_every_byte_of_the_report_is_printable_ascii() -> None:
    text = json_report(RESULTS["hostile"], CONTEXT)
    assert all(letter == "\n" or " " <= letter <= "~" for letter in text)
    assert json.loads(text)["hops"][0]["name"] == EVIL


def test_every_event_is_a_line_and_the_report_is_the_last() -> None:
    runs = [stream(paced(12), hop=hop) for hop in (INSTANCE, PROXY)]
    lines = list(jsonl_report(CHAIN, CONTEXT, runs))
    events = [json.loads(line) for line in lines[:-1]]
    assert len(events) == sum(len(run.events) for run in runs)
    assert all("\n" not in line for line in lines)
    assert json.loads(lines[-1])["summary"] == json.loads(json_report(CHAIN, CONTEXT))


def test_an_event_is_dated_by_the_read_that_brought_its_last_data_byte() -> None:
    run = stream(paced(12), hop=INSTANCE)
    late = replace(run.events, dispatch_read=(*run.events.data_read[1:], len(run.reads) - 1))
    first = json.loads(next(jsonl_report(CHAIN, CONTEXT, [replace(run, events=late)])))
    read = run.events.data_read[0]
    assert first == {
        "hop": "instance",
        "run": run.run,
        "experiment": None,
        "index": 0,
        "kind": run.events.kind[0].value,
        "arrival_ns": run.reads.latest_ns[read],
        "earliest_epoch_ns": run.began_epoch_ns + run.reads.earliest_ns[read],
        "latest_epoch_ns": run.began_epoch_ns + run.reads.latest_ns[read],
        "quality": run.reads.quality[read].value,
        "read_index": read,
        "event_bytes": run.events.size_bytes[0],
        "data": None,
    }


def test_data_is_in_the_lines_only_if_it_was_kept() -> None:
    run = stream(paced(3), hop=INSTANCE, experiment="identity")
    kept = replace(run.events, data=tuple(f"token {EVIL}" for _ in run.events.kind))
    lines = list(jsonl_report(CHAIN, CONTEXT, [replace(run, events=kept)]))
    first = json.loads(lines[0])
    assert first["data"] == f"token {EVIL}"
    assert first["experiment"] == "identity"
    assert first["kind"] in set(EventKind)
