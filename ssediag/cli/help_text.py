"""Make ``help.txt``, the text that ``ssediag --help`` shows without importing typer.

``python -m ssediag.cli.help_text --write`` after a change of commands; ``--check`` in CI.
"""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

_PROGRAM = "import sys; from ssediag.cli.app import run; sys.exit(run(['--help']))"
_PLAIN = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def generate() -> str:
    """Typer's own help of the whole program, without colour, 80 columns wide."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith("COLOR")}
    shown = subprocess.run(  # noqa: S603 - this interpreter, and our own words
        [sys.executable, "-c", _PROGRAM],
        env={**environment, **_PLAIN},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    lines = shown.stdout.decode("utf-8").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def main() -> int:
    """Write or check the stored text; returns 1 when it is not what typer says."""
    stored = Path(str(files("ssediag.cli").joinpath("help.txt")))
    text = generate()
    if sys.argv[1:] == ["--write"]:
        stored.write_text(text, "utf-8")
        return 0
    if stored.exists() and stored.read_text("utf-8") == text:
        return 0
    print("help.txt is out of date: python -m ssediag.cli.help_text --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
