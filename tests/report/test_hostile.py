"""What a peer, a proxy or a file name says can never steer the terminal that shows it."""

from dataclasses import replace

import pytest

from ssediag.model.diagnosis import Attempt, Diagnosis, Product
from ssediag.model.recording import Stage
from ssediag.report.json import json_report
from ssediag.report.jsonl import jsonl_report
from ssediag.report.text import text_report
from tests.report.results import CONTEXT, RESULTS

CONTROLS = [chr(code) for code in (*range(32), *range(127, 160))]
BIDI = list("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
HOSTILE = [letter for letter in (*CONTROLS, *BIDI) if letter != "\n"]


def _said_by(letter: str) -> Diagnosis:
    """A diagnosis that repeats ``letter`` wherever a peer's words are quoted."""
    said = f"a{letter}b"
    result = RESULTS["size-flush-in-the-middle"]
    hops = tuple(
        replace(
            one,
            hop=replace(one.hop, target=f"http://host/{said}"),
            product=Product(said, f"Server: {said}"),
            attempts=(Attempt(1, None, Stage.CONNECT, said, None),),
            headers=(("Server", said),),
        )
        for one in result.hops
    )
    return replace(result, hops=hops, not_observable=(said,))


@pytest.mark.parametrize("letter", HOSTILE, ids=ascii)
def test_no_control_character_reaches_a_report(letter: str) -> None:
    result = _said_by(letter)
    lines = list(jsonl_report(result, CONTEXT, []))
    for report in (text_report(result, CONTEXT), json_report(result, CONTEXT), *lines):
        assert letter not in report


def test_a_line_end_from_a_peer_makes_no_line_of_its_own() -> None:
    text = text_report(_said_by("\n::error::"), CONTEXT)
    assert "\\n::error::b" in text
    assert not [line for line in text.splitlines() if line.startswith("::error::")]
