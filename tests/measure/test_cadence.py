from ssediag.measure.arrivals import deliver
from ssediag.measure.cadence import cadence_of
from ssediag.model.cadence import Arrivals

MS = 1_000_000


def test_events_that_come_one_by_one_are_bursts_of_one() -> None:
    cadence = cadence_of(deliver([(n * 20 * MS, 100) for n in range(10)], (100,) * 10))
    assert [burst.event_count for burst in cadence.bursts] == [1] * 10
    assert (cadence.together_count, cadence.apart_count, cadence.undated_count) == (0, 9, 0)


def test_a_block_that_cuts_an_event_says_so() -> None:
    cadence = cadence_of(deliver([(80 * MS, 250), (180 * MS, 250)], (100,) * 5))
    assert [(b.event_count, b.splits_event) for b in cadence.bursts] == [(2, True), (3, False)]


def test_segments_of_one_send_are_one_burst() -> None:
    releases = [(100 * MS, 200), (100 * MS + 90_000, 200), (400 * MS, 400)]
    cadence = cadence_of(deliver(releases, (100,) * 8))
    assert [burst.event_count for burst in cadence.bursts] == [4, 4]


def test_ten_events_in_a_read_that_we_picked_up_late_prove_no_burst() -> None:
    late = Arrivals(
        earliest_ns=(0, 20 * MS, 240 * MS),
        latest_ns=(0, 220 * MS, 240 * MS),
        dated=(True, True, True),
        byte_counts=(100, 1000, 100),
        chunk_counts=(1, 10, 1),
        event_delivery=(0, *(1,) * 10, 2),
        event_first_delivery=(0, *(1,) * 10, 2),
        event_bytes=(100,) * 12,
    )
    cadence = cadence_of(late)
    assert cadence.together_count == 0
    assert cadence.undated_count == 9
    assert [burst.proven for burst in cadence.bursts] == [True, False, True]


def test_an_undated_read_joins_nobody() -> None:
    arrivals = Arrivals(
        earliest_ns=(0, 0),
        latest_ns=(20 * MS, 20 * MS),
        dated=(True, False),
        byte_counts=(100, 100),
        chunk_counts=(1, 1),
        event_delivery=(0, 1),
        event_first_delivery=(0, 1),
        event_bytes=(100, 100),
    )
    assert cadence_of(arrivals).undated_count == 1


def test_a_stream_without_events_has_an_empty_cadence() -> None:
    cadence = cadence_of(deliver([], ()))
    assert (cadence.event_count, cadence.bursts) == (0, ())
