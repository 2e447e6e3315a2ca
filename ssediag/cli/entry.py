"""The console entry: answers ``--help`` and ``--version`` at once, and hands over the rest.

Nothing heavy is imported before it is known that a measurement is wanted: a tool that is typed
many times a day must not make its user wait for its help.
"""

import os
import sys
from importlib.resources import files
from io import TextIOWrapper

from ssediag import __version__

_EXIT_BUG = 70
_EXIT_INTERRUPTED = 130
_HELP_WORDS = ([], ["--help"], ["-h"])


def main() -> None:
    """Run ``sys.argv`` and exit with the contract's code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without Unicode still gets its report
            stream.reconfigure(errors="replace")
    sys.exit(_guarded(sys.argv[1:]))


def _guarded(arguments: list[str]) -> int:
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone: not an error, and nothing more may be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    except Exception as error:  # why: the last line of defence; a user gets no traceback
        if os.environ.get("SSEDIAG_TRACEBACK"):
            raise
        return _bug(error)
    return code


def _run(arguments: list[str]) -> int:
    if arguments in _HELP_WORDS:
        sys.stdout.write(files("ssediag.cli").joinpath("help.txt").read_text("utf-8"))
        return 0
    if arguments == ["--version"]:
        sys.stdout.write(f"ssediag {__version__}\n")
        return 0
    from ssediag.cli.app import run  # noqa: PLC0415 - the reason for this module

    return run(arguments)


def _bug(error: Exception) -> int:
    sys.stderr.write(
        f"ssediag: a bug in ssediag: {type(error).__name__} "
        "(set SSEDIAG_TRACEBACK=1 and run it again for the details)\n"
        "Please report it with the command line and the version.\n"
    )
    return _EXIT_BUG
