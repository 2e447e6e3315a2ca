import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssediag.capture.dial import Route
from ssediag.model.recording import Clock, Closing, NotMeasured, Quality, Recording, Stage
from ssediag.model.request import Limits

Serve = Callable[..., str]
Probe = Callable[..., Recording]
MS = 1_000_000


def data_of(recording: Recording) -> bytes:
    return b"".join(read.data for read in recording.reads)


def test_each_event_in_a_segment_of_its_own_is_a_read_dated_exactly(
    serve: Serve, probe: Probe
) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Transfer-Encoding: chunked")
        peer.send_chunks(b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert [read.segment_count for read in recording.reads] == [1] * 5
    assert {read.quality for read in recording.reads} == {Quality.EXACT}
    assert (recording.closing, recording.not_measured) == (Closing.FINISHED, None)
    assert recording.clock == Clock.KERNEL


def test_ten_events_in_one_send_are_one_read(serve: Serve, probe: Probe, watch: Any) -> None:
    def script(peer: Any) -> None:
        peer.answer()
        peer.send(b"data: x\n\n" * 10)

    recording = probe(f"http://{serve(script)}/")
    assert [read.data.count(b"\n\n") for read in recording.reads] == [0, 10]
    assert recording.reads[1].segment_count == 1
    assert watch.event_count == 10


def test_the_watch_is_fed_every_read_with_its_index(serve: Serve, probe: Probe, watch: Any) -> None:
    def script(peer: Any) -> None:
        peer.answer()
        peer.send(b"data: 1\n\n", b"data: 2\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert watch.fed == [(index, read.data) for index, read in enumerate(recording.reads)]


def test_a_complete_answer_on_a_connection_that_stays_open_is_finished(
    serve: Serve, probe: Probe
) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Content-Length: 9")
        peer.send(b"data: 1\n\n")
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.FINISHED, None)


def test_a_body_that_ends_with_the_connection_ends_with_fin(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer()
        peer.send(b"data: 1\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.FIN, None)


@pytest.mark.parametrize("field", [b"Transfer-Encoding: chunked", b"Content-Length: 900"])
def test_a_body_that_ends_early_is_data_and_not_a_failure(
    serve: Serve, probe: Probe, field: bytes
) -> None:
    def script(peer: Any) -> None:
        peer.answer(field)
        peer.send(b"9\r\ndata: 1\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.FIN, None)
    assert data_of(recording).endswith(b"data: 1\n\n")


def test_what_came_before_a_reset_is_kept(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Transfer-Encoding: chunked")
        peer.send(b"9\r\ndata: 1\n\n\r\n")
        peer.reset()

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.RESET, None)
    assert data_of(recording).endswith(b"data: 1\n\n\r\n")


def test_bytes_after_a_broken_chunk_are_recorded_too(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Transfer-Encoding: chunked")
        peer.send(b"9\r\ndata: 1\n\n\r\n", b"ZZZ\r\n", b"data: 2\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.FIN, None)
    assert data_of(recording).endswith(b"ZZZ\r\ndata: 2\n\n")


def test_a_head_that_h11_refuses_is_recorded_with_what_follows(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"data: 1\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.FIN, None)
    assert data_of(recording).endswith(b"data: 1\n\n")


@pytest.mark.parametrize("status", [b"100 Continue", b"103 Early Hints"])
def test_an_interim_answer_is_recorded_and_waited_past(
    serve: Serve, probe: Probe, status: bytes
) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 " + status + b"\r\n\r\n")
        peer.answer(b"Content-Length: 9")
        peer.send(b"data: 1\n\n")

    recording = probe(f"http://{serve(script)}/")
    assert recording.closing == Closing.FINISHED
    assert data_of(recording).count(b"HTTP/1.1") == 2


def test_nothing_is_sent_but_the_given_headers_host_and_length(serve: Serve, probe: Probe) -> None:
    requests = []

    def script(peer: Any) -> None:
        peer.read_request()
        requests.append(peer.request)
        peer.answer(b"Content-Length: 0")

    address = serve(script)
    probe(f"http://{address}/a?b=c", method="POST", headers=(("X-One", "1"),), body=b"{}")
    head = requests[0].partition(b"\r\n\r\n")[0]
    assert sorted(head.decode().split("\r\n")) == [
        "Content-Length: 2",
        f"Host: {address}",
        "POST /a?b=c HTTP/1.1",
        "X-One: 1",
    ]


def test_a_redirect_is_an_answer(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 302 Found\r\nLocation: http://[bad\r\nContent-Length: 0\r\n\r\n")

    recording = probe(f"http://{serve(script)}/")
    assert (recording.closing, recording.not_measured) == (Closing.FINISHED, None)


def test_compressed_bytes_are_recorded_as_they_came(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Content-Encoding: gzip", b"Content-Length: 5")
        peer.send(b"\x1f\x8bABC")

    assert data_of(probe(f"http://{serve(script)}/")).endswith(b"\r\n\r\n\x1f\x8bABC")


def test_the_steps_of_a_request_are_in_order_around_zero(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Content-Length: 9")
        peer.send(b"data: 1\n\n")

    address = serve(script)
    recording = probe(f"http://{address}/", method="POST", body=b"x" * 10)
    phases = recording.phases
    times = [phases.began_ns, phases.resolved_ns, phases.connected_ns, 0]
    times += [bound for read in recording.reads for bound in (read.earliest_ns, read.latest_ns)]
    times += [phases.closed_ns]
    assert times == sorted(times)
    assert phases.secured_ns is None
    assert (recording.peer, recording.protocol) == (address, "http/1.1")
    assert recording.request.body_bytes == 10


def test_secrets_do_not_enter_the_recording(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Content-Length: 0")

    headers = (("Authorization", "Bearer s3cr3t-token-value"),)
    recording = probe(f"http://{serve(script)}/", headers=headers)
    assert "s3cr3t-token-value" not in repr(recording)


def test_enough_events_end_the_capture_without_a_reproach(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer()
        peer.send(*[b"data: 1\n\n"] * 50)

    recording = probe(f"http://{serve(script)}/", Limits(max_event_count=2))
    assert (recording.closing, recording.not_measured) == (Closing.STOPPED, None)
    assert data_of(recording).count(b"\n\n") == 2


def test_a_huge_body_is_bounded(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer()
        while True:
            peer.send(b"x" * 100_000, pause=0)

    recording = probe(f"http://{serve(script)}/", Limits(max_bytes=1_000_000))
    assert recording.closing == Closing.STOPPED
    reason = "the limit of 1,000,000 bytes was reached before the first event"
    assert recording.not_measured == NotMeasured(Stage.BODY, reason)
    assert 1_000_000 <= len(data_of(recording)) < 1_100_000


def test_a_unix_socket_is_dated_by_this_process(serve: Serve, probe: Probe, tmp_path: Path) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Content-Length: 9")
        peer.send(b"data: 1\n\n")

    path = tmp_path / "socket"
    url = f"http://{serve(script, unix=path)}/"
    recording = probe(url, route=Route(unix_socket=str(path)))
    assert recording.closing == Closing.FINISHED
    assert recording.clock == Clock.USER
    assert {read.quality for read in recording.reads} == {Quality.USER}
    assert [read.segment_count for read in recording.reads] == [None, None]
    assert all(read.earliest_ns < read.latest_ns for read in recording.reads)


def test_the_host_of_the_url_stays_when_another_address_is_dialled(
    serve: Serve, probe: Probe
) -> None:
    requests = []

    def script(peer: Any) -> None:
        peer.read_request()
        requests.append(peer.request)
        peer.answer(b"Content-Length: 0")

    host, port = serve(script).split(":")
    probe("http://api.example.invalid/", route=Route(connect_to=(host, int(port))))
    assert b"Host: api.example.invalid\r\n" in requests[0]


def test_a_proxy_is_sent_the_whole_url(serve: Serve, probe: Probe) -> None:
    requests = []

    def script(peer: Any) -> None:
        peer.read_request()
        requests.append(peer.request)
        peer.answer(b"Content-Length: 0")

    probe("http://api.example.invalid/x", route=Route(proxy=f"http://{serve(script)}"))
    assert requests[0].startswith(b"GET http://api.example.invalid/x HTTP/1.1\r\n")


def test_several_captures_side_by_side_do_not_meet(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(b"Content-Length: 18")
        peer.send(b"data: 1\n\n", b"data: 2\n\n")

    urls = [f"http://{serve(script)}/" for _ in range(5)]
    recordings = []
    threads = [
        threading.Thread(target=lambda url=url: recordings.append(probe(url))) for url in urls
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(data_of(one).partition(b"\r\n\r\n")[2]) for one in recordings] == [18] * 5
