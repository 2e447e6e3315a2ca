"""Known mechanisms as the catalogue describes them, and what they do to a hop's verdict."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The answer about a hop or a chain, in the contract's words."""

    STREAMS = "streams"
    BURSTS = "bursts"
    HELD = "held"
    CUT = "cut"
    BROKEN = "broken"
    NOT_MEASURED = "not-measured"
    INCONCLUSIVE = "inconclusive"


class Proof(StrEnum):
    """Where a fix comes from: tried on the real product, or read in its documentation."""

    MEASURED = "measured"
    DOCUMENTED = "documented"


@dataclass(frozen=True, slots=True)
class Condition:
    """A bound on one fact. ``why`` says in words what it rules in or out."""

    fact: str
    at_least: float | None = None
    at_most: float | None = None
    equals: str | float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """Conditions that together show a mechanism, and how sure a run may be that shows them."""

    confidence: float
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change. ``product`` None is the advice for a hop without a name.

    ``config`` is what to paste, or None. ``source`` says where the advice was proven or read.
    """

    product: str | None
    text: str
    config: str | None
    proof: Proof
    source: str


@dataclass(frozen=True, slots=True)
class MechanismEntry:
    """One catalogue file.

    ``precedence``: the lower speaks first when several match. ``replaces`` are the rhythms that
    this cause explains away. ``signatures`` are alternatives; one holds when all its conditions
    do. ``parameters`` maps the report's parameter names to the facts that give them.
    """

    id: str
    name: str
    verdict: Verdict
    precedence: int
    summary: str
    what: str
    why: str
    sign: str
    tell_apart: str
    replaces: tuple[str, ...]
    signatures: tuple[Signature, ...]
    parameters: tuple[tuple[str, str], ...]
    fixes: tuple[Fix, ...]


@dataclass(frozen=True, slots=True)
class ProductSign:
    """A header that names a product: ``header`` present, its value matching ``pattern`` (regex)."""

    product: str
    header: str
    pattern: str
    role: str
