"""Runs one real proxy in a folder of its own, and takes both away when told to stop.

``python -m ssediag.lab.proxies --product nginx --label default --to http://127.0.0.1:8000``. It
stands between a test and the proxy, so that the proxy ends even when the test is killed.
"""

import argparse
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ssediag.lab.proxies import INSTALL, PRODUCTS, Source, find_program
from ssediag.lab.proxies.run_folder import Command, fill, labels

_HOST = "127.0.0.1"
_START_SECONDS = 10.0
_STOP_SECONDS = 1.0  # Caddy and Traefik would wait for their open connections
_LOOK_SECONDS = 0.01
_ANSWERS_404_AT_FIRST = {"traefik"}  # measured: Traefik 3.7, for a moment after its port opens
_WARM_UP = b"HEAD /lab-warm-up HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def main() -> None:
    """Run one proxy until told to stop; exits 1, with the reason on stderr, if it cannot."""
    parser = argparse.ArgumentParser(prog="python -m ssediag.lab.proxies", description=__doc__)
    parser.add_argument("--product", choices=PRODUCTS, required=True)
    parser.add_argument("--label", default="default")
    parser.add_argument("--to", required=True, metavar="URL", help="http://127.0.0.1:PORT")
    parser.add_argument("--source", choices=list(Source), default=Source.ANY)
    given = parser.parse_args()
    to = urlsplit(given.to)
    if (to.scheme, to.hostname) != ("http", _HOST) or to.port is None:
        parser.error(f"--to {given.to}: not http://{_HOST}:PORT")
    if given.label not in labels(given.product):
        parser.error(f"--label {given.label}: {given.product} has {labels(given.product)}")
    program = find_program(given.product, given.source)
    if program is None:
        sys.exit(f"{given.product} is not installed: {INSTALL[given.product]}")
    stop = _StopSigns()
    with tempfile.TemporaryDirectory(prefix="ssediag-lab-") as name, _reserved_port() as port:
        command = fill(
            Path(name),
            program,
            given.product,
            given.label,
            listen_port=port,
            upstream_port=to.port,
        )
        _run(given.product, command, port, stop)


class _StopSigns:
    """SIGTERM, SIGINT and the end of stdin, as one thing to look at.

    No handler raises, so that a signal never comes between starting a process and noting it.
    """

    def __init__(self) -> None:
        self._signals, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        self._watched = [self._signals]
        if not sys.stdin.isatty():
            self._watched.append(sys.stdin.fileno())

    def seen(self, seconds: float) -> bool:
        """Wait up to that long; give whether one of them came."""
        ready, _, _ = select.select(self._watched, [], [], seconds)
        return self._signals in ready or any(not os.read(number, 4096) for number in ready)


@contextlib.contextmanager
def _reserved_port() -> Iterator[int]:
    """Give a free port that the system hands to nobody else meanwhile.

    The socket is bound and does not listen. Linux then lets a server bind the same port if both
    set SO_REUSEADDR, as every proxy here does, but never picks the port for anyone who asks for 0.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((_HOST, 0))
        yield holder.getsockname()[1]


def _run(product: str, command: Command, port: int, stop: _StopSigns) -> None:
    process = subprocess.Popen(
        command.arguments,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        env={**os.environ, **command.environment},
    )
    try:
        if _is_ready(product, process, port, stop):
            url = f"{command.scheme}://{_HOST}:{port}"
            print(json.dumps({"name": product, "url": url, "pid": process.pid}), flush=True)
            while not stop.seen(0.5):
                if process.poll() is not None:
                    sys.exit(f"{product} ended by itself: {process.returncode}")
    finally:
        _end(process)


def _is_ready(product: str, process: subprocess.Popen[bytes], port: int, stop: _StopSigns) -> bool:
    """Wait until the proxy serves; False when told to stop before. Exits when it cannot."""
    until = time.monotonic() + _START_SECONDS
    while not _serves(product, port):
        if stop.seen(_LOOK_SECONDS):
            return False
        if process.poll() is not None:
            sys.exit(f"{product} did not start: it ended with {process.returncode}")
        if time.monotonic() > until:
            sys.exit(f"{product} did not start: port {port} is still closed or answers 404")
    return True


def _serves(product: str, port: int) -> bool:
    try:
        with socket.create_connection((_HOST, port), 1.0) as connection:
            if product not in _ANSWERS_404_AT_FIRST:
                return True
            connection.sendall(_WARM_UP)
            return b" 404 " not in connection.recv(4096).partition(b"\r\n")[0]
    except TimeoutError:
        return True  # an upstream that keeps silent: the request went through
    except OSError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
