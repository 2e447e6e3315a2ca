"""``ssediag explain``: the known mechanisms, or one of them in full."""

from typing import Annotated

import typer

from ssediag.catalogue.load import mechanisms
from ssediag.report.explain import explain_list, explain_one


def explain(
    mechanism: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A mechanism's id, such as size-flush.")
    ] = None,
) -> None:
    """List the mechanisms ssediag knows, or explain one: what, why, sign, fix."""
    known = mechanisms()
    if mechanism is None:
        typer.echo(explain_list(list(known.values())))
        return
    if mechanism not in known:
        raise typer.BadParameter(f"{mechanism!r} is no mechanism: see ssediag explain")
    typer.echo(explain_one(known[mechanism]))
