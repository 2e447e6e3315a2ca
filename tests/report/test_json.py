"""What scripts rely on: the contract's fields, and lines that are whole documents."""

import json
from importlib.resources import files

import jsonschema
import pytest

from ssediag.report.json import json_report
from ssediag.report.jsonl import jsonl_report
from tests.report.results import CONTEXT, STREAMS, result

SCHEMA = json.loads(files("ssediag.report").joinpath("schema/report-1.schema.json").read_text())


@pytest.mark.parametrize("name", STREAMS)
def test_every_report_fits_the_published_schema(name: str) -> None:
    document = json.loads(json_report(result(name), CONTEXT))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def test_the_schema_itself_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_chain_has_a_step_less_than_hops_and_times_in_milliseconds() -> None:
    document = json.loads(json_report(result("size-flush-in-the-middle"), CONTEXT))
    assert (len(document["hops"]), len(document["steps"])) == (3, 2)
    assert document["culprit"]["step"] == {"inner": "instance", "outer": "proxy"}
    assert document["culprit"]["mechanism"] == "size-flush"
    mechanism = document["hops"][1]["mechanisms"][0]
    assert mechanism["parameters"]["bytes"] == 4096
    assert 100 < mechanism["parameters"]["period_ms"] < 500
    assert document["hops"][0]["metrics"]["first_event_ms"] == 50.0
    assert (document["verdict"], document["exit_code"]) == ("bursts", 3)


def test_what_is_absent_is_null_and_counts_are_always_there() -> None:
    hop = json.loads(json_report(result("connection-refused"), CONTEXT))["hops"][0]
    assert hop["metrics"]["event_count"] == 0
    assert hop["metrics"]["first_event_ms"] is None
    assert hop["attempts"][0]["outcome"] == "connect"


def test_every_event_is_a_line_and_the_report_is_the_last() -> None:
    streams = STREAMS["size-flush-in-the-middle"]
    lines = list(jsonl_report(result("size-flush-in-the-middle"), CONTEXT, streams))
    events = [json.loads(line) for line in lines[:-1]]
    assert len(events) == 6 * 80
    first = events[0]
    assert (first["hop"], first["run"], first["index"]) == ("instance", 1, 0)
    assert first["latest_epoch_ns"] - first["arrival_ns"] == streams[0].began_epoch_ns
    assert first["data"] is None
    assert json.loads(lines[-1])["summary"]["schema_version"] == 1
