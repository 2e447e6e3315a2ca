"""``ssediag diagnose``: the same analysis, offline."""

from pathlib import Path
from typing import Annotated

import typer

from ssediag.capture.store import RecordingError
from ssediag.cli import options
from ssediag.cli.measuring import now, report
from ssediag.cli.output import CannotWriteError, make_output, open_outputs
from ssediag.cli.probe import check_allowed
from ssediag.jobs.diagnose import diagnose_files


def diagnose(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Recordings made with --save.")
    ],
    allow: options.Allow = None,
    report_format: options.ReportFormat = options.Format.TEXT,
    output: options.Outputs = None,
    color: options.ColorWhen = options.Color.AUTO,
    exit_zero: options.ExitZero = False,
    inconclusive: options.Inconclusive = options.WhenInconclusive.FAIL,
) -> None:
    """Diagnose recordings: what --save wrote gives the verdict that it gave then."""
    shown = make_output(report_format, output, color, exit_zero, inconclusive)
    try:
        open_outputs(shown)
        measurement = diagnose_files(files, check_allowed(allow or []))
    except RecordingError as error:
        raise typer.BadParameter(str(error)) from error
    except CannotWriteError as error:
        typer.echo(f"ssediag: {error}", err=True)
        raise typer.Exit(74) from error
    raise typer.Exit(report(measurement, shown, None, now()))
