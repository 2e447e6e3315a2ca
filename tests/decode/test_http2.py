"""HTTP/2 frames: cut everywhere, padded, reset, refused; what the peer may not do is noted."""

import hpack
import pytest

from ssediag.decode.http2 import MAX_HEAD_BYTES, Http2Decoder
from ssediag.model.recording import Closing
from ssediag.model.stream import Ending
from tests.decode.recordings import HEADERS, SETTINGS, frame, taken


def decoded(*pieces: bytes) -> tuple[Http2Decoder, list[bytes]]:
    decoder = Http2Decoder()
    bodies = [decoder.feed(index, piece) for index, piece in enumerate(pieces)]
    decoder.finish()
    return decoder, bodies


def test_every_cut_in_three_gives_the_same_body_and_frames() -> None:
    encoder = hpack.Encoder()  # its table makes the order of these three matter
    early = encoder.encode([(":status", "103"), ("x-c", "d")])
    block = encoder.encode([(":status", "200"), ("x-a", "b")])
    trailer = encoder.encode([("x-c", "d")])
    wire = (
        SETTINGS
        + frame(1, 0x4, 1, early)
        + frame(1, 0x8, 1, b"\2" + block[:2] + b"\0\0")
        + frame(9, 0x4, 1, block[2:])
        + frame(0, 0x8, 1, b"\3abc\0\0\0")
        + frame(0, 0, 3, b"other")
        + frame(6, 0, 0, b"12345678")
        + frame(0, 0, 1, b"de")
        + frame(1, 0x5, 1, trailer)
    )
    for first in range(len(wire) + 1):
        for second in range(first, len(wire) + 1, 3):
            decoder, bodies = decoded(wire[:first], wire[first:second], wire[second:])
            assert b"".join(bodies) == b"abcde"
            assert decoder.chunks().size_bytes == (3, 2)
            assert decoder.head is not None
            assert decoder.head.headers == (("x-a", "b"),)
            assert decoder.trailers == (("x-c", "d"),)
            assert (decoder.complete, decoder.informational_count) == (True, 1)
            assert decoder.notes == []


def test_the_beginning_of_a_frame_does_not_wait_for_its_end() -> None:
    wire = frame(0, 0, 1, b"data: a\n\ndata: b\n\n")
    stream = taken(SETTINGS + HEADERS, wire[:18], wire[18:25], wire[25:], protocol="h2")
    assert stream.reads.body_bytes == (0, 9, 7, 2)
    assert stream.events.dispatch_read == (1, 3)
    assert (stream.chunks.first_read, stream.chunks.last_read) == ((1,), (3,))


def test_headers_of_a_pushed_stream_keep_the_table_right() -> None:
    encoder = hpack.Encoder()
    promised = frame(5, 0x4, 1, b"\0\0\0\2" + encoder.encode([("x-long-name", "x-long-value")]))
    block = encoder.encode([(":status", "200"), ("x-long-name", "x-long-value")])
    decoder, _ = decoded(SETTINGS + promised + frame(1, 0x5, 1, block))
    assert decoder.head is not None
    assert decoder.head.headers == (("x-long-name", "x-long-value"),)


@pytest.mark.parametrize(
    ("frames", "note"),
    [
        (HEADERS + frame(0, 0x8, 1, b"\x09abc"), "padding longer than its frame"),
        (HEADERS + frame(0, 0x8, 1, b""), "padding longer than its frame"),
        (frame(1, 0xC, 1, b"\x09\x88"), "padding longer than its frame"),
        (frame(1, 0x4, 1, b"\xff\xff\xff"), "response headers that HPACK cannot decode"),
        (frame(1, 0x4, 1, b""), "response headers without a :status"),
        (frame(9, 0x4, 1, b"\x88"), "CONTINUATION without a header block"),
        (frame(1, 0, 1, b"\x88") + frame(6, 0, 0, b"12345678"), "another frame interrupts"),
        (frame(0, 0, 1, b"abc"), "DATA before the response headers"),
        (HEADERS + frame(0, 1, 1, b"a") + frame(0, 0, 1, b"b"), "DATA after END_STREAM"),
        (HEADERS + frame(3, 0, 1, b"\0\0\0\x08"), "RST_STREAM CANCEL (8)"),
        (HEADERS + frame(3, 0, 1, b"\0\0\0\x63"), "RST_STREAM unknown error (99)"),
        (frame(7, 0, 0, b"\0\0\0\1\0\0\0\x0bcalm\x1b[0m"), "ENHANCE_YOUR_CALM (11): calm?[0m"),
        (HEADERS + frame(0, 0, 1, b"abc")[:-1], "the connection ended inside a frame"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not HTTP/2: the answer begins 'HTTP/1.1 '"),
    ],
)
def test_a_defect_is_named_however_it_is_cut(frames: bytes, note: str) -> None:
    wire = frames if frames.startswith(b"HTTP") else SETTINGS + frames
    for pieces in ([wire], [wire[at : at + 1] for at in range(len(wire))]):
        decoder, _ = decoded(*pieces)
        assert len(decoder.notes) == 1
        assert note in decoder.notes[0]


def test_headers_without_an_end_are_not_kept() -> None:
    decoder, _ = decoded(SETTINGS, frame(1, 0, 1, b""), *[frame(9, 0, 1, b"x" * 16384)] * 40)
    assert decoder.notes == [f"response headers of more than {MAX_HEAD_BYTES} bytes"]
    assert decoder.broken


@pytest.mark.parametrize(
    ("last", "closing", "ending"),
    [
        (frame(0, 0x1, 1, b""), Closing.FINISHED, Ending.COMPLETE),
        (frame(0, 0x1, 1, b"") + frame(3, 0, 1, bytes(4)), Closing.FINISHED, Ending.COMPLETE),
        (frame(3, 0, 1, b"\0\0\0\2"), Closing.FINISHED, Ending.RESET),
        (b"", Closing.RESET, Ending.RESET),
        (b"", Closing.FIN, Ending.NO_LAST_CHUNK),
        (b"", Closing.TIMED_OUT, Ending.TIMED_OUT),
        (b"", Closing.STOPPED, Ending.STOPPED),
    ],
)
def test_the_ending_is_the_streams_own_or_the_connections(
    last: bytes, closing: Closing, ending: Ending
) -> None:
    wire = SETTINGS + HEADERS + frame(0, 0, 1, b"data: a\n\n") + last
    assert taken(wire, closing=closing, protocol="h2").ending is ending
