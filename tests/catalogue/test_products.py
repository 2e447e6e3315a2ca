"""Headers as real chains send them, and who is named by them."""

import pytest

from ssediag.catalogue.load import product_signs
from ssediag.catalogue.products import name_product
from ssediag.model.recording import Role

Headers = tuple[tuple[str, str], ...]


@pytest.mark.parametrize(
    ("headers", "product", "because"),
    [
        ((("Server", "nginx/1.22.1"),), "nginx", "Server: nginx/1.22.1"),
        ((("server", "istio-envoy"),), "Envoy", "server: istio-envoy"),
        ((("Server", "Apache/2.4.71 (Debian)"),), "Apache", "Server: Apache/2.4.71 (Debian)"),
        ((("Server", "lighttpd/1.4.69"),), "lighttpd", "Server: lighttpd/1.4.69"),
        ((("Server", "ATS/9.2.9"),), "Apache Traffic Server", "Server: ATS/9.2.9"),
        ((("Via", "1.1 Caddy"),), "Caddy", "Via: 1.1 Caddy"),
        ((("Via", "1.1 varnish (Varnish/7.1)"),), "Varnish", "Via: 1.1 varnish (Varnish/7.1)"),
        ((("X-Powered-By", "Express"),), "Express", "X-Powered-By: Express"),
        ((("server", "uvicorn"),), "Python app server", "server: uvicorn"),
        ((("Server", "llama.cpp"),), "llama.cpp", "Server: llama.cpp"),
    ],
)
def test_a_header_names_its_product(headers: Headers, product: str, because: str) -> None:
    named = name_product(headers)
    assert named is not None
    assert (named[0], named[2]) == (product, because)


@pytest.mark.parametrize(
    ("headers", "product"),
    [
        ((("Via", "1.1 varnish, 1.1 Caddy"), ("X-Varnish", "5")), "Caddy"),
        ((("Via", "1.1 varnish"), ("Via", "1.1 squid-host (squid/5.7)")), "Squid"),
        ((("Server", "nginx"), ("x-litellm-version", "1.108")), "nginx"),
        ((("Server", "nginx"), ("CF-Ray", "8a-FRA")), "nginx"),
        ((("Server", "cloudflare"), ("x-envoy-upstream-service-time", "9")), "Cloudflare"),
        ((("Server", "nginx"), ("Via", "1.1 varnish"), ("X-Served-By", "cache-fra1")), "Fastly"),
        ((("server", "uvicorn"), ("x-litellm-call-id", "a")), "LiteLLM"),
    ],
)
def test_of_several_the_outermost_is_named(headers: Headers, product: str) -> None:
    named = name_product(headers)
    assert named is not None
    assert named[0] == product


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Content-Type", "text/event-stream"), ("Date", "today")),
        (("Server", "my-nginx-like"),),
        (("Via", "1.1 varnish, 1.1 somebody"),),
    ],
)
def test_a_hop_without_a_sign_stays_without_a_name(headers: Headers) -> None:
    assert name_product(headers) is None


def test_every_sign_is_looked_up_by_a_lower_case_name_and_has_a_known_role() -> None:
    assert [sign for sign in product_signs() if sign.header != sign.header.lower()] == []
    assert {sign.role for sign in product_signs()} <= set(Role)
