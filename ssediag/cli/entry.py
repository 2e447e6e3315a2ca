"""The console entry: answers ``--help`` and ``--version`` at once, and hands over the rest.

Nothing heavy is imported before it is known that a measurement is wanted: a tool that is typed
many times a day must not make its user wait for its help.
"""

import errno
import os
import pkgutil
import select
import sys
from io import TextIOWrapper

from ssediag import __version__

_EXIT_CLOSED_PIPE = 0
_EXIT_OF_TYPER = 1
_EXIT_BUG = 70
_EXIT_CANNOT_WRITE = 74
_EXIT_INTERRUPTED = 130
# What a full or failing disk behind stdout says; report files have their own message.
_OUTPUT_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def main() -> None:
    """Run ``sys.argv`` and exit with the contract's code."""
    _prepare_streams()
    sys.exit(_guarded(sys.argv[1:]))


def _prepare_streams() -> None:
    if sys.stdout is None:  # started with ">&-"
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - open until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - as above
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without Unicode still gets its report
            stream.reconfigure(errors="replace")


def _guarded(arguments: list[str]) -> int:
    """The exit code of a command line, whatever happens to it."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001  # why: the last line of defence
        return _failed(error)
    # typer ends with 1, and without a word, when a pipe breaks, and with 1 for nothing else here.
    return _failed(BrokenPipeError()) if code == _EXIT_OF_TYPER else code


def _run(arguments: list[str]) -> int:
    if arguments in ([], ["--help"], ["-h"]):
        help_text = pkgutil.get_data("ssediag.cli", "help.txt") or b""
        sys.stdout.write(help_text.decode())
        return 0
    if arguments == ["--version"]:
        sys.stdout.write(f"ssediag {__version__}\n")
        return 0
    from ssediag.cli.app import run  # noqa: PLC0415 - the reason for this module

    return run(arguments)


def _failed(error: Exception) -> int:
    if isinstance(error, BrokenPipeError) and _reader_is_gone():
        return _discard_output(_EXIT_CLOSED_PIPE)
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS:
        sys.stderr.write(f"ssediag: cannot write the output: {error.strerror}\n")
        return _discard_output(_EXIT_CANNOT_WRITE)
    return _bug(error)


def _reader_is_gone() -> bool:
    """Whether stdout is a pipe that nobody reads any more.

    A broken pipe alone does not say so: a socket that a command forgot to guard breaks too, and
    that is a bug that must not look like success.
    """
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))
    except (OSError, ValueError):
        return False


def _discard_output(code: int) -> int:
    """Let what is still buffered go nowhere, or Python would complain about it while it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _bug(error: Exception) -> int:
    # The exception's own text stays out: it may quote a URL or a header with a secret.
    hint = " (set SSEDIAG_TRACEBACK=1 and run it again for the details)"
    if os.environ.get("SSEDIAG_TRACEBACK"):
        import traceback  # noqa: PLC0415 - costs time that --help does not have

        traceback.print_exception(error)
        hint = ""
    sys.stderr.write(
        f"ssediag: a bug in ssediag: {type(error).__name__}{hint}\n"
        "Please report it with the command line and the version.\n"
    )
    return _EXIT_BUG
