"""The options that several commands share, under curl's long names where curl has one."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ssediag.cli.durations import duration_ns

_REQUEST = "Request"
_LIMITS = "Limits"
_OUTPUT = "Output"


class Format(StrEnum):
    """Report formats."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


class Color(StrEnum):
    """When to colour the report."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class WhenInconclusive(StrEnum):
    """What an inconclusive answer counts as."""

    FAIL = "fail"
    PASS = "pass"


Method = Annotated[
    str | None, typer.Option("-X", "--request", help="HTTP method.", rich_help_panel=_REQUEST)
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "-H",
        "--header",
        metavar="[NAME:]'K: V'",
        help="Header for every hop, or for hop NAME.",
        rich_help_panel=_REQUEST,
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        "-d", "--data", help="Request body; @FILE, - for stdin.", rich_help_panel=_REQUEST
    ),
]
BearerEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--bearer-env",
        metavar="[NAME=]ENV",
        help="Environment variable that holds a bearer token.",
        rich_help_panel=_REQUEST,
    ),
]
ShareAuth = Annotated[
    bool,
    typer.Option(
        "--share-auth",
        help="Send credentials to hops on other hosts than the first one's, too.",
        rich_help_panel=_REQUEST,
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option("--prompt", help="Prompt of the default POST.", rich_help_panel=_REQUEST),
]
Model = Annotated[
    str | None, typer.Option("--model", help="Model of the default POST.", rich_help_panel=_REQUEST)
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=1,
        help="Tokens the default POST asks for [64].",
        rich_help_panel=_REQUEST,
    ),
]
Dialect = Annotated[
    str,
    typer.Option(
        "--dialect",
        help="Payload format: auto, sse-plain, openai-chat.",
        rich_help_panel=_REQUEST,
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        min=1,
        max=100,
        help="Runs at each hop [3, fewer when two agree].",
        rich_help_panel=_LIMITS,
    ),
]
MaxEvents = Annotated[
    int | None,
    typer.Option("--max-events", min=1, help="Stop a run after N events.", rich_help_panel=_LIMITS),
]
Timeout = Annotated[
    int,
    typer.Option(
        "--timeout",
        parser=duration_ns,
        metavar="D",
        help="Hard limit of a run.",
        show_default="60s",
        rich_help_panel=_LIMITS,
    ),
]
FirstEventTimeout = Annotated[
    int,
    typer.Option(
        "--first-event-timeout",
        parser=duration_ns,
        metavar="D",
        help="Longest wait for the first event.",
        show_default="30s",
        rich_help_panel=_LIMITS,
    ),
]
IdleTimeout = Annotated[
    int,
    typer.Option(
        "--idle-timeout",
        parser=duration_ns,
        metavar="D",
        help="Longest silence after that.",
        show_default="30s",
        rich_help_panel=_LIMITS,
    ),
]
Experiments = Annotated[
    bool,
    typer.Option(
        "--experiments/--no-experiments",
        help="Vary the request where that decides a cause.",
        rich_help_panel=_LIMITS,
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", metavar="ID", help="A mechanism that is by design here.", rich_help_panel=_LIMITS
    ),
]
ReportFormat = Annotated[
    Format, typer.Option("-f", "--format", help="Report format.", rich_help_panel=_OUTPUT)
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FORMAT=FILE",
        help="Also write this format to a file.",
        rich_help_panel=_OUTPUT,
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Write a recording of every run.", rich_help_panel=_OUTPUT
    ),
]
WithData = Annotated[
    bool,
    typer.Option(
        "--with-data",
        help="Keep the events' text in recordings and jsonl.",
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="No progress, errors only.", rich_help_panel=_OUTPUT)
]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="A line per run on stderr.", rich_help_panel=_OUTPUT)
]
ColorWhen = Annotated[
    Color, typer.Option("--color", help="Colour the report.", rich_help_panel=_OUTPUT)
]
ExitZero = Annotated[
    bool, typer.Option("--exit-zero", help="Exit 0 whatever was found.", rich_help_panel=_OUTPUT)
]
Inconclusive = Annotated[
    WhenInconclusive,
    typer.Option("--inconclusive", help="Exit 5, or 0 with pass.", rich_help_panel=_OUTPUT),
]
