"""A curl command line, pasted as it is."""

import pytest
import typer

from ssediag.cli.curl import from_curl


def test_what_both_know_goes_over_and_curls_own_output_options_do_not() -> None:
    words = [
        "-sN",
        "-X",
        "POST",
        "-HAccept: */*",
        "-o",
        "/dev/null",
        "--http1.1",
        "-m",
        "5",
        "h/v1",
    ]
    assert from_curl(words) == [
        "--request", "POST", "--header", "Accept: */*", "--http1.1", "--timeout", "5", "http://h/v1",
    ]  # fmt: skip


def test_data_gets_curls_content_type_unless_one_is_given() -> None:
    form = "Content-Type: application/x-www-form-urlencoded"
    assert from_curl(["-d", "a=1", "-d", "b=2", "http://h"]) == [
        "--data", "a=1&b=2", "--header", form, "http://h",
    ]  # fmt: skip
    assert form not in from_curl(["-d", "{}", "-H", "content-type: application/json", "http://h"])
    assert "Content-Type: application/json" in from_curl(["--json", "{}", "http://h"])


def test_a_user_becomes_an_authorization() -> None:
    assert from_curl(["-u", "a:b", "http://h"])[:2] == ["--header", "Authorization: Basic YTpi"]


@pytest.mark.parametrize(
    "words",
    [[], ["http://a", "http://b"], ["-F", "a=b", "http://h"], ["http://h", "-H"],
     ["--data-raw", "@f", "http://h"]],
)  # fmt: skip
def test_what_cannot_be_carried_over_is_refused(words: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        from_curl(words)
