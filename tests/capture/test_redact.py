"""Secrets do not survive; everything else does."""

import shlex

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ssediag.capture.redact import (
    is_credential_header,
    redact_command,
    redact_headers,
    redact_url,
    scrub,
)

CANARY = "canary4711"

secret_parameters = st.sampled_from(
    [
        "key",
        "api_key",
        "apikey",
        "API-Key",
        "token",
        "access_token",
        "auth",
        "sig",
        "signature",
        "client_secret",
        "password",
        "passwd",
        "code",
        "credential",
        "X-Amz-Signature",
        "X-Amz-Credential",
        "X-Goog-Signature",
        "subscription-key",
        "api%5Fkey",
        "sessionid",
    ]
)
secret_headers = st.sampled_from(
    [
        "Authorization",
        "proxy-authorization",
        "Cookie",
        "Set-Cookie",
        "x-api-key",
        "api-key",
        "X-Goog-Api-Key",
        "X-Amz-Security-Token",
        "X-Auth",
        "x-session-id",
        "X-Password",
        "Ocp-Apim-Subscription-Key",
        "x-portkey-virtual-key",
        "Helicone-Auth",
        "X-SID",
    ]
)
plain_text = st.text(st.characters(codec="utf-8"), max_size=12)
around = st.text("abc/?&=;#@:% .-_", max_size=10)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h.example/v1/chat?a=1&b=2", "https://h.example/v1/chat?a=1&b=2"),
        ("https://u:p@h.example:8443/x", "https://***@h.example:8443/x"),
        ("https://u:p@ss@h.example/x", "https://***@h.example/x"),
        ("https://u:pa/ss@h.example/x", "https://***@h.example/x"),
        ("https://u:pa#ss@h.example/x", "https://***@h.example/x"),
        ("gw=https://u:p@h/x", "gw=https://***@h/x"),
        ("//u:p@h/x", "//***@h/x"),
        ("u:p@h:80", "***@h:80"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("http://[::1/x?key=s", "http://[::1/x?key=***"),
        ("https://h/@scope/package", "https://h/@scope/package"),
        ("https://h/x?key=s&stream=true", "https://h/x?key=***&stream=true"),
        ("/x?stream=true&max_tokens=64", "/x?stream=true&max_tokens=64"),
        ("https://h/x?X-Amz-Date=1&n=2", "https://h/x?X-Amz-Date=***&n=2"),
        ("https://h/a;jsessionid=s;v=1/b", "https://h/a;jsessionid=***;v=1/b"),
        ("https://h/x#access_token=s", "https://h/x#***"),
        ("https://h/x?a=1;token=s", "https://h/x?a=***"),
        ("https://h/x?next=https%3A%2F%2Fi%2F%3Ftoken%3Ds", "https://h/x?next=***"),
        ("https://h/x?next=https%3A%2F%2Fi%2Fy", "https://h/x?next=https%3A%2F%2Fi%2Fy"),
        ("https://h/x?q=sk-0123456789abc", "https://h/x?q=***"),
        ("https://h/sk-0123456789abc/x", "https://h/***/x"),
        ("", ""),
    ],
)
def test_a_url_shows_all_but_its_secrets(url: str, shown: str) -> None:
    assert redact_url(url) == shown


@given(name=secret_parameters, before=around, after=around)
def test_the_value_of_a_secret_parameter_never_survives(name: str, before: str, after: str) -> None:
    assume("#" not in before)
    url = f"https://host.example/v1?{before}&{name}={CANARY}&{after}"
    assert CANARY not in redact_url(url)


@given(name=secret_parameters, scheme=st.sampled_from(["http://", "wss://", "//", "", "gw=h2c://"]))
def test_userinfo_never_survives(name: str, scheme: str) -> None:
    url = f"{scheme}{CANARY}:{CANARY}@host.example/{name}/x"
    assert redact_url(url).endswith(f"***@host.example/{name}/x")
    assert CANARY not in redact_url(url)


@given(st.text())
@example("http://[")
@example("http://\x00@")
def test_any_text_can_be_redacted_and_twice_is_once(text: str) -> None:
    once = redact_url(text)
    assert redact_url(once) == once


@given(name=secret_headers, value=around, scheme=st.sampled_from(["", "Bearer ", "Basic ", "X "]))
def test_the_value_of_a_credential_header_never_survives(
    name: str, value: str, scheme: str
) -> None:
    pairs = redact_headers([(name, f"{scheme}{value}{CANARY}{value}")])
    assert CANARY not in repr(pairs)
    assert redact_headers(pairs) == pairs


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Authorization", "Bearer abc", "Bearer ***"),
        ("authorization", "basic YTpi", "basic ***"),
        ("Authorization", "abc def", "***"),
        ("Authorization", "Bearer", "***"),
        ("Proxy-Authorization", "Basic YTpi", "Basic ***"),
        ("Set-Cookie", "id=1; Path=/", "***"),
        ("x-api-key", "Bearer abc", "***"),
        ("Location", "https://u:p@h/?token=a,b", "https://***@h/?token=***"),
        ("Location", "/login?code=1&a=2", "/login?code=***&a=2"),
        ("Link", '<https://h/?key=1>; rel="next"', '<https://h/?key=***>; rel="next"'),
        ("X-Echo", "was sk-0123456789abc", "was ***"),
        ("Via", "1.1 varnish (Varnish/7.1)", "1.1 varnish (Varnish/7.1)"),
        ("Content-Type", "text/event-stream; charset=utf-8", "text/event-stream; charset=utf-8"),
        ("x-ratelimit-remaining-tokens", "9500", "9500"),
    ],
)
def test_a_header_shows_all_but_its_secrets(name: str, value: str, shown: str) -> None:
    assert redact_headers([(name, value)]) == ((name, shown),)


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("AUTHORIZATION", True),
        ("cookie", True),
        ("X-Custom-Secret", True),
        ("api_key", True),
        (":authority", False),
        ("Sec-WebSocket-Key", False),
        ("WWW-Authenticate", False),
        ("Access-Control-Allow-Credentials", False),
        ("anthropic-ratelimit-tokens-remaining", False),
        ("Keep-Alive", False),
        ("X-Accel-Buffering", False),
        ("X-Session-Passes", True),
    ],
)
def test_credential_headers_are_known_by_name(name: str, is_secret: bool) -> None:  # noqa: FBT001 (a column of the table)
    assert is_credential_header(name) is is_secret


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["ssediag", "probe", "https://h/v1"], "ssediag probe https://h/v1"),
        (["curl", "-H", "Authorization: Bearer s"], "curl -H 'Authorization: Bearer ***'"),
        (["curl", "-HX-Api-Key: s"], "curl '-HX-Api-Key: ***'"),
        (["curl", "-sNH", "Cookie: a=s"], "curl -sNH 'Cookie: ***'"),
        (["curl", "--header=api-key:s"], "curl '--header=api-key: ***'"),
        (["ssediag", "-H", "gw:X-Api-Key: s"], "ssediag -H 'gw:X-Api-Key: ***'"),
        (["curl", "-H", "Accept: a/b"], "curl -H 'Accept: a/b'"),
        (["curl", "-H", "Host: h:80"], "curl -H 'Host: h:80'"),
        (["curl", "-H", "bare-secret"], "curl -H '***'"),
        (["curl", "-H", "X-Empty;"], "curl -H 'X-Empty;'"),
        (["curl", "-H", "@headers.txt"], "curl -H @headers.txt"),
        (["curl", "-u", "me:s"], "curl -u '***'"),
        (["curl", "-sume:s"], "curl '-su***'"),
        (["curl", "--user=me:s"], "curl '--user=***'"),
        (["curl", "-d", '{"a": 1}'], "curl -d '***'"),
        (["curl", '-d{"a": 1}', "x"], "curl '-d***' x"),
        (["curl", "--data-raw", "s", "h"], "curl --data-raw '***' h"),
        (["ssediag", "--prompt", "private"], "ssediag --prompt '***'"),
        (["ssediag", "--max-tokens", "64"], "ssediag --max-tokens 64"),
        (["ssediag", "--max-tokens=64"], "ssediag --max-tokens=64"),
        (["ssediag", "--bearer-env", "gw=KEY"], "ssediag --bearer-env gw=KEY"),
        (["curl", "-x", "http://u:s@p:3128"], "curl -x 'http://***@p:3128'"),
        (["curl", "-x", "u:s@p:3128"], "curl -x '***@p:3128'"),
        (["curl", "-X", "POST", "h?token=s"], "curl -X POST 'h?token=***'"),
        (["curl", "-E", "c.pem:s", "-k"], "curl -E 'c.pem:***' -k"),
        (["curl", "--cert", "c.pem"], "curl --cert c.pem"),
        (["env", "OPENAI_API_KEY=s", "run"], "env 'OPENAI_API_KEY=***' run"),
        (["ssediag", "auth=https://h/x"], "ssediag auth=https://h/x"),
        (["ssediag", "diagnose", "-"], "ssediag diagnose -"),
        (["ssediag", "--share-auth", "h"], "ssediag --share-auth h"),
        ([], ""),
    ],
)
def test_a_command_line_shows_all_but_its_secrets(command: list[str], shown: str) -> None:
    assert redact_command(command) == shown


secret_arguments = st.one_of(
    st.builds(lambda name: ["-H", f"{name}: {CANARY}"], secret_headers),
    st.builds(lambda name: [f"-H{name}: Bearer {CANARY}"], secret_headers),
    st.builds(lambda name: ["--header", f"hop:{name}: {CANARY}"], secret_headers),
    st.builds(lambda name: [f"http://h/?{name}={CANARY}"], secret_parameters),
    st.sampled_from(["-u", "--user", "-d", "--data", "--data-binary", "--json", "-b"]).map(
        lambda option: [option, f"a:{CANARY}"]
    ),
    st.just([f"--data={CANARY}"]),
    st.just([f"https://{CANARY}@h/"]),
)


@given(st.lists(st.one_of(secret_arguments, st.sampled_from([["-k"], ["-sN"], ["http://h/"]]))))
def test_no_secret_survives_in_a_command_line(groups: list[list[str]]) -> None:
    command = redact_command([argument for group in groups for argument in group])
    assert CANARY not in command


@given(st.lists(st.text(st.characters(exclude_characters="@?#=:;/-"))))
def test_harmless_arguments_are_only_quoted(arguments: list[str]) -> None:
    assume(not any(redact_url(argument) != argument for argument in arguments))
    assert shlex.split(redact_command(arguments)) == arguments


@given(before=plain_text, secret=st.text(min_size=1), after=plain_text)
def test_a_literal_secret_never_survives_in_a_message(before: str, secret: str, after: str) -> None:
    assume("*" not in secret)
    assert secret not in scrub(before + secret + after, [secret])


def test_scrub_takes_the_longest_secret_first_and_ignores_empty_ones() -> None:
    assert scrub("key abcdef and abc", ["abc", "", "abcdef"]) == "key *** and ***"


def test_scrub_finds_a_percent_encoded_secret() -> None:
    assert scrub("GET /?q=a%2Fb%3D", ["a/b="]) == "GET /?q=***"


def test_scrub_without_secrets_changes_nothing() -> None:
    assert scrub("as it was", []) == "as it was"
