"""What the kernel counted on a TCP connection: the three figures that make an arrival provable."""

import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

# Offsets in struct tcp_info (linux/tcp.h). The struct only ever grows at its end, so that an older
# kernel answers with fewer bytes; tcpi_rcv_ooopack came last of these (Linux 5.4).
_BYTES_RECEIVED = struct.Struct("=128xQ")
_DATA_SEGMENTS = struct.Struct("=152xI")
_OUT_OF_ORDER = struct.Struct("=224xI")
_NEEDED_BYTES = 228
_CLOSE_WAIT = 8


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the connection began.

    ``received_bytes`` are those in sequence, read or not. ``segment_count`` are received segments
    that carried data, ``out_of_order_count`` those that overtook a missing one.
    """

    received_bytes: int
    segment_count: int
    out_of_order_count: int


def counting(connection: socket.socket) -> Callable[[], bytes]:
    """A call that returns the kernel's ``struct tcp_info`` of ``connection`` as it stands.

    It returns ``b""`` where there is none: off Linux, and for sockets that are not TCP.
    The call runs no Python code and keeps the interpreter lock (CPython's getsockopt does).
    """
    if sys.platform != "linux" or connection.family == socket.AF_UNIX:
        return bytes
    getsockopt: Callable[[int, int, int], bytes] = connection.getsockopt
    return partial(getsockopt, socket.IPPROTO_TCP, socket.TCP_INFO, _NEEDED_BYTES)


def counters(raw: bytes) -> Counters | None:
    """Read what ``counting`` returned; None when the kernel does not know all three figures."""
    if len(raw) < _NEEDED_BYTES:
        return None
    (received,) = _BYTES_RECEIVED.unpack_from(raw)
    # A FIN takes a sequence number and is counted as a byte (measured: Linux 6.18).
    received -= raw[0] == _CLOSE_WAIT
    (segments,) = _DATA_SEGMENTS.unpack_from(raw)
    (out_of_order,) = _OUT_OF_ORDER.unpack_from(raw)
    return Counters(received, segments, out_of_order)
