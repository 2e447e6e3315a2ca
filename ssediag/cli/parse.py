"""From command-line words to targets and requests; every mistake is one line and exit code 2."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import typer

from ssediag.capture.redact import redact_url
from ssediag.capture.store import RecordingError, read_recording
from ssediag.cli.route import Ways, plain_url, route_for
from ssediag.jobs.request import Asked, build_request
from ssediag.jobs.targets import Target
from ssediag.model.recording import Hop, Role

_SCHEMES = ("http", "https", "h2c")


def hop_names(words: Sequence[str]) -> list[str]:
    """The names that the hops of a comparison will have."""
    return _unique_names([_split(word) for word in words])


def parse_targets(words: Sequence[str], asked: Asked, ways: Ways) -> tuple[Target, ...]:
    """Targets in the order given, inner first: ``URL``, ``NAME=URL`` or ``NAME=FILE``."""
    named = [_split(word) for word in words]
    names = _unique_names(named)
    first_url = next((value for _, value in named if _is_url(value)), "")
    _check_hop_names(asked, names)
    return tuple(
        _target(name, value, position, asked, ways, first_url, alone=len(named) == 1)
        for position, (name, (_, value)) in enumerate(zip(names, named, strict=True))
    )


def _split(word: str) -> tuple[str | None, str]:
    """The name before ``=`` if there is one; a ``=`` inside a URL's query names nothing."""
    name, equals, value = word.partition("=")
    if equals and name and all(letter.isalnum() or letter in "-_." for letter in name):
        return name, value
    return None, word


def _is_url(value: str) -> bool:
    return "://" in value


def _unique_names(named: Sequence[tuple[str | None, str]]) -> list[str]:
    names: list[str] = []
    for name, value in named:
        chosen = name or (urlsplit(value).netloc.rpartition("@")[2] or value)
        if name is not None and name in names:
            raise typer.BadParameter(f"two hops are called {name!r}")
        count = 2
        candidate = chosen
        while candidate in names:
            candidate = f"{chosen}#{count}"
            count += 1
        names.append(candidate)
    return names


def _check_hop_names(asked: Asked, names: Sequence[str]) -> None:
    for hop, key, _ in asked.headers:
        if hop is not None and hop not in names:
            raise typer.BadParameter(f"header {key!r} is for hop {hop!r}, which is not given")


def _target(
    name: str,
    value: str,
    position: int,
    asked: Asked,
    ways: Ways,
    first_url: str,
    *,
    alone: bool,
) -> Target:
    role = _role(name, position, alone=alone)
    if not _is_url(value):
        return _recorded(name, Path(value), position, role)
    _check_url(value)
    hop = Hop(name, redact_url(value), position, role)
    request = build_request(plain_url(value), name, asked, plain_url(first_url))
    return Target(hop, request, route_for(ways, name, value))


def _role(name: str, position: int, *, alone: bool) -> Role:
    if name in set(Role):
        return Role(name)
    return Role.INSTANCE if position == 0 and not alone else Role.UNKNOWN


def _check_url(value: str) -> None:
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise typer.BadParameter(f"{redact_url(value)} is no URL: {error}") from error
    if parts.scheme.lower() not in _SCHEMES:
        raise typer.BadParameter(
            f"{parts.scheme}:// is not measured: give http://, https:// or h2c://"
        )
    if not parts.hostname or port == 0:
        raise typer.BadParameter(f"{redact_url(value)} names no host to connect to")


def _recorded(name: str, path: Path, position: int, role: Role) -> Target:
    """The streams of a recording, as one hop of this comparison."""
    if not path.exists():
        raise typer.BadParameter(f"{str(path)!r} is neither a URL (http://…) nor a file")
    try:
        streams = read_recording(path)
    except RecordingError as error:
        raise typer.BadParameter(f"{path}: {error}") from error
    hops = sorted({stream.hop for stream in streams}, key=lambda hop: hop.position)
    matching = [hop for hop in hops if hop.name == name] or hops[:1]
    if len(hops) > 1 and not any(hop.name == name for hop in hops):
        known = ", ".join(hop.name for hop in hops)
        raise typer.BadParameter(f"{path} holds several hops ({known}): name one of them")
    if not matching:
        raise typer.BadParameter(f"{path} holds no run")
    hop = Hop(name, matching[0].target, position, role)
    own = [stream for stream in streams if stream.hop == matching[0]]
    return Target(hop, recorded=tuple(replace(stream, hop=hop) for stream in own))


def parse_headers(
    words: Sequence[str], hop_names: Sequence[str]
) -> list[tuple[str | None, str, str]]:
    """``K: V`` for every hop, ``NAME:K: V`` for one. Refuses what could break the request."""
    parsed = []
    for word in words:
        hop, rest = None, word
        head, colon, tail = word.partition(":")
        if colon and head in hop_names and ":" in tail:
            hop, rest = head, tail
        key, colon, value = rest.partition(":")
        if not colon or not key.strip():
            raise typer.BadParameter("a header is written 'Name: value'")
        if any(ord(letter) < ord(" ") or ord(letter) > ord("~") for letter in rest):
            raise typer.BadParameter(
                f"header {key.strip()!r} holds a character HTTP does not allow"
            )
        parsed.append((hop, key.strip(), value.strip()))
    return parsed


def parse_bearers(words: Sequence[str]) -> list[tuple[str | None, str, str]]:
    """Authorization headers from the environment variables that ``[NAME=]ENV`` names."""
    parsed: list[tuple[str | None, str, str]] = []
    for word in words:
        hop, equals, variable = word.rpartition("=")
        value = os.environ.get(variable)
        if not value:
            raise typer.BadParameter(f"the environment variable {variable} is not set")
        parsed.append((hop if equals else None, "Authorization", f"Bearer {value}"))
    return parsed


def parse_body(data: str | None) -> bytes | None:
    """The request body: text, ``@FILE``, or ``-`` / ``@-`` for standard input."""
    if data is None:
        return None
    if data in {"-", "@-"}:
        return sys.stdin.buffer.read()
    if not data.startswith("@"):
        return data.encode()
    try:
        return Path(data[1:]).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{data[1:]}: {error.strerror}") from error
