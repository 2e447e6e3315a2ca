"""Own processes: run one in a context, hear what it says, end exactly that one."""

import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_STOP_SECONDS = 2.0
_LAST_WORDS_BYTES = 600
_TCP_LISTEN = "0A"  # proc(5), /proc/net/tcp
_LOOPBACK = "0100007F"


@contextmanager
def running(
    command: list[str], errors: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program while the context lasts; ``errors`` takes what it prints on stderr.

    Its stdin and stdout are pipes. At the end it gets SIGTERM, and SIGKILL after two seconds.
    Raises OSError when it cannot be started.
    """
    with errors.open("wb") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env={**os.environ, **environment},
        )
    with process:  # closes the pipes, after the process has ended
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def first_line(stdout: IO[bytes] | None, deadline: float) -> bytes | None:
    """Read a process's first line; None when it ended before, or ``deadline`` passed.

    ``deadline`` is in seconds of ``time.monotonic``.
    """
    line = b""
    while stdout is not None and not line.endswith(b"\n"):
        ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
        data = os.read(stdout.fileno(), 4096) if ready else b""
        if not data:
            return None
        line += data
    return line


def last_words(errors: Path) -> str:
    """Give the end of what a program printed, on one line."""
    data = errors.read_bytes()[-_LAST_WORDS_BYTES:]
    return " ".join(data.decode("utf-8", "replace").split()) or "it said nothing"


def listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether this very process listens on the loopback port, by Linux's /proc.

    Another process that was given the port in the meantime does not count.
    """
    wanted = f"{_LOOPBACK}:{port:04X}"
    rows = (line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines())
    sockets = {f"socket:[{row[9]}]" for row in rows if row[1] == wanted and row[3] == _TCP_LISTEN}
    return bool(sockets) and not sockets.isdisjoint(_open_files(process.pid))


def _open_files(pid: int) -> set[str]:
    found = set()
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            found.add(str(link.readlink()))
        except FileNotFoundError:  # closed since it was listed
            continue
    return found
