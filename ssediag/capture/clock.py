"""The kernel's receive clock: switching it on, reading it, and measuring what it is worth here."""

import os
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ssediag.capture import tcp_info

# Not in Python's socket module before 3.14: asm-generic/socket.h.
_SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("@qq")
ANCILLARY_BYTES = 128
_NS_PER_SECOND = 1_000_000_000
_STARTING_NS = 50_000_000
_FLOOR_SAMPLES = 64
_RUN_QUEUE_PATH = "/proc/thread-self/schedstat"


def enable_kernel_stamps(connection: socket.socket) -> bool:
    """Ask the kernel to date what this socket receives; False where it cannot."""
    if sys.platform != "linux" or connection.family == socket.AF_UNIX:
        return False
    try:
        connection.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def kernel_stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """The wall-clock time in the control messages of a ``recvmsg``, or None.

    It is the time of the LAST segment that the call returned bytes of (Linux 98aaa913b4ed).
    """
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) and len(data) >= _STAMP.size:
            seconds, nanoseconds = _STAMP.unpack_from(data)
            return int(seconds * _NS_PER_SECOND + nanoseconds)
    return None


def open_run_queue() -> int | None:
    """A descriptor for ``run_queue_wait_ns`` of the calling thread; None where it cannot be read.

    The caller closes it.
    """
    try:
        return os.open(_RUN_QUEUE_PATH, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def run_queue_wait_ns(descriptor: int) -> int | None:
    """How long the thread has waited for a processor since it began (second field of schedstat)."""
    fields = os.pread(descriptor, 96, 0).split()
    return int(fields[1]) if len(fields) > 1 else None


def run_queue_readable() -> bool:
    """Whether this machine tells a thread how long it had to wait for a processor."""
    descriptor = open_run_queue()
    if descriptor is None:
        return False
    try:
        return run_queue_wait_ns(descriptor) is not None
    finally:
        os.close(descriptor)


def tcp_info_works() -> bool:
    """Whether the kernel tells bytes, segments and reordering of a connection."""
    try:
        with _loopback() as (sender, receiver):
            sender.send(b".")
            receiver.recv(1)
            counted = tcp_info.counters(tcp_info.counting(receiver)())
    except OSError:
        return False
    return counted is not None and counted.received_bytes == 1


def kernel_stamps_work() -> bool:
    """Whether bytes sent over loopback come with a kernel time.

    A kernel that dated nothing before starts to do so within milliseconds of the first request
    for it (measured: 3.6 ms, Linux 6.18), so this waits for up to 50 ms. A socket that asked for
    stamps and stays open keeps them on.
    """
    give_up_ns = time.monotonic_ns() + _STARTING_NS
    try:
        with _loopback() as (sender, receiver):
            while time.monotonic_ns() < give_up_ns:
                if _stamp_error_ns(sender, receiver) is not None:
                    return True
    except OSError:
        return False
    return False


def clock_floor_ns() -> int | None:
    """Ninth decile of (kernel stamp - time just before the send) over 64 bytes on loopback.

    None where the kernel dates nothing. The way through the loopback device is included.
    """
    if not kernel_stamps_work():
        return None
    with _loopback() as (sender, receiver):
        errors = [_stamp_error_ns(sender, receiver) for _ in range(_FLOOR_SAMPLES)]
    known = sorted(error for error in errors if error is not None)
    return known[len(known) * 9 // 10] if known else None


def _stamp_error_ns(sender: socket.socket, receiver: socket.socket) -> int | None:
    sent_ns = time.time_ns()
    sender.send(b".")
    _, ancillary, _, _ = receiver.recvmsg(1, ANCILLARY_BYTES)
    stamp_ns = kernel_stamp_ns(ancillary)
    return None if stamp_ns is None else stamp_ns - sent_ns


@contextmanager
def _loopback() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connected pair over TCP on loopback: who sends, and who receives with stamps on."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as receiver:
        enable_kernel_stamps(receiver)
        receiver.connect(listener.getsockname())
        sender, _ = listener.accept()
        with sender:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield sender, receiver
