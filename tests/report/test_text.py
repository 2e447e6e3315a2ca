"""What a person sees: stored reports, and nothing that a server says can control the terminal."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ssediag.report.text import text_report
from tests.report.results import CONTEXT, EVIL, RESULTS

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "hostile"])
def test_a_report_reads_as_stored(name: str) -> None:
    text = text_report(RESULTS[name], CONTEXT)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("SSEDIAG_UPDATE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


def test_every_stored_report_belongs_to_a_test() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(RESULTS) - {"hostile"}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal_but_what_is_to_be_pasted(name: str, width: int) -> None:
    text = text_report(RESULTS[name], CONTEXT, width=width)
    wide = [line for line in text.splitlines() if len(line) > width]
    words = [line for line in wide if " " in line.strip() and not line.startswith("      ")]
    assert words == []


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_from_the_network_controls_the_terminal(width: int, *, color: bool) -> None:
    text = text_report(RESULTS["hostile"], CONTEXT, width=width, color=color)
    assert "evil\\x1b[31m" in text
    for letter in ("\x9b", "\u202e", "\r", "\x07", "\u2028", EVIL):
        assert letter not in text
    assert "evil\x1b" not in text
    if not color:
        assert "\x1b" not in text


def test_a_header_of_any_length_is_quoted_in_short() -> None:
    assert len(text_report(RESULTS["hostile"], CONTEXT)) < 5_000


def test_without_unicode_every_report_is_ascii() -> None:
    for result in RESULTS.values():
        assert text_report(result, CONTEXT, unicode=False).isascii()


def test_color_is_an_escape_around_the_same_words() -> None:
    plain = text_report(RESULTS["clean-chain"], CONTEXT)
    colored = text_report(RESULTS["clean-chain"], CONTEXT, color=True)
    assert "\x1b" not in plain
    assert "\x1b[32mstreams\x1b[0m" in colored


def test_the_product_needs_room_and_the_whole_stream_needs_more() -> None:
    first_lines = {
        width: text_report(RESULTS["clean-chain"], CONTEXT, width=width).splitlines()[2]
        for width in (60, 80, 120)
    }
    assert "product" not in first_lines[60]
    assert first_lines[80].endswith("product")
    assert "events" in first_lines[120]


def test_a_long_name_gives_way_before_the_numbers_do() -> None:
    result = RESULTS["size-flush-in-the-middle"]
    long = "a-very-long-name-of-a-gateway-in-a-cluster-somewhere"
    first = replace(result.hops[0], hop=replace(result.hops[0].hop, name=long))
    renamed = replace(result, hops=(first, *result.hops[1:]))
    text = text_report(renamed, CONTEXT, width=60)
    assert max(len(line) for line in text.splitlines() if not line.startswith("      ")) <= 60
    assert "streams" in text


def test_nobody_is_told_what_to_change_while_the_order_is_in_doubt() -> None:
    text = text_report(RESULTS["swapped"], CONTEXT)
    assert "What to change" not in text
    assert "give the instance first" in text


def test_a_note_is_said_but_never_as_something_to_change() -> None:
    text = text_report(RESULTS["clean-alone-with-a-stall"], CONTEXT)
    assert "alone: source-stall, after 1.23 s." in text
    assert "What to change" not in text
