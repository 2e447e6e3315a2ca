"""What every lab part does around its own work: listen, say where, serve until told to stop."""

import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType

HOST = "127.0.0.1"

Handle = Callable[[socket.socket], None]
"""Serves one connection; the socket is closed afterwards."""


def serve(name: str, handle: Handle, port: int) -> None:
    """Serve every connection in a thread of its own until told to stop.

    Prints one JSON line ``{"name": …, "url": …}``, then waits for SIGTERM, SIGINT or the end of
    stdin: a parent that dies closes the pipe. A terminal's stdin is not read. Port 0 lets the
    system choose; raises OSError when the port is taken.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    with socket.create_server((HOST, port), backlog=256) as listener:
        threading.Thread(target=_accept, args=(listener, handle), daemon=True).start()
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        print(json.dumps({"name": name, "url": url}), flush=True)
        _wait_for_the_end()


def _stop(_number: int, _frame: FrameType | None) -> None:
    # At once: threads that are in the middle of a stream have nothing to put away.
    os._exit(0)


def _wait_for_the_end() -> None:
    if sys.stdin is None or sys.stdin.isatty():
        while True:
            signal.pause()
    while os.read(sys.stdin.fileno(), 4096):
        continue
    os._exit(0)


def _accept(listener: socket.socket, handle: Handle) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve_one, args=(connection, handle), daemon=True).start()


def _serve_one(connection: socket.socket, handle: Handle) -> None:
    with connection, contextlib.suppress(OSError):  # a peer may go away at any time
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handle(connection)
