"""The vocabulary of facts: names that carry their unit, and words for truth values."""

from ssediag.model.diagnosis import Unit

Value = float | str | None
Facts = dict[str, Value]


def unit_of(fact: str) -> Unit:
    """The unit that the name of a fact carries."""
    for ending, unit in _UNITS:
        if fact.endswith(ending):
            return unit
    return Unit.WORD


_UNITS = (
    ("_ns", Unit.NS),
    ("_bytes", Unit.BYTES),
    ("_events", Unit.EVENTS),
    ("_count", Unit.COUNT),
    ("_share", Unit.SHARE),
    ("_ratio", Unit.RATIO),
)


def yes_no(value: bool) -> str:  # noqa: FBT001 - a truth value is what it words
    """A truth value as a fact."""
    return "yes" if value else "no"
