"""The options that several commands share, under curl's long names where curl has one."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ssediag.cli.durations import duration_ns

_REQUEST = "Request"
_ROUTE = "Route"
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
    PASS = "pass"  # noqa: S105 - the opposite of fail


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
Insecure = Annotated[
    bool,
    typer.Option("-k", "--insecure", help="Accept any certificate.", rich_help_panel=_ROUTE),
]
CaFile = Annotated[
    Path | None,
    typer.Option(
        "--cacert",
        exists=True,
        dir_okay=False,
        help="Certificate authorities to trust instead of the system's.",
        rich_help_panel=_ROUTE,
    ),
]
ClientCert = Annotated[
    Path | None,
    typer.Option(
        "--cert", exists=True, dir_okay=False, help="Client certificate.", rich_help_panel=_ROUTE
    ),
]
ClientKey = Annotated[
    Path | None,
    typer.Option("--key", exists=True, dir_okay=False, help="Its key.", rich_help_panel=_ROUTE),
]
Http1 = Annotated[
    bool, typer.Option("--http1.1", help="Speak HTTP/1.1 only.", rich_help_panel=_ROUTE)
]
Http2 = Annotated[
    bool, typer.Option("--http2", help="Offer HTTP/2 by ALPN [default].", rich_help_panel=_ROUTE)
]
PriorKnowledge = Annotated[
    bool,
    typer.Option(
        "--http2-prior-knowledge",
        help="Speak HTTP/2 at once, on clear text too (or h2c://).",
        rich_help_panel=_ROUTE,
    ),
]
ConnectTo = Annotated[
    list[str] | None,
    typer.Option(
        "--connect-to",
        metavar="HOST:PORT:TO:PORT",
        help="Dial TO:PORT for HOST:PORT; Host and SNI stay.",
        rich_help_panel=_ROUTE,
    ),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        "--resolve",
        metavar="HOST:PORT:ADDR",
        help="Use ADDR for HOST:PORT.",
        rich_help_panel=_ROUTE,
    ),
]
At = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="NAME=ADDR[:PORT]",
        help="Where hop NAME is dialled; its URL, Host and SNI stay.",
        rich_help_panel=_ROUTE,
    ),
]
UnixSocket = Annotated[
    Path | None,
    typer.Option(
        "--unix-socket", help="Dial this socket (dated by this process).", rich_help_panel=_ROUTE
    ),
]
Proxy = Annotated[
    str | None,
    typer.Option("-x", "--proxy", metavar="URL", help="Forward proxy.", rich_help_panel=_ROUTE),
]
NoProxy = Annotated[
    str | None,
    typer.Option(
        "--noproxy",
        metavar="HOSTS",
        help="Hosts to reach without one; * for all.",
        rich_help_panel=_ROUTE,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show the requests, secrets masked; send nothing.",
        rich_help_panel=_OUTPUT,
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
Follow = Annotated[
    bool,
    typer.Option(
        "--follow",
        help="Reconnect as a client does, and check what comes for gaps and duplicates.",
        rich_help_panel=_REQUEST,
    ),
]
Reconnects = Annotated[
    int | None,
    typer.Option(
        "--reconnects", min=0, help="Follow as fetch, at most N retries.", rich_help_panel=_REQUEST
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
