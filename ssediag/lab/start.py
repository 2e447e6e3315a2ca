"""Starts lab parts from another process, and stops exactly what it started.

Each function is a context manager: the part serves inside it and is gone after it.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO
from urllib.parse import urlsplit

from ssediag.lab.proxies import INSTALL, find_program

_START_SECONDS = 15.0  # more than a real proxy is given, so that its own words are heard
_STOP_SECONDS = 2.0
_LAST_WORDS_BYTES = 2000


class LabError(Exception):
    """A lab part did not start; the text ends with its last words."""


class ProgramMissing(LabError):  # noqa: N818 # a fact about the machine; its callers skip or advise
    """A real proxy's program is not installed."""

    def __init__(self, product: str, how_to_install: str) -> None:
        super().__init__(f"{product} is not installed: {how_to_install}")
        self.product = product
        self.how_to_install = how_to_install


@dataclass(frozen=True, slots=True)
class Part:
    """A running part. ``pid`` is the process that serves, for a real proxy the proxy's own."""

    name: str
    url: str
    port: int
    pid: int


@contextlib.contextmanager
def instance(**options: object) -> Iterator[Part]:
    """Run a token instance; the options are those of its command line, ``gap_ms=5``.

    Raises LabError.
    """
    with _running("ssediag.lab.instance", options) as part:
        yield part


@contextlib.contextmanager
def hop(to_url: str, fault: str, **options: object) -> Iterator[Part]:
    """Run a hop with one fault in front of ``to_url``; options as on its command line.

    Raises LabError.
    """
    with _running("ssediag.lab.hop", {"to": to_url, "fault": fault, **options}) as part:
        yield part


@contextlib.contextmanager
def proxy(product: str, label: str, to_url: str, source: str = "any") -> Iterator[Part]:
    """Run a real proxy with the configuration ``label`` in front of ``to_url``.

    ``source`` chooses among several installed programs: ``system``, ``wheel`` or ``any``. Raises
    ProgramMissing, LabError.
    """
    if find_program(product, source) is None:
        raise ProgramMissing(product, INSTALL.get(product, "no known way"))
    options: dict[str, object] = {"product": product, "label": label}
    options |= {"to": to_url, "source": source}
    with _running("ssediag.lab.proxies", options) as part:
        yield part


@contextlib.contextmanager
def _running(module: str, options: dict[str, object]) -> Iterator[Part]:
    command = [sys.executable, "-m", module, *_arguments(options)]
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words
        ) as process,
    ):
        try:
            line = _first_line(process)
            if line is None:
                _stop(process)
                raise LabError(f"{module} did not start: {_last_words(words)}")
            yield _part(line, process.pid)
        finally:
            _stop(process)


def _arguments(options: dict[str, object]) -> list[str]:
    given = {name: value for name, value in options.items() if value is not None}
    return [
        f"--{name.replace('_', '-')}={int(value) if isinstance(value, bool) else value}"
        for name, value in given.items()
    ]


def _first_line(process: subprocess.Popen[bytes]) -> bytes | None:
    """Read the line that says where the part listens; None if it does not come in time."""
    if process.stdout is None:
        return None
    until = time.monotonic() + _START_SECONDS
    number = process.stdout.fileno()
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([number], [], [], max(0.0, until - time.monotonic()))
        data = os.read(number, 4096) if ready else b""
        if not data:
            return None
        line += data
    return line


def _part(line: bytes, pid: int) -> Part:
    told = json.loads(line)
    return Part(told["name"], told["url"], urlsplit(told["url"]).port or 0, told.get("pid", pid))


def _last_words(words: IO[bytes]) -> str:
    words.seek(0)
    return words.read()[-_LAST_WORDS_BYTES:].decode("utf-8", "replace").strip()


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
