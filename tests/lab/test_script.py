"""What an instance will send and when, as literal times. Nothing here waits."""

import json
from itertools import pairwise

import pytest

from ssediag.lab.script import body_length, document, end_ns, script, stamped
from ssediag.lab.settings import Settings, changed

MS = 1_000_000


def told(**texts: str) -> Settings:
    return changed(Settings(), {"shape": "plain", **texts}.items())


def times_ms(settings: Settings) -> list[float]:
    return [step.due_ns / MS for step in script(settings)]


def test_the_first_token_comes_after_the_prefill_and_the_end_one_gap_after_the_last() -> None:
    settings = told(tokens="3", gap_ms="20", prefill_ms="50")
    assert times_ms(settings) == [50, 70, 90, 110, 110]
    assert script(settings)[-1].events == ()
    assert end_ns(settings) == 110 * MS


def test_the_role_comes_with_the_first_token_and_usage_and_done_with_the_finish() -> None:
    settings = told(shape="openai", tokens="2", gap_ms="10", prefill_ms="30", usage="1")
    assert times_ms(settings) == [30, 30, 40, 50, 50, 50, 50]


def test_raw_events_have_no_terminator_and_the_end_still_waits_one_gap() -> None:
    settings = told(shape="raw", tokens="2", gap_ms="10", prefill_ms="0", event_bytes="48")
    assert times_ms(settings) == [0, 10, 20]
    assert [len(event) for step in script(settings) for event in step.events] == [48, 48]


def test_the_times_do_not_drift_over_many_tokens() -> None:
    settings = told(tokens="10000", gap_ms="0.1", prefill_ms="0")
    assert times_ms(settings)[9999] == pytest.approx(999.9, abs=1e-3)


def test_several_tokens_in_an_event_come_when_the_last_is_ready() -> None:
    settings = told(tokens="5", tokens_per_event="2", gap_ms="10", prefill_ms="50")
    assert times_ms(settings) == [60, 80, 90, 100, 100]
    assert script(settings)[0].events == (b'data: {"token": "t0 t1"}\n\n',)


def test_a_group_is_written_together_when_its_last_event_is_ready() -> None:
    settings = told(tokens="5", group="2", gap_ms="10", prefill_ms="50")
    assert [(step.due_ns / MS, len(step.events)) for step in script(settings)] == [
        (60, 2), (80, 2), (90, 1), (100, 1), (100, 0),
    ]  # fmt: skip


def test_a_stall_moves_everything_after_it() -> None:
    settings = told(tokens="4", gap_ms="10", prefill_ms="0", stall_after="2", stall_ms="500")
    assert times_ms(settings) == [0, 10, 520, 530, 540, 540]


def test_uniform_and_poisson_gaps_keep_their_mean_and_their_seed() -> None:
    for jitter in ("uniform", "poisson"):
        first = told(tokens="4000", gap_ms="10", prefill_ms="0", jitter=jitter, seed="1")
        again = told(tokens="4000", gap_ms="10", prefill_ms="0", jitter=jitter, seed="1")
        other = told(tokens="4000", gap_ms="10", prefill_ms="0", jitter=jitter, seed="2")
        assert times_ms(first) == times_ms(again) != times_ms(other)
        assert end_ns(first) / 4000 == pytest.approx(10 * MS, rel=0.05)
        assert times_ms(first) == sorted(times_ms(first))


def test_uniform_gaps_stay_within_twice_their_mean() -> None:
    times = times_ms(told(tokens="500", gap_ms="10", prefill_ms="0", jitter="uniform"))
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert 0 <= min(gaps) < 2
    assert 18 < max(gaps) <= 20.001


@pytest.mark.parametrize(
    ("ending", "last"),
    [
        ("complete", b"data: [DONE]\n\n"),
        ("no-done", b'data: {"token": "t2"}\n\n'),
        ("short", b"data: [DONE]\n\n"),
    ],
)
def test_an_ending_decides_the_last_event(ending: str, last: bytes) -> None:
    steps = script(told(tokens="3", ending=ending))
    assert [event for step in steps for event in step.events][-1] == last


def test_end_after_cuts_inside_a_group() -> None:
    steps = script(told(tokens="6", group="3", end_after="4"))
    assert [len(step.events) for step in steps] == [3, 1]


def test_an_error_event_replaces_what_would_have_followed() -> None:
    steps = script(
        told(tokens="6", gap_ms="10", prefill_ms="0", ending="error-event", end_after="2")
    )
    assert [step.due_ns / MS for step in steps] == [0, 10, 10]
    assert b'"error"' in steps[-1].events[0]


def test_no_tokens_still_make_a_stream() -> None:
    assert [step.events for step in script(told(tokens="0"))] == [(b"data: [DONE]\n\n",), ()]


def test_a_stamp_fills_its_room_and_nothing_else() -> None:
    (event,) = script(told(tokens="1", stamp="1"))[0].events
    filled = stamped(event)
    assert len(filled) == len(event)
    told_ns = json.loads(filled.removeprefix(b"data: "))["ts"]
    assert len(told_ns) == 19
    assert int(told_ns) > 0
    assert stamped(b"data: [DONE]\n\n") == b"data: [DONE]\n\n"


def test_the_length_is_that_of_all_events() -> None:
    assert body_length(script(told(tokens="2"))) == 2 * 23 + 14


def test_the_document_has_the_whole_text() -> None:
    choice = json.loads(document(told(tokens="3")))["choices"][0]
    assert choice["message"]["content"] == "t0 t1 t2 "


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("tokens", "many", "tokens='many' is no int"),
        ("tokens", "-1", "tokens must not be negative"),
        ("group", "0", "group must be 1 or more"),
        ("tokens_per_event", "0", "tokens_per_event must be 1 or more"),
        ("framing", "pigeon", "framing='pigeon' is no framing"),
        ("gzip", "yes", "gzip='yes' is no bool"),
    ],
)
def test_a_wrong_setting_is_named(name: str, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        told(**{name: text})


def test_gzip_with_a_length_is_refused() -> None:
    with pytest.raises(ValueError, match="gzip has no length"):
        told(gzip="1", framing="length")


def test_a_name_that_is_no_setting_is_passed_over() -> None:
    assert changed(Settings(), [("model", "x"), ("tokens", "3")]) == Settings(tokens=3)
