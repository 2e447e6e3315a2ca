"""The hop between a raw client and an instance, or a scripted upstream. Structure only."""

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ssediag.lab.start import LabError, Part, hop, instance
from tests.lab.client import Answer, connected, events, fetch, request

EVENTS = 6  # of the instance below: five tokens and [DONE]


@pytest.fixture(scope="module")
def inner() -> Iterator[Part]:
    with instance(tokens=5, gap_ms=20, prefill_ms=0, shape="plain") as running:
        yield running


def through(upstream: str, fault: str, *fields: str, path: str = "/", **options: object) -> Answer:
    with hop(upstream, fault, **options) as part:
        return fetch(part.url, path, *fields)


@contextmanager
def scripted(*pieces: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """An upstream that reads one request, answers with these bytes and closes."""
    requests: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            requests.append(connection.recv(65536))
            for piece in pieces:
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                continue

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
        thread.join(10)


def test_pass_keeps_every_event_in_its_chunk_and_the_headers(inner: Part) -> None:
    answer = through(inner.url, "pass")
    assert answer.text() == fetch(inner.url).text()
    assert len(answer.chunks()) > 3  # a stall of the machine may join two
    assert answer.field("server") == "ssediag-lab-instance"
    assert answer.field("content-type") == "text/event-stream"
    assert answer.field("via") is None


@pytest.mark.parametrize("framing", ["chunked", "length", "until-close"])
def test_every_upstream_framing_comes_out_in_chunks(inner: Part, framing: str) -> None:
    answer = through(inner.url, "pass", path=f"/?framing={framing}")
    assert answer.field("transfer-encoding") == "chunked"
    assert answer.field("content-length") is None
    assert len(events(answer.text())) == EVENTS
    assert answer.chunks()[-1] == b""


def test_size_flush_sends_chunks_of_its_size(inner: Part) -> None:
    answer = through(inner.url, "size-flush", bytes=32)
    *blocks, rest, last = [len(chunk) for chunk in answer.chunks()]
    assert blocks == [32] * 4
    assert rest == 5 * 23 + 14 - 4 * 32
    assert last == 0
    assert answer.text() == fetch(inner.url).text()


def test_full_buffer_sends_one_chunk(inner: Part) -> None:
    answer = through(inner.url, "full-buffer")
    assert answer.chunks() == [fetch(inner.url).text(), b""]


def test_time_flush_gathers_by_time(inner: Part) -> None:
    answer = through(inner.url, "time-flush", period_ms=60_000)
    assert answer.chunks() == [fetch(inner.url).text(), b""]
    quick = through(inner.url, "time-flush", period_ms=1)
    assert len(quick.chunks()) > 3


def test_head_hold_streams_after_its_first_bytes(inner: Part) -> None:
    sizes = [chunk.count(b"\n\n") for chunk in through(inner.url, "head-hold", bytes=60).chunks()]
    assert sizes[0] >= 3
    assert sum(sizes) == EVENTS
    assert len(sizes) > 3


@pytest.mark.parametrize(
    ("fault", "options", "is_early"),
    [
        ("full-buffer", {}, False),
        ("full-buffer", {"headers": "early"}, True),
        ("pass", {}, True),
        ("time-flush", {"period_ms": 60_000}, True),
        ("pass", {"headers": "late"}, False),
    ],
)
def test_headers_come_early_or_with_the_first_block(
    fault: str, options: dict[str, object], *, is_early: bool
) -> None:
    with (
        instance(answer="headers-then-silence") as silent,
        hop(silent.url, fault, **options) as part,
        connected(part.url) as connection,
    ):
        connection.sendall(request("/"))
        connection.settimeout(20.0 if is_early else 0.2)
        if is_early:
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
        else:
            with pytest.raises(TimeoutError):
                connection.recv(4096)


def test_truncate_closes_without_the_last_chunk(inner: Part) -> None:
    answer = through(inner.url, "truncate", after_events=3)
    assert [chunk.count(b"\n\n") for chunk in answer.chunks()] == [1, 1, 1]
    assert answer.ended == "eof"


def test_gzip_hold_lets_ten_bytes_out_and_the_text_with_the_end(inner: Part) -> None:
    answer = through(inner.url, "gzip-hold", "Accept-Encoding: gzip")
    first, *_, last = answer.chunks()
    assert answer.field("content-encoding") == "gzip"
    assert len(first) == 10
    assert last == b""
    assert gzip.decompress(answer.text()) == fetch(inner.url).text()
    assert zlib.decompressobj(wbits=31).decompress(first) == b""


def test_gzip_hold_passes_to_a_client_that_does_not_accept_it(inner: Part) -> None:
    answer = through(inner.url, "gzip-hold")
    assert answer.field("content-encoding") is None
    assert answer.text() == fetch(inner.url).text()


def test_not_a_stream_is_a_json_document_and_an_error_stays_one(inner: Part) -> None:
    with hop(inner.url, "not-a-stream") as part:
        document = fetch(part.url)
        error = fetch(part.url, "/?status=429")
    assert document.field("content-type") == "application/json"
    message = json.loads(document.text())["choices"][0]["message"]
    assert message["content"] == "t0t1t2t3t4"
    assert error.head.startswith("HTTP/1.1 429 Too Many Requests\r\n")
    assert json.loads(error.text())["error"]["code"] == 429


def test_a_hop_shows_itself_as_told(inner: Part) -> None:
    answer = through(inner.url, "pass", server_header="front", via="1.1 lab", name="cdn")
    assert answer.field("server") == "front"
    assert answer.field("via") == "1.1 lab"
    assert through(inner.url, "pass", server_header="").field("server") is None


def test_the_request_reaches_the_upstream_as_the_client_sent_it() -> None:
    reply = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"
    with (
        scripted(reply) as (url, requests),
        hop(url + "/base", "pass", upstream_http="1.0") as part,
    ):
        answer = fetch(part.url, "/p?q=1", "X-Own: kept", "TE: trailers", body=b"{}")
    (sent,) = requests
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /base/p?q=1 HTTP/1.0\r\nHost: lab\r\n")
    assert b"\r\nX-Own: kept\r\n" in head
    assert b"TE:" not in head
    assert b"\r\nContent-Length: 2\r\n" in head
    assert body == b"{}"
    assert answer.head.startswith("HTTP/1.1 204 No Content\r\n")
    assert answer.field("x-a") == "1"
    assert answer.field("transfer-encoding") is None
    assert answer.body == b""


def test_an_upstream_that_breaks_off_is_passed_on_without_an_end() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for broken, chunks in ((b"3\r\nabc\r\n", [b"abc"]), (b"no size\r\n", [])):
        with scripted(head + broken) as (url, _):
            answer = through(url, "full-buffer")
        assert answer.head.startswith("HTTP/1.1 200 OK\r\n")
        assert answer.chunks() == chunks
        assert answer.ended == "eof"


def test_an_upstream_that_resets_is_passed_on_without_an_end(inner: Part) -> None:
    answer = through(inner.url, "pass", path="/?framing=until-close&ending=reset&end_after=2")
    assert len(events(answer.text())) == 2
    assert answer.chunks()[-1] != b""


@pytest.mark.parametrize("reply", [b"", b"hello\r\n\r\n", b"HTTP/1.1 OK 200\r\n\r\n"])
def test_an_upstream_that_answers_no_http_is_a_502(reply: bytes) -> None:
    with scripted(reply) as (url, _):
        answer = through(url, "pass")
    assert answer.head.startswith("HTTP/1.1 502 Bad Gateway\r\n")
    assert "the upstream failed" in json.loads(answer.body)["error"]["message"]


def test_no_upstream_is_a_502() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    assert through(url, "pass").head.startswith("HTTP/1.1 502 ")


def test_one_connection_carries_several_requests(inner: Part) -> None:
    with hop(inner.url, "pass") as part, connected(part.url) as connection:
        connection.sendall(request("/") + request("/", "Connection: close"))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert data.count(b"HTTP/1.1 200 OK") == 2
    assert data.count(b"data: [DONE]") == 2


def test_a_client_that_leaves_closes_the_upstream(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        instance(tokens=5000, gap_ms=2, prefill_ms=0, log=log) as inner,
        hop(inner.url, "full-buffer") as part,
    ):
        with connected(part.url) as connection:
            connection.sendall(request("/"))
        assert eventually(lambda: log.exists() and log.read_text().endswith("\n"))
    entry = json.loads(log.read_text())
    assert entry["cancelled"] is True
    assert len(entry["events"]) < 2500


def eventually(happened: Callable[[], bool]) -> bool:
    until = time.monotonic() + 10
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_a_hop_wants_an_http_address() -> None:
    with pytest.raises(LabError, match="not http://"), hop("ftp://127.0.0.1", "pass"):
        pass
