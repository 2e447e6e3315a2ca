"""The entry is fast, quiet about its own mistakes, and tells them by exit code."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from ssediag import __version__
from ssediag.cli import entry
from ssediag.cli.help_text import generate, words

HEAVY = ("typer", "httpx", "httpcore", "h2", "scapy", "rich", "asyncio", "ssl")

# A program whose command does one thing, behind the real entry and the real typer.
PROGRAM = """
import errno, sys, types, typer
def run(arguments):
    app = typer.Typer(pretty_exceptions_enable=False)
    @app.command()
    def command() -> None:
        {body}
    try:
        app(args=[], prog_name="ssediag")
    except SystemExit as ended:
        return ended.code or 0
sys.modules["ssediag.cli.app"] = types.SimpleNamespace(run=run)
sys.argv = ["ssediag", "command"]
from ssediag.cli.entry import main
main()
"""
MUCH = "print('x' * 1_000_000)"
LITTLE = "print('x')"
BROKEN_SOCKET = "raise BrokenPipeError(errno.EPIPE, 'Broken pipe')"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ssediag", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def run_body(body: str, stdout: str = "") -> tuple[int, str]:
    """Exit code and stderr of a command that does ``body``; ``stdout`` is a shell redirection."""
    program = PROGRAM.format(body=body)
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {stdout}', sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


def fails_with(error: BaseException) -> Callable[[list[str]], int]:
    def broken(_arguments: list[str]) -> int:
        raise error

    return broken


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_the_stored_help_is_what_typer_says(arguments: list[str]) -> None:
    shown = run(*arguments)
    assert (shown.returncode, words(shown.stdout)) == (0, words(generate()))


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"ssediag {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], []])
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['ssediag', *{arguments!r}]\n"
        "from ssediag.cli.entry import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print('loaded:', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.endswith("loaded: []\n")


def test_a_bug_of_ours_is_two_lines_without_a_secret_and_exit_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SSEDIAG_TRACEBACK", raising=False)
    monkeypatch.setattr(entry, "_run", fails_with(ZeroDivisionError("secret")))
    assert entry._guarded(["probe"]) == 70
    assert capsys.readouterr().err == (
        "ssediag: a bug in ssediag: ZeroDivisionError "
        "(set SSEDIAG_TRACEBACK=1 and run it again for the details)\n"
        "Please report it with the command line and the version.\n"
    )


def test_a_bug_of_ours_shows_its_traceback_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSEDIAG_TRACEBACK", "1")
    monkeypatch.setattr(entry, "_run", fails_with(ZeroDivisionError("details")))
    assert entry._guarded(["probe"]) == 70
    assert "ZeroDivisionError: details" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "_run", fails_with(KeyboardInterrupt()))
    assert entry._guarded(["probe"]) == 130


@pytest.mark.parametrize("body", [MUCH, LITTLE])
def test_a_reader_that_goes_away_ends_us_quietly(body: str) -> None:
    # The reader ends before it reads; the writer waits until it has.
    waiting = f"import time; time.sleep(0.3); {body}"
    assert run_body(waiting, '| true; exit "${PIPESTATUS[0]}"') == (0, "")


def test_a_broken_socket_is_a_bug_and_no_success() -> None:
    code, said = run_body(BROKEN_SOCKET)
    assert (code, said[:42]) == (70, "ssediag: a bug in ssediag: BrokenPipeError")


@pytest.mark.parametrize("body", [MUCH, LITTLE])
def test_a_full_disk_behind_stdout_is_74(body: str) -> None:
    code, said = run_body(body, "> /dev/full")
    assert (code, said) == (74, "ssediag: cannot write the output: No space left on device\n")


def test_a_closed_stdout_changes_no_exit_code() -> None:
    assert run_body(LITTLE, ">&-") == (0, "")


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run("prob").returncode == 2
