"""Where redirects lead, and that no credential follows to another host."""

import pytest

from ssediag.jobs.redirect import redirected
from ssediag.model.request import Request
from tests.diagnose.tapes import stream

GET = Request("GET", "http://h/a/b?x=1", (("Authorization", "Bearer c4n4ry"), ("Accept", "*/*")))
POST = Request("POST", "http://h/a", (("Content-Type", "application/json"), ("X", "1")), b"{}")


def following(request: Request, status: int, location: str | None) -> Request | None:
    headers = () if location is None else (("Location", location),)
    return redirected(request, stream([], status=status, headers=headers))


@pytest.mark.parametrize(
    ("location", "url"),
    [("/c", "http://h/c"), ("c", "http://h/a/c"), ("//other/c", "http://other/c"),
     ("https://h/c", "https://h/c")],
)  # fmt: skip
def test_a_location_is_relative_to_where_it_was_given(location: str, url: str) -> None:
    request = following(GET, 302, location)
    assert request is not None
    assert request.url == url


@pytest.mark.parametrize("location", [None, "", "ftp://h/", "mailto:x", "javascript:1"])
def test_a_redirect_that_leads_nowhere_is_the_answer(location: str | None) -> None:
    assert following(GET, 301, location) is None


def test_other_statuses_are_no_redirects() -> None:
    assert following(GET, 200, "/c") is None
    assert following(GET, 304, "/c") is None


@pytest.mark.parametrize(("location", "kept"), [("/c", True), ("http://h:99/c", True),
                                                ("http://evil/c", False)])  # fmt: skip
def test_a_credential_follows_to_the_same_host_only(location: str, *, kept: bool) -> None:
    request = following(GET, 307, location)
    assert request is not None
    assert ("Authorization" in dict(request.headers)) is kept
    assert dict(request.headers)["Accept"] == "*/*"


def test_a_credential_does_not_leave_tls() -> None:
    secure = Request("GET", "https://h/", GET.headers)
    request = following(secure, 302, "http://h/")
    assert request is not None
    assert "Authorization" not in dict(request.headers)


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"),
                                                (307, "POST"), (308, "POST")])  # fmt: skip
def test_a_post_stays_one_only_where_the_status_says_so(status: int, method: str) -> None:
    request = following(POST, status, "/c")
    assert request is not None
    assert request.method == method
    assert (request.body == b"{}") is (method == "POST")
    assert ("Content-Type" in dict(request.headers)) is (method == "POST")
