"""``ssediag probe`` and ``ssediag compare``: the same measurement, of one hop or of several."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ssediag.capture.dial import Route
from ssediag.catalogue.load import mechanisms
from ssediag.cli import options
from ssediag.cli.dry_run import dry_run_text
from ssediag.cli.follow import run_follow
from ssediag.cli.measuring import run_plan
from ssediag.cli.output import make_output
from ssediag.cli.parse import hop_names, parse_bearers, parse_body, parse_headers, parse_targets
from ssediag.cli.route import Ways, parse_at, parse_places, parse_proxy, parse_version
from ssediag.decode.dialects import DIALECTS
from ssediag.jobs.request import Asked
from ssediag.jobs.targets import Plan
from ssediag.model.request import Limits

PROBE_HELP = "Measure one hop: does its stream come event by event, and if not, why not?"
COMPARE_HELP = (
    "Measure hops, the instance first, and name the step that turns per-token output into bursts."
)
_DEFAULT_RUNS = 3
# Far beyond what a rhythm needs; a stream without an end must not keep a user waiting.
_DEFAULT_MAX_EVENTS = 3000
_DEFAULTS = Limits()


def measure(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET…", help="URL, NAME=URL or NAME=RECORDING; inner hops first."
        ),
    ],
    request: options.Method = None,
    header: options.Headers = None,
    data: options.Data = None,
    bearer_env: options.BearerEnv = None,
    share_auth: options.ShareAuth = False,
    insecure: options.Insecure = False,
    cacert: options.CaFile = None,
    cert: options.ClientCert = None,
    key: options.ClientKey = None,
    http1: options.Http1 = False,
    http2: options.Http2 = False,
    http2_prior_knowledge: options.PriorKnowledge = False,
    connect_to: options.ConnectTo = None,
    resolve: options.Resolve = None,
    at: options.At = None,
    unix_socket: options.UnixSocket = None,
    proxy: options.Proxy = None,
    noproxy: options.NoProxy = None,
    prompt: options.Prompt = None,
    model: options.Model = None,
    max_tokens: options.MaxTokens = None,
    dialect: options.Dialect = "auto",
    follow: options.Follow = False,
    reconnects: options.Reconnects = None,
    runs: options.Runs = None,
    max_events: options.MaxEvents = _DEFAULT_MAX_EVENTS,
    timeout: options.Timeout = _DEFAULTS.total_ns,
    first_event_timeout: options.FirstEventTimeout = _DEFAULTS.first_event_ns,
    idle_timeout: options.IdleTimeout = _DEFAULTS.idle_ns,
    experiments: options.Experiments = True,
    allow: options.Allow = None,
    report_format: options.ReportFormat = options.Format.TEXT,
    output: options.Outputs = None,
    save: options.Save = None,
    with_data: options.WithData = False,
    dry_run: options.DryRun = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.ColorWhen = options.Color.AUTO,
    exit_zero: options.ExitZero = False,
    inconclusive: options.Inconclusive = options.WhenInconclusive.FAIL,
) -> None:
    """Build the plan that the words describe, carry it out, and exit with its code."""
    if context.info_name == "probe" and len(targets) > 1:
        raise typer.BadParameter("probe measures one hop; ssediag compare takes several")
    names = hop_names(targets)
    asked = Asked(
        method=request,
        headers=(*parse_headers(header or [], names), *parse_bearers(bearer_env or [])),
        body=parse_body(data),
        prompt=prompt,
        model=model,
        max_tokens=max_tokens,
        plain=not experiments,
        share_credentials=share_auth,
    )
    ways = Ways(
        route=Route(
            verify=not insecure,
            ca_file=path_text(cacert),
            client_cert=None if cert is None else (str(cert), path_text(key)),
            http_version=parse_version(
                http1=http1, http2=http2, prior_knowledge=http2_prior_knowledge
            ),
            unix_socket=path_text(unix_socket),
        ),
        places=parse_places(connect_to or [], resolve or []),
        hops=parse_at(at or [], names),
        proxy=parse_proxy(proxy),
        no_proxy=noproxy,
    )
    plan = Plan(
        targets=parse_targets(targets, asked, ways),
        limits=Limits(
            total_ns=timeout,
            first_event_ns=first_event_timeout,
            idle_ns=idle_timeout,
            max_event_count=max_events,
        ),
        max_run_count=runs or _DEFAULT_RUNS,
        stop_early=runs is None,
        experiments=experiments,
        own_body=data is not None,
        dialect=check_dialect(dialect),
        with_data=with_data,
        allowed=check_allowed(allow or []),
    )
    shown = make_output(report_format, output, color, exit_zero, inconclusive)
    shown = replace(shown, quiet=quiet, verbose=verbose)
    if dry_run:
        typer.echo(dry_run_text(plan))
        return
    if follow or reconnects is not None:
        raise typer.Exit(run_follow(plan, shown, save, reconnects))
    code, _ = run_plan(plan, shown, save)
    raise typer.Exit(code)


def path_text(path: Path | None) -> str | None:
    """A path as text, or None."""
    return None if path is None else str(path)


def check_allowed(words: list[str]) -> frozenset[str]:
    """The mechanism ids in ``words``. Raises typer.BadParameter for one that is none."""
    for word in words:
        if word not in mechanisms():
            raise typer.BadParameter(f"{word!r} is no mechanism: see ssediag explain")
    return frozenset(words)


def check_dialect(word: str) -> str:
    """The dialect's name. Raises typer.BadParameter for an unknown one."""
    if word != "auto" and word not in DIALECTS:
        known = ", ".join(["auto", *DIALECTS])
        raise typer.BadParameter(f"{word!r} is no dialect ({known})")
    return word
