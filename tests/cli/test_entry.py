"""The entry is fast, quiet about its own mistakes, and tells them by exit code."""

import subprocess
import sys

import pytest

from ssediag import __version__
from ssediag.cli import entry
from ssediag.cli.help_text import generate

HEAVY = ("typer", "httpx", "httpcore", "h2", "scapy", "rich")


def run(*words: str, code: str | None = None) -> subprocess.CompletedProcess[str]:
    program = ["-c", code] if code else ["-m", "ssediag", *words]
    return subprocess.run(
        [sys.executable, *program], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("words", [["--help"], ["-h"], []])
def test_the_stored_help_is_what_typer_says(words: list[str]) -> None:
    shown = run(*words)
    assert (shown.returncode, shown.stdout) == (0, generate())


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"ssediag {__version__}\n"


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(word: str) -> None:
    code = (
        "import sys; sys.argv = ['ssediag', sys.argv[1] if len(sys.argv) > 1 else '%s']\n"
        "from ssediag.cli.entry import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('loaded:', [name for name in %r if name in sys.modules])" % (word, HEAVY)
    )
    assert run(code=code).stdout.endswith("loaded: []\n")


def test_a_bug_of_ours_is_one_line_and_exit_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_arguments: list[str]) -> int:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(entry, "_run", broken)
    assert entry._guarded(["probe"]) == 70
    said = capsys.readouterr().err
    assert "a bug in ssediag: ZeroDivisionError" in said
    assert "secret" not in said
    assert "Traceback" not in said


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_run", interrupted)
    assert entry._guarded(["probe"]) == 130


def test_a_reader_that_goes_away_ends_us_quietly() -> None:
    code = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'ssediag', 'explain'], stdout=subprocess.PIPE, stderr=subprocess.PIPE); p.stdout.close(); print(p.stderr.read().decode(), p.wait())"
    assert run(code=code).stdout.strip() == "0"


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run("prob").returncode == 2
