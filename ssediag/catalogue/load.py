"""Read the catalogue: one TOML file a mechanism, and the table of products."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from ssediag.model.mechanism import (
    Condition,
    Fix,
    MechanismEntry,
    ProductSign,
    Proof,
    Signature,
    Verdict,
)

Entry = TypeVar("Entry")


class CatalogueError(Exception):
    """A catalogue file that does not say what it must: ``file`` names it, ``reason`` is why."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


@cache
def mechanisms() -> dict[str, MechanismEntry]:
    """Every mechanism by id, in the order of precedence. Raises CatalogueError."""
    folder = files("ssediag.catalogue").joinpath("mechanisms")
    paths = [path for path in folder.iterdir() if path.name.endswith(".toml")]
    entries = [read_file(path, parse_mechanism) for path in paths]
    return {entry.id: entry for entry in sorted(entries, key=lambda entry: entry.precedence)}


@cache
def product_signs() -> tuple[ProductSign, ...]:
    """The headers that name a product, the most telling first. Raises CatalogueError."""
    return read_file(files("ssediag.catalogue").joinpath("products.toml"), parse_signs)


def read_file(path: Traversable, parse: Callable[[Mapping[str, Any]], Entry]) -> Entry:
    """What ``parse`` makes of the TOML file at ``path``. Raises CatalogueError."""
    try:
        return parse(tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, re.error, KeyError, TypeError, ValueError) as error:
        raise CatalogueError(path.name, f"{type(error).__name__}: {error}") from error


def parse_signs(document: Mapping[str, Any]) -> tuple[ProductSign, ...]:
    """The product table from its file's content. Raises KeyError, TypeError or re.error."""
    signs = tuple(ProductSign(**sign) for sign in document["sign"])
    for sign in signs:
        re.compile(sign.pattern)
    return signs


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
