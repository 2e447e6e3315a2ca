"""Read the catalogue: one TOML file a mechanism, and the table of products."""

import re
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

_ENTRY_KEYS = frozenset(
    {
        *("id", "name", "verdict", "precedence", "summary", "what", "why", "sign", "tell_apart"),
        *("replaces", "parameters", "signature", "fix"),
    }
)
_FIX_KEYS = frozenset({"product", "text", "config", "proof", "source"})
_SIGNATURE_KEYS = frozenset({"confidence", "condition"})


class CatalogueError(Exception):
    """A catalogue file that does not say what it must: ``file``, and the ``reason``."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


@cache
def mechanisms() -> dict[str, MechanismEntry]:
    """Every mechanism by id, in the order of precedence. Raises CatalogueError."""
    folder = files("ssediag.catalogue").joinpath("mechanisms")
    entries = [
        read_mechanism(path.name, _text(path))
        for path in folder.iterdir()
        if path.name.endswith(".toml")
    ]
    return {entry.id: entry for entry in sorted(entries, key=lambda entry: entry.precedence)}


@cache
def product_signs() -> tuple[ProductSign, ...]:
    """The headers that name a product, in the order of the table. Raises CatalogueError."""
    path = files("ssediag.catalogue").joinpath("products.toml")
    return read_products(path.name, _text(path))


def read_mechanism(file: str, text: str) -> MechanismEntry:
    """The mechanism that ``text`` describes; ``file`` must be its id. Raises CatalogueError."""
    try:
        entry = _mechanism(tomllib.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CatalogueError(file, _reason(error)) from error
    if file != f"{entry.id}.toml":
        raise CatalogueError(file, f"holds the mechanism {entry.id!r}")
    return entry


def read_products(file: str, text: str) -> tuple[ProductSign, ...]:
    """The signs that ``text`` lists. Raises CatalogueError, also for a broken pattern."""
    try:
        signs = tuple(ProductSign(**sign) for sign in tomllib.loads(text)["sign"])
        for sign in signs:
            re.compile(sign.pattern)
    except (ValueError, KeyError, TypeError, re.error) as error:
        raise CatalogueError(file, _reason(error)) from error
    return signs


def _text(path: Traversable) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(path.name, f"cannot be read: {error}") from error


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _mechanism(document: Mapping[str, Any]) -> MechanismEntry:
    _only(document, _ENTRY_KEYS)
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
    _only(table, _SIGNATURE_KEYS)
    conditions = tuple(Condition(**condition) for condition in table["condition"])
    return Signature(float(table["confidence"]), conditions)


def _fix(table: Mapping[str, Any]) -> Fix:
    _only(table, _FIX_KEYS)
    config = table.get("config")
    return Fix(
        product=table.get("product"),
        text=table["text"].strip(),
        config=None if config is None else config.strip("\n"),
        proof=Proof(table["proof"]),
        source=table["source"],
    )


def _only(table: Mapping[str, Any], keys: frozenset[str]) -> None:
    """A misspelt key would be silently without effect, so it is an error."""
    unknown = sorted(set(table) - keys)
    if unknown:
        raise ValueError(f"unknown keys: {', '.join(unknown)}")
