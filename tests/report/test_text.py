"""What a person sees: stored reports, and nothing that a server says can control the terminal."""

import os
from pathlib import Path

import pytest

from ssediag.report.text import text_report
from tests.report.results import CONTEXT, STREAMS, result

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "hostile"])
def test_a_report_reads_as_stored(name: str) -> None:
    text = text_report(result(name), CONTEXT)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("SSEDIAG_UPDATE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = text_report(result(name), CONTEXT, width=width)
    too_wide = [line for line in text.splitlines() if len(line) > width and " " in line.strip()]
    assert [line for line in too_wide if not line.startswith("      ")] == []


@pytest.mark.parametrize("color", [False, True])
def test_nothing_from_the_network_controls_the_terminal(*, color: bool) -> None:
    text = text_report(result("hostile"), CONTEXT, color=color)
    assert "evil\\x1b" in text
    for letter in ("\x9b", "\u202e", "\r", "\x07"):
        assert letter not in text
    assert "\x1b[31m\\x9b" not in text
    if not color:
        assert "\x1b" not in text


def test_without_unicode_the_drawing_is_ascii() -> None:
    text = text_report(result("size-flush-in-the-middle"), CONTEXT, unicode=False)
    assert text.isascii()


def test_without_color_there_is_no_escape() -> None:
    assert "\x1b" not in text_report(result("clean-chain"), CONTEXT)
    assert "\x1b[" in text_report(result("clean-chain"), CONTEXT, color=True)
