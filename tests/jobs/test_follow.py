"""Following a scripted server over its reconnects: nothing here waits."""

import json
import threading
from dataclasses import replace

import pytest

from ssediag.jobs.continuity import Basis
from ssediag.jobs.follow import follow
from ssediag.jobs.reconnect import EVENT_SOURCE, FETCH, End
from ssediag.jobs.targets import Target
from ssediag.model.mechanism import Verdict
from ssediag.model.recording import Hop
from ssediag.model.request import Limits
from tests.jobs.scripted import STREAM, Answer, play, served

NO_CONTENT = Answer(status="204 No Content", headers=())
CUT = "Content-Length: 100000"


def ids(*numbers: int) -> str:
    return "".join(f"id: {number}\ndata: text {number}\n\n" for number in numbers)


def tokens(*indices: int) -> str:
    events = (json.dumps({"token": "x", "index": index}) for index in indices)
    return "".join(f"event: token\ndata: {event}\n\n" for event in events)


def test_a_cut_stream_is_resumed_by_its_last_id_until_204() -> None:
    with served(Answer(ids(1, 2), headers=(STREAM, CUT)), Answer(ids(3, 4)), NO_CONTENT) as server:
        played = play(server.url)
    assert [server.header(place, "Last-Event-ID") for place in range(3)] == [None, "2", "4"]
    assert [one.end for one in played.observed] == [End.CUT, End.CLOSED, End.NO_CONTENT]
    assert [one.sent_id for one in played.observed] == [None, "2", "4"]
    assert [data for _, data, _ in played.events] == ["text 1", "text 2", "text 3", "text 4"]
    assert played.waits == [3, 3]
    assert played.followed.verdict is Verdict.STREAMS
    assert "204" in (played.observed[-1].stopped or "")


def test_the_servers_retry_is_honoured_and_remembered() -> None:
    with served(
        Answer("retry: 250\n\n" + ids(1)), Answer(ids(2) + "retry: x\n\n"), NO_CONTENT
    ) as server:
        assert play(server.url).waits == [0.25, 0.25]


def test_done_ends_an_eventsource_though_the_connection_stays_open() -> None:
    with served(Answer(ids(1) + "data: [DONE]\n\n", open=True)) as server:
        played = play(server.url)
    assert played.waits == []
    assert played.observed[0].end is End.DONE
    assert "applications close" in (played.observed[0].stopped or "")
    assert played.followed.verdict is Verdict.STREAMS


def test_an_eventsource_that_asks_again_after_an_answer_gets_it_from_its_start() -> None:
    with served(Answer(ids(1, 2)), Answer(ids(1, 2)), NO_CONTENT) as server:
        followed = play(server.url).followed
    assert followed.continuity.restarts == (1,)
    assert followed.verdict is Verdict.BROKEN


def test_duplicates_and_gaps_are_a_fault() -> None:
    with served(Answer(ids(1, 2, 3)), Answer(ids(3, 4)), NO_CONTENT) as server:
        again = play(server.url).followed
    assert again.continuity.duplicate_count == 1
    assert again.verdict is Verdict.BROKEN
    with served(Answer(ids(1, 2, 3)), Answer(ids(6, 7)), NO_CONTENT) as server:
        gap = play(server.url).followed
    assert gap.continuity.missing_count == 2
    assert gap.verdict is Verdict.BROKEN


def test_a_loss_that_nobody_can_check_is_inconclusive() -> None:
    cut = Answer("data: a\n\ndata: b\n\n", headers=(STREAM, CUT))
    with served(cut, Answer("data: c\n\ndata: d\n\n"), NO_CONTENT) as server:
        followed = play(server.url).followed
    assert followed.continuity.basis is Basis.TEXT
    assert followed.verdict is Verdict.INCONCLUSIVE


def test_a_partial_event_and_its_id_are_forgotten() -> None:
    with served(
        Answer(ids(1) + "id: 2\ndata: half"), Answer("data: more\n\n"), NO_CONTENT
    ) as server:
        played = play(server.url)
    assert server.header(1, "Last-Event-ID") == "1"
    assert played.events == [("message", "text 1", "1"), ("message", "more", "1")]


def test_an_empty_id_is_no_id() -> None:
    with served(Answer("id: 1\ndata: a\n\nid\ndata: b\n\n"), NO_CONTENT) as server:
        played = play(server.url)
    assert server.header(1, "Last-Event-ID") is None
    assert played.events == [("message", "a", "1"), ("message", "b", "")]


def test_an_id_in_any_script_is_sent_as_it_came() -> None:
    with served(Answer("id: 豆腐\ndata: a\n\n"), NO_CONTENT) as server:
        play(server.url)
    assert server.header(1, "Last-Event-ID") == "豆腐"


def test_a_client_may_begin_at_an_id() -> None:
    with served(Answer("data: a\n\n"), NO_CONTENT) as server:
        played = play(server.url, headers=(("Last-Event-ID", "abc"),))
    assert [server.header(place, "Last-Event-ID") for place in range(2)] == ["abc", "abc"]
    assert played.events == [("message", "a", "abc")]


def test_events_and_comments_are_told_in_their_order() -> None:
    with served(Answer(":one\nevent: put\ndata: x\n\n: two\n\n"), NO_CONTENT) as server:
        played = play(server.url)
    assert played.events == [("put", "x", "")]
    assert played.comments == ["one", " two"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(ids(1), status="500 Oops"),
        Answer(ids(1), headers=("Content-Type: text/plain",), open=True),
        Answer("{}", status="401 Unauthorized"),
    ],
)
def test_an_eventsource_fails_for_good_on_another_status_or_type(answer: Answer) -> None:
    with served(answer) as server:
        played = play(server.url)
    assert played.events == []
    assert played.waits == []
    assert played.followed.verdict is Verdict.NOT_MEASURED


def test_a_refusal_after_a_cut_is_a_fault() -> None:
    cut = Answer(ids(1, 2), headers=(STREAM, CUT))
    with served(cut, Answer(status="404 Not Found", headers=())) as server:
        followed = play(server.url).followed
    assert followed.verdict is Verdict.BROKEN


def test_a_network_error_is_tried_again_and_the_outage_is_measured() -> None:
    with served(
        Answer(ids(1, 2), reset=True), Answer(is_nothing=True), Answer(ids(3, 4)), NO_CONTENT
    ) as server:
        played = play(server.url)
    assert [one.end for one in played.observed[1:]] == [
        End.UNREACHABLE, End.CLOSED, End.NO_CONTENT,
    ]  # fmt: skip
    assert played.observed[1].outage_ns is None
    outage_ns = played.observed[2].outage_ns
    assert outage_ns is not None
    assert played.followed.longest_outage_ns == outage_ns
    starts = [one.stream.began_epoch_ns for one in played.observed]
    assert starts == sorted(starts)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_at_every_connection_without_credentials_elsewhere(
    status: int,
) -> None:
    secret = (("Authorization", "Bearer c4n4ry"),)
    with served(Answer(ids(1)), NO_CONTENT) as target:
        elsewhere = target.url.replace("127.0.0.1", "localhost")
        away = Answer(status=f"{status} Moved", headers=(f"Location: {elsewhere}",))
        with served(away, away) as server:
            played = play(server.url, headers=secret)
    assert len(server.requests) == 2
    assert server.header(0, "Authorization") == "Bearer c4n4ry"
    assert target.header(0, "Authorization") is None
    assert target.header(1, "Last-Event-ID") == "1"
    assert [one.end for one in played.observed] == [End.CLOSED, End.NO_CONTENT]


def test_a_redirect_without_a_place_to_go_stops_it() -> None:
    with served(Answer(status="301 Moved", headers=())) as server:
        played = play(server.url)
    assert played.observed[0].end is End.REFUSED
    assert "301" in played.observed[0].reason


def test_a_fetch_client_backs_off_and_resumes_by_index() -> None:
    cuts = [Answer(tokens(2 * n, 2 * n + 1), headers=(STREAM, CUT)) for n in range(3)]
    last = Answer(tokens(6) + "event: done\ndata: {}\n\n", open=True)
    with served(*cuts, last) as server:
        played = play(server.url, FETCH, method="POST", body=b'{"prompt": "hi"}')
    assert played.waits == [1, 2, 4]
    sent = [server.header(place, "X-Stream-Last-Index") for place in range(4)]
    assert sent == [None, "1", "3", "5"]
    assert json.loads(server.body(0)) == {"prompt": "hi"}
    assert json.loads(server.body(3)) == {"prompt": "hi", "last_token_index": 5}
    assert [one.sent_index for one in played.observed] == [None, 1, 3, 5]
    assert played.followed.continuity.basis is Basis.INDEX
    assert played.followed.verdict is Verdict.STREAMS


def test_a_server_that_does_not_resume_is_found() -> None:
    cut = Answer(tokens(0, 1, 2), headers=(STREAM, CUT))
    with served(cut, Answer(tokens(0, 1, 2, 3))) as server:
        followed = play(server.url, FETCH).followed
    assert followed.continuity.restarts == (1,)
    assert followed.continuity.duplicate_count == 3
    assert followed.verdict is Verdict.BROKEN


def test_a_fetch_client_gives_up_when_its_reconnects_are_used_up() -> None:
    policy = replace(FETCH, most_reconnects=2)
    with served(*[Answer(status="503 Busy", headers=())] * 3) as server:
        played = play(server.url, policy)
    assert len(server.requests) == 3
    assert played.waits == [1, 2]
    assert played.followed.verdict is Verdict.NOT_MEASURED


def test_a_fetch_client_ends_with_a_complete_answer() -> None:
    with served(Answer(tokens(0, 1))) as server:
        played = play(server.url, FETCH)
    assert played.observed[0].stopped == "the answer is complete"
    assert played.followed.verdict is Verdict.STREAMS


def test_enough_events_in_all_connections_together_end_it() -> None:
    with served(Answer(ids(1, 2)), Answer(ids(3, 4), open=True)) as server:
        played = play(server.url, limits=Limits(max_event_count=3))
    assert played.observed[1].end is End.STOPPED
    assert played.followed.verdict is Verdict.STREAMS


def test_a_wait_beyond_the_time_limit_is_not_begun() -> None:
    with served(Answer(ids(1, 2))) as server:
        played = play(server.url, limits=Limits(total_ns=2_000_000_000))
    assert played.waits == []
    assert "time limit" in (played.observed[0].stopped or "")
    assert played.followed.verdict is Verdict.STREAMS


def test_a_silence_is_given_up_and_asked_again() -> None:
    with served(Answer(ids(1, 2), open=True), NO_CONTENT) as server:
        played = play(server.url, limits=Limits(idle_ns=100_000_000))
    assert [one.end for one in played.observed] == [End.SILENT, End.NO_CONTENT]


def test_a_stop_while_waiting_makes_no_further_connection() -> None:
    stop = threading.Event()
    with served(Answer(ids(1, 2)), NO_CONTENT) as server:
        played = play(server.url, stop=stop, on_wait=stop.set)
    assert len(server.requests) == 1
    assert played.followed.interrupted
    assert played.followed.verdict is Verdict.STREAMS


def test_a_stop_while_listening_is_an_interruption() -> None:
    stop = threading.Event()
    with served(Answer(ids(1), open=True)) as server:
        timer = threading.Timer(0.1, stop.set)
        timer.start()
        played = play(server.url, stop=stop)
        timer.join()
    assert played.observed[0].end is End.STOPPED
    assert played.observed[0].stopped == "interrupted"


def test_a_recording_is_not_followed() -> None:
    with pytest.raises(ValueError, match="recording"):
        follow(
            Target(Hop("hop", "", 0)), Limits(), EVENT_SOURCE, threading.Event(), lambda _one: None
        )
