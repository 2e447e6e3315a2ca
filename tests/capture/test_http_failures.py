import _thread
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ssediag.capture.dial import HttpVersion, Route
from ssediag.model.recording import Closing, NotMeasured, Recording, Stage
from ssediag.model.request import Limits

Serve = Callable[..., str]
Probe = Callable[..., Recording]
MS = 1_000_000
CHUNKED = b"Transfer-Encoding: chunked"
EVENT = b"9\r\ndata: 1\n\n\r\n"


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_a_closed_port_refuses(probe: Probe, closed_port: int) -> None:
    recording = probe(f"http://127.0.0.1:{closed_port}/")
    reason = f"connection refused by 127.0.0.1:{closed_port}"
    assert recording.not_measured == NotMeasured(Stage.CONNECT, reason)
    assert (recording.reads, recording.peer) == ((), None)


def test_a_name_that_does_not_exist_has_no_address(probe: Probe) -> None:
    recording = probe("http://nowhere.invalid/")
    assert recording.not_measured is not None
    assert recording.not_measured.stage == Stage.RESOLVE
    assert recording.not_measured.reason.startswith("no address for host nowhere.invalid: ")


def test_a_missing_unix_socket_cannot_be_connected_to(probe: Probe, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    recording = probe("http://localhost/", route=Route(unix_socket=str(path)))
    reason = f"cannot connect to unix:{path}: No such file or directory"
    assert recording.not_measured == NotMeasured(Stage.CONNECT, reason)


def test_a_listener_that_never_accepts_uses_up_the_time_to_connect(probe: Probe) -> None:
    with socket.socket() as listener, socket.socket() as first:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        first.connect(listener.getsockname())
        port = listener.getsockname()[1]
        recording = probe(f"http://127.0.0.1:{port}/", Limits(connect_ns=200 * MS))
    reason = f"no connection to 127.0.0.1:{port} within 200 ms"
    assert recording.not_measured == NotMeasured(Stage.CONNECT, reason)
    assert recording.closing == Closing.TIMED_OUT


def test_silence_after_the_request_ends_with_the_first_event_limit(
    serve: Serve, probe: Probe
) -> None:
    def script(peer: Any) -> None:
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", Limits(first_event_ns=200 * MS))
    reason = "no answer within 200 ms of the request"
    assert recording.not_measured == NotMeasured(Stage.TIMEOUT, reason)
    assert recording.closing == Closing.TIMED_OUT


def test_silence_after_the_head_says_when_the_head_came(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(CHUNKED)
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", Limits(first_event_ns=300 * MS))
    assert recording.not_measured.stage == Stage.TIMEOUT
    assert recording.not_measured.reason.startswith("headers came after ")
    assert ", then no event for " in recording.not_measured.reason
    assert len(recording.reads) == 1


def test_comments_alone_do_not_count_as_events(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(CHUNKED)
        peer.send(*[b"5\r\n: hi\n\r\n"] * 100)

    recording = probe(f"http://{serve(script)}/", Limits(first_event_ns=300 * MS))
    assert recording.closing == Closing.TIMED_OUT
    assert ", then no event for " in recording.not_measured.reason


def test_half_a_head_is_said_to_be_half_a_head(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-")
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", Limits(first_event_ns=200 * MS))
    reason = "no complete head within 200 ms of the request"
    assert recording.not_measured == NotMeasured(Stage.TIMEOUT, reason)


def test_silence_after_events_ends_with_the_idle_limit(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(CHUNKED)
        peer.send(EVENT, EVENT)
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", Limits(idle_ns=200 * MS))
    reason = "nothing for 200 ms after 2 events"
    assert recording.not_measured == NotMeasured(Stage.TIMEOUT, reason)
    assert len(recording.reads) == 3


def test_a_stream_without_end_meets_the_total_limit(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.answer(CHUNKED)
        while True:
            peer.send(EVENT)

    recording = probe(f"http://{serve(script)}/", Limits(total_ns=400 * MS))
    assert recording.closing == Closing.TIMED_OUT
    assert recording.not_measured.stage == Stage.TIMEOUT
    assert recording.not_measured.reason.startswith("the total limit of 400 ms was reached after ")


def test_a_peer_that_reads_nothing_cannot_hold_up_a_large_request(
    serve: Serve, probe: Probe
) -> None:
    over = threading.Event()

    def script(_: Any) -> None:
        over.wait(10)

    url = f"http://{serve(script)}/"
    recording = probe(url, Limits(total_ns=400 * MS), method="POST", body=b"x" * 50_000_000)
    over.set()
    reason = "the total limit of 400 ms was reached before any answer"
    assert recording.not_measured == NotMeasured(Stage.TIMEOUT, reason)


def test_a_close_before_any_byte(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()

    recording = probe(f"http://{serve(script)}/")
    reason = "the peer closed before any byte"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)
    assert recording.closing == Closing.FIN


def test_a_reset_before_any_byte(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.reset()

    recording = probe(f"http://{serve(script)}/")
    reason = "reset by the peer before any byte"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)
    assert recording.closing == Closing.RESET


def test_a_close_inside_the_head(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-")

    recording = probe(f"http://{serve(script)}/")
    reason = "the peer closed inside the head"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)
    assert recording.reads[0].data == b"HTTP/1.1 200 OK\r\nContent-"


def test_an_answer_that_is_not_http_is_quoted(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"ICY 200 OK\r\n\r\n")
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/")
    reason = "not an HTTP answer: it begins 'ICY 200 OK'"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_a_head_without_an_end_is_given_up(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000)
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/")
    reason = "the head cannot be read: Receive buffer too long"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_a_status_that_is_no_status_is_named(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 2000 OK\r\n\r\n")
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/")
    reason = "the head cannot be read: illegal status line"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_http_1_from_a_port_that_was_to_speak_http_2(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    route = Route(http_version=HttpVersion.PRIOR_KNOWLEDGE)
    recording = probe(f"http://{serve(script)}/", route=route)
    reason = "the port speaks HTTP/1.1, not HTTP/2"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_http_2_from_a_port_that_was_to_speak_http_1(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.send(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", Limits(first_event_ns=300 * MS))
    reason = "the port speaks HTTP/2, not HTTP/1.1"
    assert recording.not_measured == NotMeasured(Stage.HEADERS, reason)


def test_a_header_that_cannot_be_sent_is_not_quoted(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.wait_for_close()

    url = f"http://{serve(script)}/"
    recording = probe(url, headers=(("X-Key", "s3cret\nX: y"),))
    assert recording.not_measured == NotMeasured(
        Stage.SEND, "the request could not be sent: Illegal header value"
    )


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http:///x", "http://a/\x00"])
def test_a_url_that_cannot_be_asked_is_not_sent(probe: Probe, url: str) -> None:
    assert probe(url).not_measured.stage == Stage.SEND


def test_a_proxy_that_refuses_the_tunnel_is_named(serve: Serve, probe: Probe) -> None:
    def script(peer: Any) -> None:
        peer.read_request()
        peer.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    recording = probe("https://api.example.invalid/", route=Route(proxy=f"http://{serve(script)}"))
    reason = "the proxy refused the tunnel: 403 Forbidden"
    assert recording.not_measured == NotMeasured(Stage.REFUSED, reason)
    assert recording.reads == ()


def test_a_proxy_of_another_kind_cannot_be_used(probe: Probe) -> None:
    recording = probe("http://a.invalid/", route=Route(proxy="socks5://127.0.0.1:1"))
    reason = "the proxy is not an http:// URL"
    assert recording.not_measured == NotMeasured(Stage.CONNECT, reason)


def test_a_stop_ends_the_capture_and_keeps_what_came(serve: Serve, probe: Probe) -> None:
    stop = threading.Event()

    def script(peer: Any) -> None:
        peer.answer(CHUNKED)
        peer.send(EVENT)
        stop.set()
        peer.wait_for_close()

    began = time.monotonic()
    recording = probe(f"http://{serve(script)}/", stop=stop)
    assert recording.closing == Closing.STOPPED
    assert recording.not_measured == NotMeasured(Stage.BODY, "interrupted after 1 event")
    assert len(recording.reads) == 2
    assert time.monotonic() - began < 10


def test_a_stop_is_noticed_while_data_floods_in(serve: Serve, probe: Probe) -> None:
    stop = threading.Event()

    def script(peer: Any) -> None:
        peer.answer()
        stop.set()
        while True:
            peer.send(b"x" * 10_000, pause=0)

    recording = probe(f"http://{serve(script)}/", stop=stop)
    assert recording.closing == Closing.STOPPED
    assert recording.not_measured.reason == "interrupted before the first event"


def test_a_keyboard_interrupt_ends_the_capture_and_sets_the_stop(
    serve: Serve, probe: Probe
) -> None:
    stop = threading.Event()

    def script(peer: Any) -> None:
        peer.answer(CHUNKED)
        peer.send(EVENT)
        _thread.interrupt_main()
        peer.wait_for_close()

    recording = probe(f"http://{serve(script)}/", stop=stop)
    assert recording.closing == Closing.STOPPED
    assert recording.not_measured == NotMeasured(Stage.BODY, "interrupted after 1 event")
    assert stop.is_set()
    assert len(recording.reads) == 2
