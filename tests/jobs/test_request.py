"""The request that goes out: defaults, the user's words over them, and credentials kept home."""

import json

import pytest

from ssediag.jobs.request import Asked, build_request
from ssediag.model.request import Request

FIRST = "http://instance.example:8000/v1"


def build(url: str = FIRST, name: str = "instance", **asked: object) -> Request:
    return build_request(url, name, Asked(**asked), FIRST)  # type: ignore[arg-type]


def test_a_plain_url_is_a_get_that_offers_what_real_clients_offer() -> None:
    request = build()
    assert (request.method, request.body) == ("GET", None)
    assert dict(request.headers)["Accept-Encoding"] == "gzip, deflate"


def test_a_chat_path_gets_a_small_streamed_post_with_a_fresh_nonce() -> None:
    bodies = [build("http://h/v1/chat/completions").body or b"" for _ in range(2)]
    first = json.loads(bodies[0])
    assert (first["stream"], first["max_tokens"]) == (True, 64)
    assert bodies[0] != bodies[1]


def test_the_default_post_says_what_was_asked() -> None:
    request = build("http://h/v1/chat/completions", prompt="hi", model="m", max_tokens=7)
    document = json.loads(request.body or b"")
    assert (document["model"], document["max_tokens"]) == ("m", 7)
    assert document["messages"][0]["content"].endswith(" hi")


@pytest.mark.parametrize("asked", [{"method": "GET"}, {"body": b"{}"}])
def test_a_method_or_a_body_switches_the_default_post_off(asked: dict[str, object]) -> None:
    assert build("http://h/v1/chat/completions", **asked).body in {None, b"{}"}


def test_the_users_headers_take_the_place_of_the_defaults() -> None:
    request = build(headers=((None, "accept-encoding", "br"), (None, "User-Agent", "")))
    names = {name.lower(): value for name, value in request.headers}
    assert names["accept-encoding"] == "br"
    assert "user-agent" not in names


def test_without_experiments_no_coding_is_offered() -> None:
    assert "Accept-Encoding" not in dict(build(plain=True).headers)


SECRET = ((None, "Authorization", "Bearer c4n4ry"), (None, "X-Trace", "1"))


def test_a_credential_goes_only_to_the_first_hops_host() -> None:
    same = build("http://instance.example:9000/v1", "proxy", headers=SECRET)
    other = build("http://cdn.example/v1", "cdn", headers=SECRET)
    assert dict(same.headers)["Authorization"] == "Bearer c4n4ry"
    assert "Authorization" not in dict(other.headers)
    assert dict(other.headers)["X-Trace"] == "1"


def test_a_credential_goes_elsewhere_when_it_is_given_for_that_hop_or_shared() -> None:
    own = build("http://cdn.example/", "cdn", headers=(("cdn", "Authorization", "Bearer x"),))
    shared = build("http://cdn.example/", "cdn", headers=SECRET, share_credentials=True)
    assert dict(own.headers)["Authorization"] == "Bearer x"
    assert dict(shared.headers)["Authorization"] == "Bearer c4n4ry"


def test_a_header_for_one_hop_reaches_no_other() -> None:
    assert "X-A" not in dict(build(headers=(("cdn", "X-A", "1"),)).headers)
