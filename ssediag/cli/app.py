"""The commands, in the panels that ``--help`` shows."""

from collections.abc import Sequence
from typing import Annotated

import typer

from ssediag import __version__
from ssediag.cli.curl import from_curl
from ssediag.cli.demo import demo
from ssediag.cli.diagnose import diagnose
from ssediag.cli.doctor import doctor
from ssediag.cli.explain import explain
from ssediag.cli.lab import lab
from ssediag.cli.probe import COMPARE_HELP, PROBE_HELP, measure

app = typer.Typer(
    name="ssediag",
    help="Find the hop that turns an LLM's per-token output into bursts, and say how it does so.",
    epilog="Start with: ssediag demo",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("probe", help=PROBE_HELP, rich_help_panel="Find")(measure)
app.command("compare", help=COMPARE_HELP, rich_help_panel="Find")(measure)
app.command("diagnose", rich_help_panel="Between")(diagnose)
app.command("demo", rich_help_panel="Help")(demo)
app.command(
    "lab",
    rich_help_panel="Help",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)(lab)
app.command("explain", rich_help_panel="Help")(explain)
app.command("doctor", rich_help_panel="Help")(doctor)


def _tell_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"ssediag {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            is_eager=True,
            callback=lambda wanted: _tell_version(wanted=wanted),
        ),
    ] = False,
) -> None:
    """Options of the program itself."""


def expanded(arguments: Sequence[str]) -> list[str]:
    """The arguments, with a pasted ``-- curl …`` turned into options of ours."""
    words = list(arguments)
    if "--" not in words:
        return words
    place = words.index("--")
    if words[:1] != ["probe"] or words[place + 1 : place + 2] != ["curl"]:
        return words
    return [*words[:place], *from_curl(words[place + 2 :])]


def run(arguments: Sequence[str]) -> int:
    """Run the command line ``arguments`` (without the program's name); returns the exit code."""
    try:
        app(args=expanded(arguments), prog_name="ssediag")
    except typer.BadParameter as error:
        typer.echo(f"ssediag: {error}", err=True)
        return 2
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 2
    return 0
