"""Numbers without false precision, facts in words, and text that cannot control a terminal."""

import pytest

from ssediag.model.diagnosis import Evidence, Unit
from ssediag.report.wording import (
    brief,
    clean,
    counted,
    duration_text,
    evidence_clauses,
    evidence_text,
    gap_text,
    listed,
    milliseconds,
    number_text,
    parameter_text,
    sentence,
    value_text,
)
from tests.report.results import PERIODIC, SIZE_FLUSH, TRUNCATED

CONTROLS = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff",
]


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ms"),
        (53_000, "53 µs"),
        (999_400, "999 µs"),
        (999_600, "1 ms"),
        (20_149_000, "20.1 ms"),
        (201_000_000, "201 ms"),
        (999_900_000, "1 s"),
        (1_350_000_000, "1.35 s"),
        (59_950_000_000, "60 s"),
        (1_234_000_000_000, "1234 s"),
        (-5_000_000, "-5 ms"),
    ],
)
def test_a_duration_has_three_digits_and_the_unit_that_suits(ns: int, text: str) -> None:
    assert duration_text(ns) == text


def test_a_gap_below_the_error_bar_is_only_said_to_be_below() -> None:
    assert gap_text(0, 53_000) == "<53 µs"
    assert gap_text(53_000, 53_000) == "53 µs"
    assert gap_text(12_000, None) == "12 µs"


def test_machines_get_microseconds() -> None:
    assert milliseconds(20_123_456) == 20.123


@pytest.mark.parametrize(
    ("value", "text"), [(13.0, "13"), (13.5, "13.5"), (13.04, "13"), (4096.0, "4096")]
)
def test_a_count_has_no_false_decimal(value: float, text: str) -> None:
    assert number_text(value) == text


def test_one_is_singular() -> None:
    assert [counted(count, "run") for count in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (20_100_000, Unit.NS, "20.1 ms"),
        (4096.0, Unit.BYTES, "4096 bytes"),
        (1.0, Unit.EVENTS, "1 event"),
        (80.0, Unit.COUNT, "80"),
        (0.256, Unit.SHARE, "26%"),
        (1.96, Unit.RATIO, "2"),
        ("gzip\x1b", Unit.WORD, "gzip\\x1b"),
    ],
)
def test_a_value_carries_its_unit(value: float | str, unit: Unit, text: str) -> None:
    assert value_text(value, unit) == text


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (Evidence("per_burst_events", 13.5, Unit.EVENTS, 2), "13.5 events in a burst"),
        (Evidence("multi_share", 1.0, Unit.SHARE, 0.6), "all of the events come in company"),
        (Evidence("multi_share", 0.0, Unit.SHARE, 0.6), "none of the events come in company"),
        (
            Evidence("split_share", 0.75, Unit.SHARE, 0.5),
            "75% of the bursts end in the middle of an event",
        ),
        (
            Evidence("ending", "no-last-chunk", Unit.WORD, "no-last-chunk"),
            "the connection closed before the last chunk",
        ),
        (Evidence("identity_rhythm", "none", Unit.WORD, "none"), "asked for no coding it streams"),
        (Evidence("event_count", 80, Unit.COUNT, 10), None),
        (Evidence("source_groups", "no", Unit.WORD, "no"), None),
        (Evidence("ack_delay_ns", 40e6, Unit.NS, None), "ack delay: 40 ms"),
        (Evidence("window_bytes", 65535.0, Unit.BYTES, None), "window: 65535 bytes"),
    ],
)
def test_a_fact_is_a_clause_also_when_nobody_worded_it(
    evidence: Evidence, text: str | None
) -> None:
    assert evidence_text(evidence) == text


def test_the_clauses_of_a_mechanism_keep_to_the_error_bar() -> None:
    assert evidence_clauses(SIZE_FLUSH.evidence, 53_000) == [
        "13 events in a burst",
        "all of the bursts end in the middle of an event",
        "the median gap between events is below 53 µs",
    ]


def test_clauses_join_to_a_sentence() -> None:
    assert sentence(["one thing", "another"]) == "One thing; another."
    assert sentence([]) == ""
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_parameters_are_said_as_far_as_they_are_known() -> None:
    assert parameter_text(SIZE_FLUSH) == "4096 bytes every 260 ms"
    assert parameter_text(PERIODIC) == "every 201 ms"
    assert parameter_text(TRUNCATED) == ""


@pytest.mark.parametrize("control", CONTROLS)
def test_no_control_character_stays(control: str) -> None:
    shown = clean(f"a{control}b")
    assert control not in shown
    assert shown.isprintable()
    assert (shown[0], shown[-1]) == ("a", "b")


def test_letters_of_any_script_stay() -> None:
    assert clean("Größe 東京 µs … 🙂") == "Größe 東京 µs … 🙂"


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert brief("a" * 50, 10) == "aaaaaaaaa…"
    assert brief("short", 10) == "short"
