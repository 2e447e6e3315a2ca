"""``ssediag probe --follow``: one stream over its reconnects, on the terminal."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import typer

from ssediag import __version__
from ssediag.capture.store import StoreError, open_for_saving, write_recording
from ssediag.cli.follow_report import (
    connection_line,
    connection_text,
    json_text,
    jsonl_text,
    summary_line,
    summary_text,
)
from ssediag.cli.measuring import SIGNAL_EXIT, now, shown_command, stop_on_signals
from ssediag.cli.options import Format
from ssediag.cli.output import (
    EXIT_CANNOT_WRITE,
    CannotWriteError,
    Output,
    final_code,
    open_outputs,
)
from ssediag.diagnose.verdict import exit_code
from ssediag.jobs.follow import Connection, Followed, follow
from ssediag.jobs.reconnect import EVENT_SOURCE, FETCH, Policy
from ssediag.jobs.targets import Plan, Target


def run_follow(plan: Plan, output: Output, save: Path | None, reconnects: int | None) -> int:
    """Follow the plan's one target and report; returns the contract's exit code.

    A GET is followed as by an EventSource, anything else, and everything if the number of
    ``reconnects`` is given, as by a fetch client. Raises typer.BadParameter for other targets.
    """
    if len(plan.targets) != 1 or plan.targets[0].request is None:
        raise typer.BadParameter("--follow follows one live URL: see ssediag probe --help")
    target = plan.targets[0]
    try:
        open_outputs(output)
        if save is not None:
            open_for_saving(save)
        began_at = now()
        with stop_on_signals() as (stop, received):
            followed = follow(
                target,
                plan.limits,
                choose_policy(target, reconnects),
                stop,
                _observer(output),
                dialect=plan.dialect,
                with_data=plan.with_data,
            )
        _write(followed, output, save, began_at)
    except (CannotWriteError, StoreError) as error:
        print(f"ssediag: {error}", file=sys.stderr)
        return EXIT_CANNOT_WRITE
    code = final_code(exit_code(followed.verdict), output)
    return SIGNAL_EXIT + received[0] if received else code


def choose_policy(target: Target, reconnects: int | None) -> Policy:
    """Whose habits suit the request."""
    if reconnects is not None:
        return replace(FETCH, most_reconnects=reconnects)
    is_get = target.request is not None and target.request.method == "GET"
    return EVENT_SOURCE if is_get else FETCH


def _observer(output: Output) -> Callable[[Connection], None]:
    """Shows each connection when it is over; a JSON document comes in one piece at the end."""
    match output.format:
        case Format.TEXT:
            return lambda connection: print(connection_text(connection), flush=True)
        case Format.JSONL:
            return lambda connection: print(connection_line(connection), flush=True)
        case Format.JSON:
            return lambda _connection: None


def _write(followed: Followed, output: Output, save: Path | None, began_at: str) -> None:
    """The recording and the files, then the end of standard output."""
    command = shown_command()
    if save is not None:
        streams = [one.stream for one in followed.connections]
        write_recording(save, streams, command=command, began_at=began_at, tool_version=__version__)
    for kind, path in output.files:
        try:
            path.write_text(_whole(kind, followed, command, began_at) + "\n", "utf-8")
        except OSError as error:
            raise CannotWriteError(f"cannot write {path}: {error.strerror}") from error
    match output.format:
        case Format.TEXT:
            print(f"\n{summary_text(followed)}")
        case Format.JSONL:
            print(summary_line(followed, command, began_at))
        case Format.JSON:
            print(json_text(followed, command, began_at))


def _whole(kind: Format, followed: Followed, command: str, began_at: str) -> str:
    match kind:
        case Format.TEXT:
            lines = [connection_text(one) for one in followed.connections]
            return "\n".join([*lines, "", summary_text(followed)])
        case Format.JSONL:
            return jsonl_text(followed, command, began_at)
        case Format.JSON:
            return json_text(followed, command, began_at)
