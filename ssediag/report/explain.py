"""The catalogue as text: the list of mechanisms, or one of them in full."""

import textwrap
from collections.abc import Iterator, Sequence

from ssediag.model.mechanism import Fix, MechanismEntry

_WIDTH = 80


def explain_list(entries: Sequence[MechanismEntry]) -> str:
    """A line or two for each mechanism, grouped by what it does to a hop's verdict."""
    lines: list[str] = []
    for verdict in dict.fromkeys(entry.verdict for entry in entries):
        lines.append(f"{verdict.value}:")
        lines += [
            _wrapped(entry.summary, f"  {entry.id:<16} ", " " * 19)
            for entry in entries
            if entry.verdict is verdict
        ]
    lines += ["", "ssediag explain ID shows one in full."]
    return "\n".join(lines)


def explain_one(entry: MechanismEntry) -> str:
    """Everything the catalogue says about one mechanism."""
    return "\n".join(_parts(entry)).rstrip()


def _parts(entry: MechanismEntry) -> Iterator[str]:
    yield f"{entry.id}: {entry.name} (a hop that shows it {_verb(entry)})"
    yield ""
    for title, text in (
        ("What it does", entry.what),
        ("Why", entry.why),
        ("Its sign", entry.sign),
        ("Told apart from", entry.tell_apart),
    ):
        yield title
        yield _wrapped(text, "  ", "  ")
        yield ""
    yield "What to change"
    for fix in entry.fixes:
        yield from _fix(fix)


def _verb(entry: MechanismEntry) -> str:
    return f"is judged: {entry.verdict.value}"


def _fix(fix: Fix) -> Iterator[str]:
    name = fix.product or "A hop without a name"
    yield _wrapped(f"{name}: {fix.text}", "  ", "    ")
    if fix.config is not None:
        yield textwrap.indent(fix.config, " " * 6)
    yield _wrapped(f"[{fix.proof.value}: {fix.source}]", "    ", "    ")


def _wrapped(text: str, first: str, rest: str) -> str:
    return textwrap.fill(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,  # X-Accel-Buffering is one word to whoever copies it
    )
