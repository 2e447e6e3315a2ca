"""``ssediag lab``: run one lab part, or a whole preset, until interrupted."""

import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from ssediag.lab.presets import PRESETS, topology
from ssediag.lab.proxies import PRODUCTS
from ssediag.lab.start import LabError, Part, proxy

_MODULES = ("instance", "hop")
_EXIT_NOT_MEASURED = 4


def lab(
    context: typer.Context,
    part: Annotated[
        str,
        typer.Argument(
            metavar="PART",
            help="instance or hop (with options of their own), a real proxy, or a preset.",
        ),
    ],
    to: Annotated[
        str | None, typer.Option("--to", metavar="URL", help="Upstream of a hop or proxy.")
    ] = None,
    config: Annotated[
        str, typer.Option("--config", help="Which configuration of a real proxy.")
    ] = "default",
) -> None:
    """Run servers that misbehave on purpose, on loopback, until Ctrl-C."""
    if part in _MODULES:
        own = [*context.args, *(["--to", to] if to is not None else [])]
        raise typer.Exit(_module(part, own))
    if context.args:
        raise typer.BadParameter(f"{part} takes no {context.args[0]}")
    try:
        with ExitStack() as stack:
            for running in _start(stack, part, config, to):
                typer.echo(f"{running.name}={running.url}")
            typer.echo("running; Ctrl-C ends it", err=True)
            _wait()
    except LabError as error:
        typer.echo(f"ssediag lab: {error}", err=True)
        raise typer.Exit(_EXIT_NOT_MEASURED) from error


def _wait() -> None:
    """Return at SIGINT or SIGTERM, so that what was started is stopped."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        return


def _start(stack: ExitStack, part: str, config: str, to: str | None) -> list[Part]:
    if part in PRESETS:
        return stack.enter_context(topology(part))
    if part not in PRODUCTS:
        known = ", ".join([*_MODULES, *PRODUCTS, *PRESETS])
        raise typer.BadParameter(f"{part!r} is no lab part ({known})")
    if to is None:
        raise typer.BadParameter(f"{part} needs --to URL")
    return [stack.enter_context(proxy(part, config, to))]


def _module(part: str, arguments: list[str]) -> int:
    """Run a part of our own; it ends with us, because its standard input does."""
    running = subprocess.Popen(  # noqa: S603 - this interpreter and our own module
        [sys.executable, "-m", f"ssediag.lab.{part}", *arguments], stdin=subprocess.PIPE
    )
    try:
        return running.wait()
    except KeyboardInterrupt:
        running.terminate()
        return 128 + signal.SIGINT if running.wait() else 0
