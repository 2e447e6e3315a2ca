"""A pasted curl command line as options of ours: for ``ssediag probe -- curl …``."""

import base64
from collections.abc import Iterator, Sequence

import typer

# curl's options that say the same here, under the long name that we share.
_SAME = {
    "-X": "--request", "--request": "--request", "-H": "--header", "--header": "--header",
    "--cacert": "--cacert", "-E": "--cert", "--cert": "--cert", "--key": "--key",
    "--resolve": "--resolve", "--connect-to": "--connect-to", "--unix-socket": "--unix-socket",
    "-x": "--proxy", "--proxy": "--proxy", "--noproxy": "--noproxy", "-m": "--timeout",
    "--max-time": "--timeout",
}  # fmt: skip
_SAME_FLAGS = {
    "-k": "--insecure", "--insecure": "--insecure", "--http1.1": "--http1.1", "--http2": "--http2",
    "--http2-prior-knowledge": "--http2-prior-knowledge",
}  # fmt: skip
_DATA = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"})
# What only concerns curl's own output or what we do anyway.
_IGNORED = frozenset({"-o", "--output", "-w", "--write-out", "--connect-timeout", "--stderr",
                      "-D", "--dump-header", "--trace", "--trace-ascii", "--max-redirs",
                      "--retry"})  # fmt: skip
_IGNORED_FLAGS = frozenset({"-s", "--silent", "-S", "--show-error", "-N", "--no-buffer", "-i",
                            "--include", "-v", "--verbose", "-L", "--location", "-f", "--fail",
                            "--fail-with-body", "-#", "--progress-bar", "--trace-time", "-g",
                            "--globoff", "--compressed", "--tcp-nodelay", "--raw"})  # fmt: skip
_HEADERS = {"-A": "User-Agent", "--user-agent": "User-Agent", "-e": "Referer",
            "--referer": "Referer", "-b": "Cookie", "--cookie": "Cookie"}  # fmt: skip
_FORM = "Content-Type: application/x-www-form-urlencoded"


def from_curl(words: Sequence[str]) -> list[str]:
    """The words after ``curl`` as our own: options, then the URL.

    Raises typer.BadParameter for an option that has no like here.
    """
    urls: list[str] = []
    options: list[str] = []
    bodies: list[str] = []
    for option, value in _pairs(words):
        if option in {"", "--url"}:
            urls.append(value)
        elif option in _DATA:
            bodies.append(_body(option, value))
            options += _json_headers(option)
        else:
            options += _translated(option, value)
    if len(urls) != 1:
        raise typer.BadParameter(f"the curl command names {len(urls)} URLs: give one")
    if bodies:
        options += ["--data", "&".join(bodies)]
        options += [] if _names(options, "content-type") else ["--header", _FORM]
    url = urls[0] if "://" in urls[0] else f"http://{urls[0]}"
    return [*options, url]


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Option and value (empty for a flag); a bare word has the option ``""``."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("--") or len(word) <= 2 or not word.startswith("-"):  # noqa: PLR2004 - "-x"
            if not word.startswith("-"):
                yield "", word
            elif _takes_value(word):
                yield word, _next(word, rest)
            else:
                yield word, ""
        elif _takes_value(word[:2]):  # -Hname: value
            yield word[:2], word[2:]
        else:  # -sN
            yield word[:2], ""
            rest.insert(0, f"-{word[2:]}")


def _takes_value(option: str) -> bool:
    known = option in _SAME or option in _DATA or option in _IGNORED or option in _HEADERS
    return known or option in {"-u", "--user", "--url"}


def _next(option: str, rest: list[str]) -> str:
    if not rest:
        raise typer.BadParameter(f"curl's {option} has no value")
    return rest.pop(0)


def _translated(option: str, value: str) -> list[str]:
    if option in _SAME:
        return [_SAME[option], value]
    if option in _SAME_FLAGS:
        return [_SAME_FLAGS[option]]
    if option in _HEADERS:
        return ["--header", f"{_HEADERS[option]}: {value}"]
    if option in {"-u", "--user"}:
        token = base64.b64encode(value.encode()).decode()
        return ["--header", f"Authorization: Basic {token}"]
    if option in _IGNORED or option in _IGNORED_FLAGS:
        return []
    raise typer.BadParameter(f"curl's option {option} is not understood here")


def _body(option: str, value: str) -> str:
    """The body as we take it; ``--data-raw`` does not read files."""
    if option == "--data-raw" and value.startswith("@"):
        raise typer.BadParameter("--data-raw with a leading @ cannot be given: use --data @FILE")
    return value


def _json_headers(option: str) -> list[str]:
    if option != "--json":
        return []
    return ["--header", "Content-Type: application/json", "--header", "Accept: application/json"]


def _names(options: Sequence[str], header: str) -> bool:
    return any(word.lower().startswith(f"{header}:") for word in options)
