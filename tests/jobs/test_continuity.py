"""Whether what several connections brought joins to one stream."""

import json
from collections.abc import Sequence

from ssediag.jobs.continuity import Basis, Continuity, Heard, check, counted
from ssediag.model.stream import EventKind


def by_id(*ids: str) -> list[Heard]:
    return [Heard(EventKind.TOKEN, "", f"text {one}", one) for one in ids]


def by_index(*indices: int) -> list[Heard]:
    return [
        Heard(EventKind.TOKEN, "token", json.dumps({"token": "x", "index": one}), "")
        for one in indices
    ]


def texts(words: str) -> list[Heard]:
    return [Heard(EventKind.TOKEN, "", word, "") for word in words.split()]


def blocks(*numbers: int) -> list[Heard]:
    shown = [{"type": "content_block_delta", "index": number} for number in numbers]
    return [Heard(EventKind.TOKEN, "", json.dumps(one), "") for one in shown]


def sound(basis: Basis, missing_count: int | None = 0) -> Continuity:
    return Continuity(basis, 0, missing_count, ())


def test_ids_that_go_on_are_sound() -> None:
    assert check([by_id("1", "2", "3"), by_id("4", "5")]) == sound(Basis.ID)


def test_an_id_that_is_left_out_is_a_gap() -> None:
    assert check([by_id("1", "2"), by_id("5", "6")]).missing_count == 2


def test_an_id_that_comes_again_is_a_duplicate() -> None:
    joined = check([by_id("1", "2", "3"), by_id("3", "4")])
    assert (joined.duplicate_count, joined.missing_count, joined.restarts) == (1, 0, ())


def test_a_stream_that_begins_anew_is_found_by_its_ids() -> None:
    joined = check([by_id("a", "b"), [], by_id("a", "b", "c")])
    assert joined == Continuity(Basis.ID, 2, None, (2,))


def test_ids_that_are_no_numbers_or_no_count_show_no_gaps() -> None:
    assert check([by_id("a", "b"), by_id("d")]) == sound(Basis.ID, None)
    assert check([by_id("100", "350"), by_id("700")]) == sound(Basis.ID, None)


def test_an_event_without_an_id_of_its_own_repeats_nothing() -> None:
    first = [*by_id("1", "2"), Heard(EventKind.TOKEN, "", "more", "2")]
    second = [Heard(EventKind.TOKEN, "", "still more", "2"), *by_id("3")]
    assert check([first, second]) == sound(Basis.ID)


def test_the_id_that_the_first_request_named_is_no_event() -> None:
    events = [Heard(EventKind.TOKEN, "", "more", "7"), *by_id("8", "9")]
    assert check([events], first_id="7") == sound(Basis.ID)


def test_ids_that_name_something_else_are_not_believed() -> None:
    assert check([by_id("run", "other", "run", "other")]).basis is Basis.TEXT


def test_an_index_goes_before_ids() -> None:
    events = [event._replace(last_event_id=f"id {place}") for place, event in
              enumerate(by_index(0, 1, 2))]  # fmt: skip
    assert check([events, by_index(3)]) == sound(Basis.INDEX)


def test_gaps_and_duplicates_are_found_by_the_index() -> None:
    assert check([by_index(0, 1, 2), by_index(2, 3)]) == Continuity(Basis.INDEX, 1, 0, ())
    assert check([by_index(0, 1, 2), by_index(5, 6)]) == Continuity(Basis.INDEX, 0, 2, ())
    assert check([by_index(0, 1, 2), by_index(0, 1)]) == Continuity(Basis.INDEX, 2, 0, (1,))


def test_a_gap_inside_one_connection_is_one_if_the_rest_is_counted_one_by_one() -> None:
    assert check([by_index(*range(20), *range(25, 40))]).missing_count == 5
    assert check([by_index(0, 3, 5, 9)]).missing_count is None


def test_the_number_of_a_block_is_no_index() -> None:
    assert counted(blocks(0, 0, 1)) == ()
    assert counted(blocks(0)) == ()
    assert counted(by_index(0)) == (0,)
    assert check([blocks(0, 0, 0), blocks(0, 0)]).basis is Basis.TEXT


def test_what_only_looks_like_an_index_counts_nothing() -> None:
    odd = ['{"index": true}', '{"index": -1}', '{"index": "1"}', '{"index"', '["index"]']
    assert counted([Heard(EventKind.TOKEN, "", data, "") for data in odd]) == ()


def joined_texts(*connections: str) -> tuple[int, Sequence[int]]:
    joined = check([texts(words) for words in connections])
    assert (joined.basis, joined.missing_count) == (Basis.TEXT, None)
    return joined.duplicate_count, joined.restarts


def test_a_text_that_begins_anew_is_found_without_ids() -> None:
    assert joined_texts("a b c d", "a b c d e f") == (4, (1,))


def test_a_text_that_overlaps_is_found_without_ids() -> None:
    assert joined_texts("a b c d e", "c d e f") == (3, ())


def test_a_text_that_goes_on_or_differs_is_neither() -> None:
    assert joined_texts("a b c d e", "f g h i") == (0, ())
    assert joined_texts("a b c", "a b x y") == (0, ())


def test_ticks_are_all_alike_and_repeat_nothing() -> None:
    assert joined_texts("tick tick tick tick", "tick tick tick") == (0, ())


def test_heartbeats_and_ends_are_no_text() -> None:
    beat = Heard(EventKind.KEEPALIVE, "ping", "p", "")
    done = Heard(EventKind.END, "", "[DONE]", "")
    joined = check([[beat, *texts("a b c"), done], [beat, *texts("d e f"), done]])
    assert joined == sound(Basis.TEXT, None)


def test_a_chat_that_gives_its_role_again_began_again() -> None:
    role = Heard(EventKind.ROLE, "", '{"id": "1"}', "")
    other = role._replace(data='{"id": "2"}')
    assert check([[role, *texts("a b")], [other, *texts("x y")]]).restarts == (1,)
