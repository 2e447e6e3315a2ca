"""Answers that others broke on, played to the whole product: never a hang, the right exit code."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from ssediag.capture.dial import HttpVersion, Route
from ssediag.cli.parse import parse_targets
from ssediag.cli.route import Ways
from ssediag.jobs.compare import compare
from ssediag.jobs.request import Asked
from ssediag.jobs.targets import Plan
from ssediag.model.request import Limits
from tests.jobs.scripted_server import ScriptedServer, serving

CASES = json.loads((Path(__file__).parents[2] / "fixtures" / "http" / "cases.json").read_text())
SECOND = 1_000_000_000
LIMITS = Limits(
    total_ns=20 * SECOND,
    first_event_ns=3 * SECOND,
    idle_ns=3 * SECOND,
    max_event_count=3000,
)
NOTHING_WRONG = (0, 5)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with serving({case["id"]: case for case in CASES}) as running:
        yield running


@pytest.mark.serial
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_scripted_answer_is_judged_as_it_should_be(
    server: ScriptedServer, case: dict[str, Any]
) -> None:
    http2 = case["proto"] == "h2"
    scheme = "https" if case.get("url") == "https-on-plain-port" else "http"
    route = Route(http_version=HttpVersion.PRIOR_KNOWLEDGE if http2 else HttpVersion.AUTO)
    url = f"hop={scheme}://127.0.0.1:{server.port}/{case['id']}"
    targets = parse_targets([url], Asked(), Ways(route, no_proxy="*"))
    result = compare(
        Plan(targets, LIMITS, max_run_count=1), Event(), lambda _stream: None
    ).diagnosis
    wanted = case["expect"]
    if wanted["outcome"] == "ok":
        assert result.exit_code in NOTHING_WRONG
    elif wanted["outcome"] == "error":
        assert result.exit_code not in NOTHING_WRONG
    bounds, count = wanted["events"], result.hops[0].metrics.event_count
    if isinstance(bounds, list):
        assert bounds[0] <= count <= bounds[1]
    elif bounds is not None:
        assert count == bounds
    if result.exit_code == 4:
        assert result.hops[0].attempts[0].reason
