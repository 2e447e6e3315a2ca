"""Where reports go: standard output, files opened before measuring, and the exit code."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ssediag.cli.options import Color, Format, WhenInconclusive
from ssediag.model.diagnosis import Context, Diagnosis
from ssediag.model.stream import Stream
from ssediag.report.json import json_report
from ssediag.report.jsonl import jsonl_report
from ssediag.report.text import text_report

EXIT_CANNOT_WRITE = 74
_EXIT_INCONCLUSIVE = 5
_FALLBACK_WIDTH = 80
_WIDEST = 120


class CannotWriteError(Exception):
    """An output file that could not be opened or written."""


@dataclass(frozen=True, slots=True)
class Output:
    """What the user wants to see, and where."""

    format: Format = Format.TEXT
    files: tuple[tuple[Format, Path], ...] = ()
    color: Color = Color.AUTO
    quiet: bool = False
    verbose: bool = False
    exit_zero: bool = False
    inconclusive: WhenInconclusive = WhenInconclusive.FAIL


def make_output(
    report_format: Format,
    files: Sequence[str] | None,
    color: Color,
    exit_zero: bool = False,
    inconclusive: WhenInconclusive = WhenInconclusive.FAIL,
) -> Output:
    """The wishes that commands share. Raises typer.BadParameter for an unknown format."""
    return Output(
        format=report_format,
        files=parse_outputs(files or []),
        color=color,
        exit_zero=exit_zero,
        inconclusive=inconclusive,
    )


def parse_outputs(words: Sequence[str]) -> tuple[tuple[Format, Path], ...]:
    """``FORMAT=FILE`` pairs. Raises typer.BadParameter for an unknown format."""
    parsed = []
    for word in words:
        kind, equals, path = word.partition("=")
        if not equals or not path or kind not in set(Format):
            known = ", ".join(Format)
            raise typer.BadParameter(f"{word!r} is not FORMAT=FILE (formats: {known})")
        parsed.append((Format(kind), Path(path)))
    return tuple(parsed)


def open_outputs(output: Output) -> None:
    """Make sure that every file can be written, before anything is measured."""
    for _, path in output.files:
        try:
            path.open("a", encoding="utf-8").close()
        except OSError as error:
            raise CannotWriteError(f"cannot write {path}: {error.strerror}") from error


def write_reports(
    diagnosis: Diagnosis, context: Context, streams: Sequence[Stream], output: Output
) -> None:
    """Write every file, then the report on standard output."""
    for kind, path in output.files:
        try:
            path.write_text(_render(kind, diagnosis, context, streams, plain=True), "utf-8")
        except OSError as error:
            raise CannotWriteError(f"cannot write {path}: {error.strerror}") from error
    text = _render(output.format, diagnosis, context, streams, color=output.color)
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWriteError(f"cannot write to standard output: {error.strerror}") from error


def _render(
    kind: Format,
    diagnosis: Diagnosis,
    context: Context,
    streams: Sequence[Stream],
    *,
    color: Color = Color.NEVER,
    plain: bool = False,
) -> str:
    match kind:
        case Format.JSON:
            return json_report(diagnosis, context)
        case Format.JSONL:
            return "".join(f"{line}\n" for line in jsonl_report(diagnosis, context, streams))
        case Format.TEXT:
            return text_report(
                diagnosis,
                context,
                width=_FALLBACK_WIDTH if plain else terminal_width(),
                color=not plain and use_color(color),
                unicode=plain or _can_encode("▁█"),
            )


def terminal_width() -> int:
    """Columns of the terminal, at most 120; 80 where there is none."""
    if not sys.stdout.isatty():
        return _FALLBACK_WIDTH
    return min(os.get_terminal_size(sys.stdout.fileno()).columns or _FALLBACK_WIDTH, _WIDEST)


def use_color(when: Color) -> bool:
    """Whether to colour standard output: NO_COLOR and a dumb terminal say no."""
    match when:
        case Color.ALWAYS:
            return True
        case Color.NEVER:
            return False
        case Color.AUTO:
            forbidden = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
            return sys.stdout.isatty() and not forbidden


def _can_encode(sample: str) -> bool:
    try:
        sample.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def final_code(code: int, output: Output) -> int:
    """The exit code after the user's wishes about it."""
    if output.exit_zero:
        return 0
    if code == _EXIT_INCONCLUSIVE and output.inconclusive is WhenInconclusive.PASS:
        return 0
    return code
