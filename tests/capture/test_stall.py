"""The interval of a read holds the time of every send in it, however late this process runs."""

import itertools
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ssediag.model.recording import Quality, Read, Recording

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux dates what is received")

# A process of its own: a thread would be held up by the same interpreter lock as the probe. The
# time after a send is told by the next event, so that a server held up in between is seen, too.
SERVER = """
import socket, sys, time
count, pause = int(sys.argv[1]), float(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
connection.recv(65536)
connection.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
after = 0
for _ in range(count):
    time.sleep(pause)
    before = time.time_ns()
    connection.sendall(b"data: %d %d\\n\\n" % (after, before))
    after = time.time_ns()
connection.sendall(b"data: %d 0\\n\\n" % after)
"""
EVENT = re.compile(rb"data: (\d+) (\d+)\n\n")
# From the return of send() in the server until the kernel has dated the segment, at most.
DELIVERY_NS = 1_000_000


@contextmanager
def paced_server(count: int, pause_seconds: float) -> Iterator[str]:
    command = [sys.executable, "-c", SERVER, str(count), str(pause_seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/"


@contextmanager
def hogged_interpreter() -> Iterator[None]:
    over = threading.Event()

    def hog() -> None:
        while not over.is_set():
            sum(range(20_000))

    thread = threading.Thread(target=hog)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def sends(recording: Recording) -> list[tuple[Read, int, int]]:
    """For each event: the read that brought it, and the times before and after its send."""
    seen = [
        (read, int(after), int(before))
        for read in recording.reads
        for after, before in EVENT.findall(read.data)
    ]
    zero_ns = recording.began_epoch_ns
    return [
        (read, before - zero_ns, after - zero_ns)
        for (read, _, before), (_, after, _) in itertools.pairwise(seen)
    ]


@pytest.mark.serial
@pytest.mark.parametrize(("count", "pause_seconds"), [(40, 0.02), (400, 0.001)])
def test_no_send_lies_outside_the_interval_of_its_read(
    probe: Callable[..., Recording], count: int, pause_seconds: float
) -> None:
    with paced_server(count, pause_seconds) as url, hogged_interpreter():
        recording = probe(url)
    found = sends(recording)
    assert len(found) == count
    outside = [
        (read.earliest_ns, before, after, read.latest_ns)
        for read, before, after in found
        if not (read.earliest_ns - DELIVERY_NS <= after and before <= read.latest_ns)
    ]
    assert outside == []


@pytest.mark.serial
def test_a_read_that_is_dated_exactly_holds_one_send(probe: Callable[..., Recording]) -> None:
    with paced_server(300, 0.001) as url, hogged_interpreter():
        recording = probe(url)
    exact = [read for read in recording.reads if read.quality is Quality.EXACT]
    assert {len(EVENT.findall(read.data)) for read in exact} <= {0, 1}
    assert max(len(EVENT.findall(read.data)) for read in recording.reads) > 1
