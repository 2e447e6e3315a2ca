"""``ssediag doctor``: what this machine can measure, and what it cannot."""

import platform
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import typer

from ssediag import __version__
from ssediag.capture.clock import (
    clock_floor_ns,
    kernel_stamps_work,
    run_queue_readable,
    tcp_info_works,
)
from ssediag.capture.rights import rights
from ssediag.lab.proxies import PRODUCTS, find_program
from ssediag.report.wording import duration_text


def doctor() -> None:
    """Say what this machine can measure: clock, error bar, rights, codings, proxies."""
    for name, good, text in _checks():
        mark = "ok  " if good else "--  "
        typer.echo(f"{mark}{name:<18} {text}")


def _checks() -> Iterator[tuple[str, bool, str]]:
    """Name, whether it is there, and what that means for a measurement."""
    yield "ssediag", True, f"{__version__} on Python {platform.python_version()}, {sys.platform}"
    yield _clock()
    yield (
        "segment counts",
        tcp_info_works(),
        "TCP_INFO: tells one write of the server from many that came together",
    )
    yield (
        "own lateness",
        run_queue_readable(),
        "run-queue wait: reads that this machine picked up late are never held against the path",
    )
    held = rights()
    yield "rights", True, f"{held}; probe and compare need none"
    yield _codings()
    yield _proxies()


def _clock() -> tuple[str, bool, str]:
    if not kernel_stamps_work():
        return "clock", False, "user time only: arrivals are dated after this process wakes (~3 ms)"
    floor_ns = clock_floor_ns()
    bar = "" if floor_ns is None else f", error on loopback {duration_text(floor_ns)}"
    return "clock", True, f"kernel receive times{bar}"


def _codings() -> tuple[str, bool, str]:
    missing = [name for name in ("brotli", "zstandard") if find_spec(name) is None]
    if missing:
        return (
            "codings",
            False,
            "gzip and deflate; br and zstd need: pip install 'ssediag[codings]'",
        )
    return "codings", True, "gzip, deflate, br, zstd"


def _proxies() -> tuple[str, bool, str]:
    found = [product for product in PRODUCTS if find_program(product) is not None]
    if not found:
        return "lab proxies", False, "none; demo --real needs: pip install 'ssediag[lab]'"
    return "lab proxies", True, ", ".join(found)
