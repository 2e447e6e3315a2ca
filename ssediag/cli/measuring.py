"""Run a plan on the terminal: signals, progress, recording, report, exit code."""

import platform
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from types import FrameType

from rich.console import Console
from rich.status import Status

from ssediag import __version__
from ssediag.capture.redact import redact_command
from ssediag.capture.rights import rights
from ssediag.capture.store import StoreError, open_for_saving, write_recording
from ssediag.cli.output import (
    EXIT_CANNOT_WRITE,
    CannotWriteError,
    Output,
    final_code,
    open_outputs,
    write_reports,
)
from ssediag.jobs.compare import Measurement, compare
from ssediag.jobs.targets import Plan
from ssediag.model.diagnosis import Context
from ssediag.model.recording import Clock
from ssediag.model.stream import Stream
from ssediag.report.wording import attempt_line

SIGNAL_EXIT = 128


def run_plan(plan: Plan, output: Output, save: Path | None) -> tuple[int, Measurement | None]:
    """Measure, save, report. Returns the contract's exit code, and what was measured.

    The measurement is None when an output could not be opened: then nothing was sent.
    """
    try:
        open_outputs(output)
        if save is not None:
            open_for_saving(save)
    except (CannotWriteError, StoreError) as error:
        return _cannot_write(error), None
    began_at = now()
    with stop_on_signals() as (stop, received), _progress(output) as observe:
        measurement = compare(plan, stop, observe)
    code = report(measurement, output, save, began_at)
    return (SIGNAL_EXIT + received[0] if received else code), measurement


def report(measurement: Measurement, output: Output, save: Path | None, began_at: str) -> int:
    """Write the recording and every report of a finished measurement; returns the exit code."""
    context = make_context(measurement, began_at)
    try:
        if save is not None:
            write_recording(
                save,
                measurement.streams,
                command=context.command,
                began_at=began_at,
                tool_version=__version__,
            )
        write_reports(measurement.diagnosis, context, measurement.streams, output)
    except (CannotWriteError, StoreError) as error:
        return _cannot_write(error)
    return final_code(measurement.diagnosis.exit_code, output)


def _cannot_write(error: Exception) -> int:
    print(f"ssediag: {error}", file=sys.stderr)
    return EXIT_CANNOT_WRITE


def now() -> str:
    """The time as RFC 3339, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def shown_command() -> str:
    """The command line, secrets masked."""
    return redact_command(["ssediag", *sys.argv[1:]])


def make_context(measurement: Measurement, began_at: str) -> Context:
    """The circumstances of a measurement, for its reports."""
    clocks = {stream.clock for stream in measurement.streams if len(stream.events)}
    return Context(
        version=__version__,
        command=shown_command(),
        began_at=began_at,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        clock=(Clock.USER if Clock.USER in clocks or not clocks else Clock.KERNEL).value,
        rights=rights(),
    )


@contextmanager
def stop_on_signals() -> Iterator[tuple[Event, list[int]]]:
    """Let the first SIGINT or SIGTERM end the measurement in order, the second one at once."""
    stop, received = Event(), list[int]()

    def handle(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop, received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[Stream], None]]:
    """What happens as runs end, on stderr: a status line on a terminal, lines with ``-v``."""
    console = Console(stderr=True)
    if output.quiet or not (output.verbose or console.is_terminal):
        yield lambda _stream: None
        return
    if output.verbose:
        yield lambda stream: console.print(attempt_line(stream), highlight=False, markup=False)
        return
    with Status("measuring", console=console) as status:
        yield lambda stream: status.update(attempt_line(stream))
