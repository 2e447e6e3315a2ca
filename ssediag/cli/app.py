"""The commands, in the panels that ``--help`` shows."""

from collections.abc import Sequence

import typer

# TMP from ssediag.cli.demo import demo
from ssediag.cli.diagnose import diagnose

# TMP from ssediag.cli.doctor import doctor
from ssediag.cli.explain import explain

# TMP from ssediag.cli.lab import lab
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
# TMP app.command("demo", rich_help_panel="Help")(demo)
# TMP app.command("lab", rich_help_panel="Help")(lab)
app.command("explain", rich_help_panel="Help")(explain)
# TMP app.command("doctor", rich_help_panel="Help")(doctor)


@app.callback()
def main() -> None:
    """Only a callback keeps the commands' group when there is but one."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line ``arguments`` (without the program's name); returns the exit code."""
    try:
        app(args=list(arguments), prog_name="ssediag")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 2
    return 0
