"""The thread that owns a probed connection's receiving side and dates what comes."""

import os
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from operator import call
from typing import Any, Self

from ssediag.capture import clock, tcp_info
from ssediag.capture.dating import Dater, Receipt
from ssediag.capture.heartbeat import Heartbeat
from ssediag.model.recording import Closing, Read

_RECEIVE_BYTES = 64 * 1024
# How long a receive call may last before the thread looks whether it is still wanted. shutdown()
# wakes it at once; this is for a socket that is too broken to be shut down.
_RECEIVE_TIMEOUT = struct.pack("@ll", 1, 0)


@dataclass(frozen=True, slots=True)
class WireEnd:
    """How the receiving came to its end, when (wall-clock), and in which words."""

    closing: Closing
    at_ns: int
    reason: str


class Reader:
    """Receives from ``connection`` until it ends, dating every read, in a thread of its own.

    ``queue`` brings each ``Read`` (wall-clock times) and, last, one ``WireEnd``: FIN, RESET, or
    STOPPED after ``max_bytes`` or ``close``. The socket must be a blocking one WITHOUT a Python
    timeout: with one, CPython polls before it receives, and the thread no longer sleeps in the
    call that returns the bytes.
    """

    def __init__(self, connection: socket.socket, *, kernel_dated: bool, max_bytes: int) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _RECEIVE_TIMEOUT)
        self.queue: queue.SimpleQueue[Read | WireEnd] = queue.SimpleQueue()
        self._connection = connection
        self._kernel_dated = kernel_dated
        self._max_bytes = max_bytes
        self._wanted = True
        self._thread = threading.Thread(target=self._run, name="ssediag-reader", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wake the thread, wait for its end, and close the socket. May be called again."""
        self._wanted = False
        # Not connected any more? Then the thread has seen that too, or will within its timeout.
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        end = WireEnd(Closing.STOPPED, time.time_ns(), "the reader stopped")
        try:
            end = self._receive_all()
        except OSError as error:
            end = WireEnd(Closing.RESET, time.time_ns(), error.strerror or str(error))
        finally:
            self.queue.put(end)

    def _receive_all(self) -> WireEnd:
        count = tcp_info.counting(self._connection)
        receive = partial(self._connection.recvmsg, _RECEIVE_BYTES, clock.ANCILLARY_BYTES)
        # Counting and receiving in one go, without a bytecode between: there the thread could
        # lose the interpreter lock, and a queue that was counted as empty could fill before the
        # call that is to sleep on it.
        steps: tuple[Callable[[], Any], ...] = (count, receive)
        dater = Dater(time.time_ns())
        received_bytes = 0
        with _OwnDelay() as delay:
            while self._wanted and received_bytes < self._max_bytes:
                try:
                    before, message = tuple(map(call, steps))
                except BlockingIOError:
                    continue
                returned_ns = time.time_ns()
                data, ancillary = message[:2]
                if not data:
                    break
                received_bytes += len(data)
                receipt = Receipt(
                    data=data,
                    full=len(data) == _RECEIVE_BYTES,
                    returned_ns=returned_ns,
                    stamp_ns=clock.kernel_stamp_ns(ancillary),
                    before=tcp_info.counters(before),
                    after=tcp_info.counters(count()),
                    wait_ns=delay.wait_ns(),
                    lag_ns=delay.lag_ns(),
                    stopped_ns=delay.stopped_ns(),
                )
                self.queue.put(dater.date(receipt))
        return self._end(received_bytes)

    def _end(self, received_bytes: int) -> WireEnd:
        if received_bytes >= self._max_bytes:
            reason = f"the limit of {self._max_bytes:,} bytes was reached"
            return WireEnd(Closing.STOPPED, time.time_ns(), reason)
        if not self._wanted:
            return WireEnd(Closing.STOPPED, time.time_ns(), "the reader was closed")
        return WireEnd(Closing.FIN, time.time_ns(), "the peer closed")


class _OwnDelay:
    """What this thread lost: to others, waiting for a processor, and to anything at all.

    A context of the reading thread. The wait is None where it cannot be had.
    """

    def __init__(self) -> None:
        self._heartbeat = Heartbeat()
        self._run_queue: int | None = None
        self._waited_ns: int | None = None
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        self._run_queue = clock.open_run_queue()
        if self._run_queue is not None:
            self._cleanup.callback(os.close, self._run_queue)
            self._waited_ns = clock.run_queue_wait_ns(self._run_queue)
        self._cleanup.enter_context(self._heartbeat)
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    def wait_ns(self) -> int | None:
        """How long the thread waited for a processor since it was last asked."""
        if self._run_queue is None:
            return None
        before_ns = self._waited_ns
        self._waited_ns = clock.run_queue_wait_ns(self._run_queue)
        if before_ns is None or self._waited_ns is None:
            return None
        return self._waited_ns - before_ns

    def lag_ns(self) -> int:
        """How late this process ran lately."""
        return self._heartbeat.lag_ns()

    def stopped_ns(self) -> int:
        """How long this process was stopped lately."""
        return self._heartbeat.stopped_ns()
