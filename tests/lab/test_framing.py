"""The lab's own HTTP/1.1: bodies cut anywhere, and what a client says about itself."""

import pytest

from ssediag.lab.framing import Body, Head, MessageError, Request, parse_head, response_body

CHUNKED = b"5\r\nabcde\r\n1;name=x\r\nf\r\n0\r\nTrailer: 1\r\n\r\nnext"


@pytest.mark.parametrize("cut", range(len(CHUNKED) + 1))
def test_a_chunked_body_is_the_same_wherever_it_is_cut(cut: int) -> None:
    body = Body(is_chunked=True)
    data = body.feed(CHUNKED[:cut]) + body.feed(CHUNKED[cut:])
    assert (data, body.rest, body.is_complete) == (b"abcdef", b"next", True)


def test_a_chunked_body_that_stops_is_not_complete() -> None:
    body = Body(is_chunked=True)
    assert body.feed(CHUNKED[:12]) == b"abcde"
    body.close()
    assert not body.is_complete


def test_what_is_no_chunk_size_is_an_error() -> None:
    with pytest.raises(MessageError, match="no chunk size"):
        Body(is_chunked=True).feed(b"data: x\r\n")


def test_a_body_with_a_length_ends_with_it() -> None:
    body = Body(length_bytes=3)
    assert body.feed(b"ab") == b"ab"
    assert not body.is_complete
    assert body.feed(b"cd") == b"c"
    assert (body.rest, body.is_complete) == (b"d", True)


def test_a_body_without_a_length_ends_with_its_connection() -> None:
    body = Body()
    assert body.feed(b"ab") == b"ab"
    assert not body.is_complete
    body.close()
    assert body.is_complete


def test_an_empty_body_is_complete_at_once() -> None:
    assert Body(length_bytes=0).is_complete


@pytest.mark.parametrize(
    ("method", "head", "is_complete"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 9", True),
        ("GET", b"HTTP/1.1 204 No Content", True),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9", True),
        ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0", True),
        ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 9", False),
        ("GET", b"HTTP/1.1 200", False),
    ],
)
def test_a_responses_body_follows_from_its_request_and_head(
    method: str, head: bytes, *, is_complete: bool
) -> None:
    assert response_body(method, parse_head(head)).is_complete is is_complete


@pytest.mark.parametrize("data", [b"", b"hello", b"\x16\x03\x01"])
def test_what_is_no_first_line_is_an_error(data: bytes) -> None:
    with pytest.raises(MessageError):
        parse_head(data)


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("deflate", False),
        ("", False),
    ],
)
def test_a_client_accepts_the_codings_it_names(value: str, *, accepted: bool) -> None:
    head = Head(("GET", "/", "HTTP/1.1"), (("Accept-Encoding", value),))
    assert Request(head, b"", b"").accepts("gzip") is accepted


@pytest.mark.parametrize(
    ("version", "value", "keeps"),
    [
        ("HTTP/1.1", "", True),
        ("HTTP/1.1", "close", False),
        ("HTTP/1.0", "", False),
        ("HTTP/1.0", "Keep-Alive", True),
    ],
)
def test_a_connection_is_kept_as_the_client_wants(version: str, value: str, *, keeps: bool) -> None:
    head = Head(("GET", "/", version), (("Connection", value),))
    assert Request(head, b"", b"").keeps_alive is keeps
