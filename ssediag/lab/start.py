"""Start lab parts, each as its own process, and stop exactly those again."""

import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ssediag.lab.processes import first_line, last_words, listens, running
from ssediag.lab.proxies import INSTALL, find_program
from ssediag.lab.proxies.run_folder import fill, labels

_HOST = "127.0.0.1"
_READY_SECONDS = 10.0
_POLL_SECONDS = 0.005
_TRIES = 3
_PORT_TAKEN = "in use"  # in the words of every proxy here: EADDRINUSE


class LabError(Exception):
    """A lab part could not be started; the text has the program's last words."""


class ProgramMissing(LabError):  # noqa: N818 # it says what happened: nothing went wrong
    """A program is not installed."""

    def __init__(self, product: str, how: str) -> None:
        super().__init__(f"{product} is not installed: {how}")
        self.product = product
        self.how = how


class PortTakenError(LabError):
    """Another process took the port between its choice and its use."""


@dataclass(frozen=True, slots=True)
class Part:
    """A running lab part: its name, its address, and its process."""

    name: str
    url: str
    port: int
    pid: int


@contextmanager
def instance(**options: object) -> Iterator[Part]:
    """Run a token instance; options by their names in ``ssediag.lab.settings``, and ``log``.

    Raises LabError.
    """
    with _module("instance", options) as part:
        yield part


@contextmanager
def hop(to_url: str, fault: str, **options: object) -> Iterator[Part]:
    """Run a hop in front of ``to_url``; options by their names on its command line.

    Raises LabError.
    """
    with _module("hop", {"to": to_url, "fault": fault, **options}) as part:
        yield part


@contextmanager
def proxy(product: str, label: str, to_url: str, source: str = "any") -> Iterator[Part]:
    """Run a real proxy with one of its configurations in front of ``to_url``, on loopback.

    ``source`` says where its program comes from: ``any``, ``system`` or ``wheel``. A label with
    TLS gives an https address with a certificate that nobody signed. Raises LabError, and
    ProgramMissing where it or (for TLS) openssl is not installed.
    """
    if label not in labels(product):
        known = ", ".join(labels(product)) or "no configuration at all"
        raise LabError(f"{product} has no configuration {label!r}, but {known}")
    program = find_program(product, source)
    if program is None:
        raise ProgramMissing(product, INSTALL[product])
    with ExitStack() as stack:
        yield _with_any_port(stack, program, product, label, to_url)


@contextmanager
def _module(name: str, options: dict[str, object]) -> Iterator[Part]:
    command = [sys.executable, "-m", f"ssediag.lab.{name}", *_arguments(options)]
    with ExitStack() as stack:
        errors = _folder(stack) / "errors"
        process = stack.enter_context(running(command, errors, {}))
        line = first_line(process.stdout, time.monotonic() + _READY_SECONDS)
        if line is None:
            raise LabError(f"the lab's {name} did not start: {last_words(errors)}")
        said = json.loads(line)
        port = urlsplit(said["url"]).port or 0
        yield Part(name=said["name"], url=said["url"], port=port, pid=process.pid)


def _arguments(options: dict[str, object]) -> Iterator[str]:
    for name, value in options.items():
        if value is not None:
            text = str(int(value)) if isinstance(value, bool) else str(value)
            yield f"--{name.replace('_', '-')}={text}"


def _folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ssediag-lab-")))


def _with_any_port(stack: ExitStack, program: Path, product: str, label: str, to_url: str) -> Part:
    for _ in range(_TRIES - 1):
        try:
            return _proxy(stack, program, product, label, to_url)
        except PortTakenError:
            continue
    return _proxy(stack, program, product, label, to_url)


def _proxy(outer: ExitStack, program: Path, product: str, label: str, to_url: str) -> Part:
    """Start a proxy once; it ends with ``outer``, or now when it is not ready in time."""
    with ExitStack() as stack:
        folder = _folder(stack)
        port = _free_port()
        command = _filled(folder, program, product, label, port, to_url)
        errors = folder / "errors"
        process = stack.enter_context(running(command.arguments, errors, command.environment))
        _wait_until_ready(process, port, product, errors)
        if product == "traefik":
            _warm_up(port, errors)
        outer.push(stack.pop_all())
    return Part(product, f"{command.scheme}://{_HOST}:{port}", port, process.pid)
