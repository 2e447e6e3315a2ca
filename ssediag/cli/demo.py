"""``ssediag demo``: the main job on a chain that this machine plays itself."""

from typing import Annotated

import typer

from ssediag.capture.dial import Route
from ssediag.cli import options
from ssediag.cli.measuring import run_plan
from ssediag.cli.output import make_output
from ssediag.cli.parse import parse_targets
from ssediag.cli.route import Ways
from ssediag.jobs.request import Asked
from ssediag.jobs.targets import Plan
from ssediag.lab.presets import DEMO_GUILTY, demo_chain
from ssediag.lab.start import LabError
from ssediag.model.diagnosis import Diagnosis
from ssediag.model.request import Limits

_EXIT_BUG = 70
_EXIT_NOT_MEASURED = 4
_LIMITS = Limits(total_ns=5_000_000_000, first_event_ns=4_000_000_000, idle_ns=4_000_000_000)
_STORY = (
    "A chain on this machine, instance → proxy → CDN, with a fault planted at the proxy.\n"
    "This is the report that ssediag compare prints:\n"
)
_NEXT = "\nOn your own chain: ssediag compare instance=http://… proxy=http://… cdn=https://…"


def demo(
    real: Annotated[
        bool, typer.Option("--real", help="Put real proxies (extra: lab) into the chain.")
    ] = False,
    report_format: options.ReportFormat = options.Format.TEXT,
    output: options.Outputs = None,
    save: options.Save = None,
    color: options.ColorWhen = options.Color.AUTO,
) -> None:
    """Find a fault planted in a chain on loopback: no arguments, no root, no network."""
    shown = make_output(report_format, output, color)
    if report_format is options.Format.TEXT:
        typer.echo(_STORY)
    try:
        with demo_chain(real=real) as parts:
            words = [f"{part.name}={part.url}" for part in parts]
            ways = Ways(Route(), no_proxy="*")
            plan = Plan(parse_targets(words, Asked(), ways), _LIMITS)
            code, measurement = run_plan(plan, shown, save)
    except LabError as error:
        typer.echo(f"ssediag demo: {error}", err=True)
        raise typer.Exit(_EXIT_NOT_MEASURED) from error
    if report_format is options.Format.TEXT:
        typer.echo(_NEXT)
    raise typer.Exit(code if measurement is None else _judge(measurement.diagnosis, code))


def _judge(diagnosis: Diagnosis, code: int) -> int:
    """0 when the planted fault was found where it was planted; 70 when not."""
    culprit = diagnosis.culprit
    if code != diagnosis.exit_code:  # a signal, or an output that could not be written
        return code
    found = culprit is not None and (culprit.hop, culprit.mechanism) == DEMO_GUILTY
    if not found:
        typer.echo("ssediag demo: the planted fault was not found: please report this", err=True)
    return 0 if found else _EXIT_BUG
