"""``ssediag demo``: the main job on a chain that this machine plays itself."""

from contextlib import ExitStack
from typing import Annotated

import typer

from ssediag.cli import options
from ssediag.cli.measuring import measure_and_report
from ssediag.cli.output import Output, parse_outputs
from ssediag.cli.parse import parse_targets
from ssediag.jobs.request import Asked
from ssediag.jobs.targets import Plan
from ssediag.lab.presets import demo_chain
from ssediag.lab.start import LabError, ProgramMissing
from ssediag.model.request import Limits

_EXIT_BUG = 70
_EXIT_FAULT = 3
_NOT_MEASURED = 4
_PLANTED_HOP = "proxy"
_LIMITS = Limits(total_ns=5_000_000_000, first_event_ns=4_000_000_000, idle_ns=4_000_000_000)
_NEXT = "On your own chain: ssediag compare instance=http://… proxy=http://… cdn=https://…"


def demo(
    real: Annotated[
        bool, typer.Option("--real", help="Put real proxies (extra: lab) into the chain.")
    ] = False,
    report_format: options.ReportFormat = options.Format.TEXT,
    output: options.Outputs = None,
    save: options.Save = None,
    color: options.ColorWhen = options.Color.AUTO,
) -> None:
    """Find a fault planted in instance → proxy → CDN on loopback: no root, no network."""
    shown = Output(format=report_format, files=parse_outputs(output or []), color=color)
    raise typer.Exit(_run(shown, save, real=real))
