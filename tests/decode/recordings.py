"""Recordings made of literal bytes, and what they unwrap to: for the tests of this folder."""

from typing import Any

from ssediag.decode.unwrap import unwrap
from ssediag.model.recording import (
    Clock,
    Closing,
    Hop,
    Phases,
    Quality,
    Read,
    Recording,
    SentRequest,
)
from ssediag.model.stream import Stream

MS = 1_000_000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def recording(
    pieces: list[bytes],
    closing: Closing = Closing.FINISHED,
    protocol: str = "http/1.1",
    method: str = "GET",
) -> Recording:
    reads = tuple(
        Read(number * MS, number * MS, Quality.EXACT, piece, 1)
        for number, piece in enumerate(pieces, 1)
    )
    return Recording(
        Hop("hop", "http://hop/", 0), 1, None, protocol, SentRequest(method, "http://hop/"),
        Phases(closed_ns=99 * MS), reads, closing, Clock.KERNEL, 0,
    )  # fmt: skip


def taken(
    *pieces: bytes,
    closing: Closing = Closing.FINISHED,
    protocol: str = "http/1.1",
    method: str = "GET",
    **options: Any,
) -> Stream:
    return unwrap(recording(list(pieces), closing, protocol, method), **options)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
    )


SETTINGS = frame(4, 0, 0, b"")
# Indexed :status 200, then content-type as a literal (RFC 7541 C.2.1).
HEADERS = frame(1, 0x4, 1, b"\x88\x0f\x10\x11text/event-stream")
