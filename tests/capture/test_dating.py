from ssediag.capture.dating import Dater, Receipt
from ssediag.capture.tcp_info import Counters
from ssediag.model.recording import Quality, Read

MS = 1_000_000


def receipt(data: bytes, **noted: object) -> Receipt:
    return Receipt(data=data, full=False, returned_ns=1_000 * MS, **noted)  # type: ignore[arg-type]


def test_a_read_of_one_segment_is_dated_exactly() -> None:
    read = Dater(0).date(
        receipt(b"abc", stamp_ns=7 * MS, before=Counters(0, 0, 0), after=Counters(3, 1, 0))
    )
    assert read == Read(7 * MS, 7 * MS, Quality.EXACT, b"abc", 1)


def test_segments_that_woke_a_sleeping_thread_came_within_its_own_delay() -> None:
    read = Dater(0).date(
        receipt(
            b"abc",
            stamp_ns=70 * MS,
            wait_ns=2 * MS,
            before=Counters(0, 0, 0),
            after=Counters(3, 3, 0),
        )
    )
    assert read == Read(67_700_000, 70 * MS, Quality.BOUNDED, b"abc", 3)


def test_a_process_that_was_stopped_claims_nothing_about_what_came_meanwhile() -> None:
    counted = {"before": Counters(0, 0, 0), "after": Counters(3, 3, 0)}
    stopped = Dater(0).date(
        receipt(b"abc", stamp_ns=70 * MS, wait_ns=0, stopped_ns=60 * MS, **counted)
    )
    assert stopped == Read(9_700_000, 70 * MS, Quality.UNKNOWN, b"abc", 3)


def test_segments_that_were_queued_already_came_at_any_time_since_the_read_before() -> None:
    dater = Dater(0)
    dater.date(receipt(b"a", stamp_ns=10 * MS, before=Counters(0, 0, 0), after=Counters(1, 1, 0)))
    read = dater.date(
        receipt(
            b"bc", stamp_ns=70 * MS, wait_ns=0, before=Counters(3, 3, 0), after=Counters(3, 3, 0)
        )
    )
    assert read == Read(10 * MS, 70 * MS, Quality.UNKNOWN, b"bc", 2)


def test_a_segment_that_came_after_the_call_belongs_to_the_next_read() -> None:
    dater = Dater(0)
    first = dater.date(
        receipt(b"a", stamp_ns=10 * MS, before=Counters(0, 0, 0), after=Counters(2, 2, 0))
    )
    second = dater.date(
        receipt(b"b", stamp_ns=11 * MS, before=Counters(2, 2, 0), after=Counters(2, 2, 0))
    )
    assert (first.quality, first.segment_count) == (Quality.EXACT, 1)
    assert (second.quality, second.segment_count) == (Quality.EXACT, 1)


def test_when_it_is_open_which_read_a_segment_belongs_to_neither_is_exact() -> None:
    dater = Dater(0)
    first = dater.date(
        receipt(b"a", stamp_ns=10 * MS, before=Counters(0, 0, 0), after=Counters(3, 3, 0))
    )
    second = dater.date(
        receipt(b"bc", stamp_ns=11 * MS, before=Counters(3, 3, 0), after=Counters(3, 3, 0))
    )
    assert (first.quality, first.segment_count) == (Quality.UNKNOWN, 2)
    assert (second.quality, second.segment_count) == (Quality.BOUNDED, 1)


def test_a_segment_that_filled_a_gap_is_dated_by_this_process() -> None:
    """The stamp is that of the segment that came too early; its bytes were readable later."""
    dater = Dater(0)
    dater.date(receipt(b"a", stamp_ns=10 * MS, before=Counters(0, 0, 0), after=Counters(1, 1, 0)))
    read = dater.date(
        receipt(b"bc", stamp_ns=70 * MS, before=Counters(1, 2, 1), after=Counters(3, 3, 1))
    )
    assert read == Read(10 * MS, 1_000 * MS, Quality.USER, b"bc", 2)


def test_the_read_after_a_disordered_one_is_dated_by_this_process_too() -> None:
    dater = Dater(0)
    dater.date(receipt(b"a", stamp_ns=10 * MS, before=Counters(0, 0, 0), after=Counters(1, 2, 1)))
    read = dater.date(
        receipt(b"bc", stamp_ns=70 * MS, before=Counters(1, 2, 1), after=Counters(3, 3, 1))
    )
    assert read.quality == Quality.USER


def test_a_read_without_a_stamp_reaches_back_as_far_as_this_process_ran_late() -> None:
    read = Dater(0).date(receipt(b"a", lag_ns=20 * MS))
    assert read == Read(979_700_000, 1_000 * MS, Quality.USER, b"a", None)


def test_a_stamp_from_after_the_call_returned_is_not_believed() -> None:
    read = Dater(0).date(
        receipt(b"a", stamp_ns=1_001 * MS, before=Counters(0, 0, 0), after=Counters(1, 1, 0))
    )
    assert (read.latest_ns, read.quality) == (1_000 * MS, Quality.USER)


def test_no_read_is_dated_before_the_one_in_front_of_it() -> None:
    dater = Dater(0)
    dater.date(receipt(b"a", stamp_ns=10 * MS, before=Counters(0, 0, 0), after=Counters(1, 1, 0)))
    read = dater.date(
        receipt(
            b"bc",
            stamp_ns=11 * MS,
            wait_ns=50 * MS,
            before=Counters(1, 1, 0),
            after=Counters(3, 3, 0),
        )
    )
    assert (read.earliest_ns, read.quality) == (10 * MS, Quality.BOUNDED)
