"""``ssediag lab``: run one lab part, or a whole preset, until interrupted."""

import subprocess
import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from ssediag.lab.presets import PRESETS, topology
from ssediag.lab.proxies import PRODUCTS
from ssediag.lab.start import LabError, Part, proxy

_MODULES = ("instance", "hop")


def lab(
    part: Annotated[
        str,
        typer.Argument(
            metavar="PART",
            help="instance, hop, a real proxy's name (nginx, haproxy …), or a preset.",
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OPTIONS]", help="Options of instance or hop: see their --help."),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Upstream URL of a proxy.")] = None,
    config: Annotated[
        str, typer.Option("--config", help="Which configuration of a real proxy.")
    ] = "default",
) -> None:
    """Run servers that misbehave on purpose, on loopback, until Ctrl-C."""
    try:
        if part in _MODULES:
            raise typer.Exit(_module(part, _given(arguments, to)))
        with ExitStack() as stack:
            for running in _start(stack, part, config, to):
                typer.echo(f"{running.name}={running.url}")
            typer.echo("running; Ctrl-C ends it", err=True)
            _wait()
    except LabError as error:
        typer.echo(f"ssediag lab: {error}", err=True)
        raise typer.Exit(4) from error


def _start(stack: ExitStack, part: str, config: str, to: str | None) -> list[Part]:
    if part in PRESETS:
        return stack.enter_context(topology(part))
    if part not in PRODUCTS:
        known = ", ".join([*_MODULES, *PRODUCTS, *PRESETS])
        raise typer.BadParameter(f"{part!r} is no lab part ({known})")
    if to is None:
        raise typer.BadParameter(f"{part} needs --to URL")
    return [stack.enter_context(proxy(part, config, to))]
