"""From the route options of the command line to the way each hop is dialled."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

import typer

from ssediag.capture.dial import HttpVersion, Route
from ssediag.capture.redact import redact_url

_DEFAULT_PORTS = {"http": 80, "h2c": 80, "https": 443}
Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Ways:
    """The route options, parsed: what holds for every hop, and what for some.

    ``places`` maps host and port of a URL to what is dialled instead (None: any); ``hops`` maps
    hop names likewise, with the port None where the URL's is kept. ``proxy`` is what the user
    gave, ``no_proxy`` the hosts that need none.
    """

    route: Route
    places: tuple[tuple[tuple[str | None, int | None], tuple[str | None, int | None]], ...] = ()
    hops: tuple[tuple[str, tuple[str, int | None]], ...] = ()
    proxy: str | None = None
    no_proxy: str | None = None


def route_for(ways: Ways, name: str, url: str) -> Route:
    """The route to hop ``name`` at ``url``."""
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS[parts.scheme.lower()]
    route = replace(ways.route, connect_to=_dialled(ways, name, parts.hostname or "", port))
    if parts.scheme.lower() == "h2c":
        route = replace(route, http_version=HttpVersion.PRIOR_KNOWLEDGE)
    if ways.proxy is not None:
        if _bypassed(parts.netloc, ways.no_proxy):
            return route
        return replace(route, proxy=ways.proxy, proxy_source="--proxy")
    found = None if route.unix_socket else _environment_proxy(parts.scheme, parts.netloc, ways)
    if found is None:
        return route
    variable, proxy = found
    return replace(route, proxy=proxy, proxy_source=variable)


def plain_url(url: str) -> str:
    """The URL that HTTP knows: ``h2c://`` is ``http://`` with prior knowledge."""
    scheme, separator, rest = url.partition("://")
    return f"http{separator}{rest}" if scheme.lower() == "h2c" else url


def _dialled(ways: Ways, name: str, host: str, port: int) -> Address | None:
    for hop, (address, own_port) in ways.hops:
        if hop == name:
            return address, own_port or port
    for (from_host, from_port), (to_host, to_port) in ways.places:
        if from_host in {None, host} and from_port in {None, port}:
            return to_host or host, to_port or port
    return None


def _bypassed(netloc: str, no_proxy: str | None) -> bool:
    if not no_proxy:
        return False
    return bool(proxy_bypass_environment(netloc, {"no": no_proxy}))


def _environment_proxy(scheme: str, netloc: str, ways: Ways) -> tuple[str, str] | None:
    """Variable and URL of the proxy that the environment names for this target."""
    proxies = getproxies_environment()
    kind = "https" if scheme.lower() == "https" else "http"
    proxy = proxies.get(kind) or proxies.get("all")
    given = {"no": ways.no_proxy} if ways.no_proxy is not None else None
    if not proxy or proxy_bypass_environment(netloc, given):
        return None
    names = [f"{kind}_proxy", "all_proxy"]
    variable = next(
        (key for key in os.environ if key.lower() in names and os.environ[key] == proxy), names[0]
    )
    return variable, proxy if "://" in proxy else f"http://{proxy}"


def parse_version(*, http1: bool, http2: bool, prior_knowledge: bool) -> HttpVersion:
    """The one HTTP version asked for. Raises typer.BadParameter for two at once."""
    if http1 + http2 + prior_knowledge > 1:
        raise typer.BadParameter("give one of --http1.1, --http2, --http2-prior-knowledge")
    if http1:
        return HttpVersion.HTTP_1_1
    if prior_knowledge:
        return HttpVersion.PRIOR_KNOWLEDGE
    return HttpVersion.HTTP_2 if http2 else HttpVersion.AUTO


def parse_places(
    connect_to: Sequence[str], resolve: Sequence[str]
) -> tuple[tuple[tuple[str | None, int | None], tuple[str | None, int | None]], ...]:
    """``HOST:PORT:TO:PORT`` and ``HOST:PORT:ADDR``, as curl takes them (empty: any or same)."""
    places = []
    for word in connect_to:
        parts = _split_address(word, 4)
        places.append(((parts[0] or None, _port(parts[1])), (parts[2] or None, _port(parts[3]))))
    for word in resolve:
        host, port, address = _split_address(word.lstrip("+"), 3)
        places.append(((None if host == "*" else host, _port(port)), (_first(address), None)))
    return tuple(places)


def _first(addresses: str) -> str:
    """The first of curl's comma-separated addresses, without brackets."""
    return addresses.split(",", maxsplit=1)[0].strip("[]")


def _split_address(word: str, count: int) -> list[str]:
    """The parts between colons; a part in brackets may hold colons of its own."""
    parts, depth = [""], 0
    for letter in word:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == ":" and depth == 0 and len(parts) < count:
            parts.append("")
        else:
            parts[-1] += letter
    if len(parts) != count:
        shape = "HOST:PORT:TO:PORT" if count == 4 else "HOST:PORT:ADDR"  # noqa: PLR2004 - as above
        raise typer.BadParameter(f"{word!r} is not {shape}")
    return [part.strip("[]") for part in parts]


def _port(text: str) -> int | None:
    if not text:
        return None
    if not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise typer.BadParameter(f"{text!r} is no port")
    return int(text)


def parse_at(
    words: Sequence[str], names: Sequence[str]
) -> tuple[tuple[str, tuple[str, int | None]], ...]:
    """``NAME=ADDR[:PORT]`` for hops that are given."""
    parsed = []
    for word in words:
        name, equals, place = word.partition("=")
        if not equals or not place or name not in names:
            raise typer.BadParameter(f"{word!r} is not NAME=ADDR[:PORT] of a hop that is given")
        host, port = _host_and_port(place)
        parsed.append((name, (host, port)))
    return tuple(parsed)


def _host_and_port(place: str) -> tuple[str, int | None]:
    if place.startswith("["):
        host, _, rest = place[1:].partition("]")
        return host, _port(rest.removeprefix(":"))
    host, colon, port = place.rpartition(":")
    if colon and ":" not in host:
        return host, _port(port)
    return place, None


def parse_proxy(url: str | None) -> str | None:
    """A forward proxy. Raises typer.BadParameter for a scheme that cannot be spoken."""
    if url is None:
        return None
    whole = url if "://" in url else f"http://{url}"
    if urlsplit(whole).scheme.lower() != "http" or not urlsplit(whole).hostname:
        raise typer.BadParameter(f"{redact_url(whole)} is no http:// proxy")
    return whole
