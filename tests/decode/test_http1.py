"""HTTP/1 framing: every layer's borders, whatever the reads are, and what is refused."""

import pytest

from ssediag.decode.http1 import MAX_HEAD_BYTES, MAX_LINE_BYTES, Http1Decoder
from ssediag.model.stream import Framing

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def decoded(*pieces: bytes, method: str = "GET") -> tuple[Http1Decoder, list[bytes]]:
    decoder = Http1Decoder(method)
    bodies = [decoder.feed(index, piece) for index, piece in enumerate(pieces)]
    decoder.finish()
    return decoder, bodies


def test_every_cut_in_three_gives_the_same_body_and_chunks() -> None:
    wire = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\nTransfer-Encoding: chunked\r\n\r\n"
        b'3;a="b;c"\r\nabc\r\n02 \t\nde\n0\r\nX-Sum: 1\r\n\r\n!!'
    )
    for first in range(len(wire) + 1):
        for second in range(first, len(wire) + 1):
            decoder, bodies = decoded(wire[:first], wire[first:second], wire[second:])
            assert b"".join(bodies) == b"abcde"
            assert decoder.chunks().size_bytes == (3, 2)
            assert decoder.trailers == (("X-Sum", "1"),)
            assert decoder.informational_count == 1
            assert decoder.notes == ["2 bytes after the last chunk"]


def test_a_chunk_lasts_from_its_size_to_its_last_byte() -> None:
    decoder, bodies = decoded(CHUNKED, b"3", b"\r\nab", b"c", b"\r", b"\n0\r\n\r\n")
    assert bodies == [b"", b"", b"ab", b"c", b"", b""]
    chunks = decoder.chunks()
    assert (chunks.size_bytes, chunks.first_read, chunks.last_read) == ((3,), (1,), (3,))
    assert decoder.complete


def test_the_head_belongs_to_the_read_that_completed_it() -> None:
    decoder, _ = decoded(b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 20", b"0 OK\r\nA: b\r\n", b"\r\n")
    assert decoder.head is not None
    assert (decoder.head.read_index, decoder.head.header("a")) == (2, "b")


@pytest.mark.parametrize(
    ("fields", "method", "framing", "complete"),
    [
        (b"200 OK\r\nContent-Length: 3", "GET", Framing.LENGTH, True),
        (b"200 OK\r\nContent-Length: 3, 3", "GET", Framing.LENGTH, True),
        (b"200 OK\r\nContent-Length: 18446744073709551615", "GET", Framing.LENGTH, False),
        (b"200 OK", "GET", Framing.UNTIL_CLOSE, False),
        (b"204 No Content", "GET", Framing.NONE, True),
        (b"304 Not Modified\r\nContent-Length: 3", "GET", Framing.NONE, True),
        (b"200 OK\r\nTransfer-Encoding: chunked", "HEAD", Framing.NONE, True),
    ],
)
def test_the_framing_is_the_heads(
    fields: bytes, method: str, framing: Framing, *, complete: bool
) -> None:
    decoder, _ = decoded(b"HTTP/1.1 " + fields + b"\r\n\r\nabc", method=method)
    assert (decoder.framing, decoder.complete, decoder.broken) == (framing, complete, False)


@pytest.mark.parametrize(
    ("wire", "note"),
    [
        (b"ICY 200 OK\r\n\r\n", "not an HTTP/1 status line: 'ICY 200 OK'"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "not an HTTP/1 status line: 'HTTP/1.1 2000 OK'"),
        (b"\0\0\x0c\4\0\0", "not an HTTP/1 status line: '\\x00\\x00\\x0c\\x04\\x00\\x00'"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", "the response head never ended"),
        (b"HTTP/1.1 200 OK\r\nbad\r\n\r\n", "a header line without a name and a colon: 'bad'"),
        (CHUNKED + b"3\r\nabcd\r\n", "a chunk that does not end where its size says: 'd'"),
        (CHUNKED + b"3\r\nabcdefgh\r\n", "a chunk that does not end where its size says: 'd'"),
        (CHUNKED + b"3\r\nabc\r\r\n", "a chunk that does not end where its size says: '\\r\\r'"),
        (CHUNKED + b"\r\n", "broken chunk size: ''"),
        (CHUNKED + b"9" * 17 + b"\r\n", "broken chunk size: '99999999999999999'"),
        (CHUNKED + b"1;" + b"x" * MAX_LINE_BYTES, "a chunk size or trailer line without an end"),
        (
            b"HTTP/1.1 200 OK\r\nA: " + b"x" * MAX_HEAD_BYTES,
            f"a response head of more than {MAX_HEAD_BYTES} bytes",
        ),
    ],
)
def test_a_defect_is_named_however_it_is_cut(wire: bytes, note: str) -> None:
    size = 1 if len(wire) < 1000 else 1000
    for pieces in ([wire], [wire[at : at + size] for at in range(0, len(wire), size)]):
        decoder, _ = decoded(*pieces)
        assert decoder.notes == [note]


def test_nothing_after_a_broken_size_is_taken_for_body() -> None:
    decoder, bodies = decoded(CHUNKED + b"1\r\na\r\n-5\r\nbcdef\r\n", b"1\r\na\r\n")
    assert bodies == [b"a", b""]
    assert decoder.broken
