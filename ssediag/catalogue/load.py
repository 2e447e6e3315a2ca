"""Read the catalogue: one TOML file a mechanism, and the table of products."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from ssediag.model.mechanism import (
    Condition,
    Fix,
    MechanismEntry,
    ProductSign,
    Proof,
    Signature,
    Verdict,
)


class CatalogueError(Exception):
    """A catalogue file that does not say what it must: which file, and what is wrong."""


@cache
def mechanisms() -> dict[str, MechanismEntry]:
    """Every mechanism by id, in the order of precedence."""
    folder = files("ssediag.catalogue").joinpath("mechanisms")
    entries = [_read(path) for path in folder.iterdir() if path.name.endswith(".toml")]
    return {entry.id: entry for entry in sorted(entries, key=lambda entry: entry.precedence)}


@cache
def product_signs() -> tuple[ProductSign, ...]:
    """The headers that name a product."""
    path = files("ssediag.catalogue").joinpath("products.toml")
    document = tomllib.loads(path.read_text("utf-8"))
    return tuple(ProductSign(**sign) for sign in document["sign"])


def _read(path: Traversable) -> MechanismEntry:
    try:
        return parse_mechanism(tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise CatalogueError(f"{path.name}: {type(error).__name__}: {error}") from error


def parse_mechanism(document: Mapping[str, Any]) -> MechanismEntry:
    """A mechanism from its file's content. Raises KeyError, TypeError or ValueError."""
    return MechanismEntry(
        id=document["id"],
        name=document["name"],
        verdict=Verdict(document["verdict"]),
        precedence=int(document["precedence"]),
        summary=document["summary"],
        what=document["what"].strip(),
        why=document["why"].strip(),
        sign=document["sign"].strip(),
        tell_apart=document["tell_apart"].strip(),
        replaces=tuple(document.get("replaces", ())),
        signatures=tuple(_signature(table) for table in document.get("signature", ())),
        parameters=tuple(document.get("parameters", {}).items()),
        fixes=tuple(_fix(table) for table in document.get("fix", ())),
    )


def _signature(table: Mapping[str, Any]) -> Signature:
    conditions = tuple(Condition(**condition) for condition in table["condition"])
    return Signature(float(table["confidence"]), conditions)


def _fix(table: Mapping[str, Any]) -> Fix:
    config = table.get("config")
    return Fix(
        product=table.get("product"),
        text=table["text"].strip(),
        config=None if config is None else config.strip("\n"),
        proof=Proof(table["proof"]),
        source=table["source"],
    )
