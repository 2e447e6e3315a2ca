"""From route options to what is dialled."""

import pytest
import typer

from ssediag.capture.dial import HttpVersion, Route
from ssediag.cli.durations import duration_ns
from ssediag.cli.route import Ways, parse_at, parse_places, parse_proxy, parse_version, route_for


@pytest.mark.parametrize(
    ("text", "ns"),
    [("2s", 2_000_000_000), ("500ms", 500_000_000), ("1m", 60_000_000_000), ("1.5", 1_500_000_000)],
)
def test_durations_are_read_as_users_write_them(text: str, ns: int) -> None:
    assert duration_ns(text) == ns


@pytest.mark.parametrize("text", ["", "abc", "-1s", "0", "1d", "1e3"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        duration_ns(text)


@pytest.mark.parametrize(
    ("connect_to", "resolve", "dialled"),
    [
        (["h:80:127.0.0.1:8080"], [], ("127.0.0.1", 8080)),
        (["::[::1]:8080"], [], ("::1", 8080)),
        (["h:80::8080"], [], ("h", 8080)),
        (["other:80:127.0.0.1:8080"], [], None),
        ([], ["h:80:127.0.0.9"], ("127.0.0.9", 80)),
        ([], ["h:81:127.0.0.9"], None),
        ([], ["h:80:[::1],127.0.0.1"], ("::1", 80)),
    ],
)
def test_connect_to_and_resolve_are_curls(
    connect_to: list[str], resolve: list[str], dialled: tuple[str, int] | None
) -> None:
    ways = Ways(Route(), places=parse_places(connect_to, resolve))
    assert route_for(ways, "hop", "http://h/").connect_to == dialled


def test_at_names_the_place_of_one_hop_and_keeps_its_port() -> None:
    ways = Ways(Route(), hops=parse_at(["a=10.0.0.1", "b=[::1]:99"], ["a", "b", "c"]))
    assert route_for(ways, "a", "https://h/").connect_to == ("10.0.0.1", 443)
    assert route_for(ways, "b", "https://h/").connect_to == ("::1", 99)
    assert route_for(ways, "c", "https://h/").connect_to is None


@pytest.mark.parametrize("word", ["a:b", "h:80:x", "h:99999:x:1", "h:x:y:1"])
def test_a_place_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_places([word], [])


def test_h2c_is_prior_knowledge_for_that_target_only() -> None:
    ways = Ways(Route())
    assert route_for(ways, "a", "h2c://h/").http_version is HttpVersion.PRIOR_KNOWLEDGE
    assert route_for(ways, "a", "http://h/").http_version is HttpVersion.AUTO


def test_two_http_versions_at_once_are_refused() -> None:
    with pytest.raises(typer.BadParameter):
        parse_version(http1=True, http2=True, prior_knowledge=False)


def test_an_environment_proxy_is_used_and_its_variable_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    route = route_for(Ways(Route()), "a", "https://h/")
    assert (route.proxy, route.proxy_source) == ("http://proxy.example:3128", "HTTPS_PROXY")
    assert route_for(Ways(Route()), "a", "http://h/").proxy is None


def test_no_proxy_and_noproxy_keep_a_host_off_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "h")
    assert route_for(Ways(Route()), "a", "http://h/").proxy is None
    assert route_for(Ways(Route(), no_proxy="*"), "a", "http://other/").proxy is None
    assert route_for(Ways(Route()), "a", "http://other/").proxy == "http://proxy.example:3128"


def test_a_given_proxy_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    ways = Ways(Route(), proxy=parse_proxy("other.example:1"), no_proxy="near.example")
    assert route_for(ways, "a", "http://h/").proxy == "http://other.example:1"
    assert route_for(ways, "a", "http://near.example/").proxy is None


def test_a_proxy_that_cannot_be_spoken_is_refused() -> None:
    with pytest.raises(typer.BadParameter):
        parse_proxy("socks5://h:1")
