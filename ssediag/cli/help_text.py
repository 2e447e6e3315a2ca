"""Make ``help.txt``, the text that ``ssediag --help`` shows without importing typer.

``python -m ssediag.cli.help_text --write`` after a change of commands; ``--check`` in CI.
"""

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

_PROGRAM = "import sys; from ssediag.cli.app import run; sys.exit(run(['--help']))"
_PLAIN = {
    "COLUMNS": "80",
    "TERMINAL_WIDTH": "80",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONIOENCODING": "utf-8",
}
# With these, typer and rich paint also what goes into a file.
_PAINTING = frozenset({"FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "GITHUB_ACTIONS"})


def generate() -> str:
    """Typer's own help of the whole program, without colour, 80 columns wide."""
    kept = {key: value for key, value in os.environ.items() if key not in _PAINTING}
    shown = subprocess.run(  # noqa: S603 - this interpreter, and our own words
        [sys.executable, "-c", _PROGRAM],
        env={**kept, **_PLAIN},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    lines = shown.stdout.decode("utf-8").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def words(text: str) -> list[str]:
    """What a help text says; its frames and line breaks differ between versions of typer."""
    return re.findall(r"[^\s\u2500-\u257f]+", text)


def main() -> int:
    """Write or check the stored text; returns 1 when it does not say what typer says."""
    stored = Path(str(files("ssediag.cli").joinpath("help.txt")))
    text = generate()
    if sys.argv[1:] == ["--write"]:
        stored.write_text(text, "utf-8")
        return 0
    if stored.exists() and words(stored.read_text("utf-8")) == words(text):
        return 0
    print("help.txt is out of date: python -m ssediag.cli.help_text --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
