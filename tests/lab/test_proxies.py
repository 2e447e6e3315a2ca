"""Real proxies with the lab's configurations, seen by a raw socket. Structure, not time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ssediag.lab.proxies import PRODUCTS, find_program
from ssediag.lab.proxies.run_folder import labels
from ssediag.lab.start import Part, instance, proxy
from tests.lab.client import events, fetch
from tests.lab.programs import need

EVERY = [
    (product, label, source)
    for product in PRODUCTS
    for label in labels(product)
    for source in ("system", "wheel")
    # Which of the two a machine has is its own affair; one of them it must have.
    if find_program(product, source) is not None or source == "system"
]
pytestmark = pytest.mark.proxies


@pytest.fixture(scope="module")
def upstream() -> Iterator[Part]:
    with instance(tokens=60, gap_ms=1, prefill_ms=1) as part:
        yield part


def test_every_product_has_a_default_configuration() -> None:
    assert [product for product in PRODUCTS if "default" not in labels(product)] == []


def test_the_labels_are_those_the_catalogue_was_measured_with() -> None:
    assert labels("nginx") == [
        "buffer-size-1k-http10",
        "buffering-off",
        "buffering-off-gzip",
        "buffering-on-gzip",
        "buffering-on-http11",
        "default",
        "tls-buffering-off",
        "tls-buffering-on",
    ]
    assert labels("haproxy") == ["default", "http-no-delay"]
    assert labels("caddy") == [
        "default",
        "response-buffers-4k",
        "response-buffers-unlimited",
        "templates",
    ]
    assert labels("no such product") == []


@pytest.mark.parametrize(("product", "label", "source"), EVERY)
def test_a_label_starts_and_passes_a_stream(
    upstream: Part, product: str, label: str, source: str
) -> None:
    need(product)
    if find_program(product, source) is None:
        source = "any"
    with proxy(product, label, upstream.url, source) as part:
        answer = fetch(part.url, "/v1/chat/completions")
    assert part.url.startswith("https:" if label.startswith("tls") else "http:")
    assert answer.head.startswith("HTTP/1.1 200 ")
    assert len(events(answer.text())) == 63
    assert answer.text().endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("source", ["system", "wheel"])
def test_nginx_by_default_gathers_4096_bytes_of_a_body_that_ends_with_the_connection(
    upstream: Part, source: str
) -> None:
    need("nginx", source)
    with proxy("nginx", "default", upstream.url, source) as part:
        answer = fetch(part.url, "/?framing=until-close&tokens=100&gap_ms=5")
    # The first buffer loses what the upstream's head took of it (measured: nginx 1.22, 1.31).
    sizes = [len(chunk) for chunk in answer.chunks()]
    assert sizes[1:-2] == [4096] * (len(sizes) - 3)
    assert 3500 < sizes[0] <= 4096
    assert 0 < sizes[-2] <= 4096
    assert sizes[-1] == 0


@pytest.mark.parametrize("source", ["system", "wheel"])
def test_nginx_by_default_passes_a_chunked_body_event_by_event(upstream: Part, source: str) -> None:
    need("nginx", source)
    with proxy("nginx", "default", upstream.url, source) as part:
        answer = fetch(part.url, "/?framing=chunked&tokens=30&gap_ms=20&shape=plain")
    chunks = answer.chunks()
    # All of it is less than one buffer; a stall of the machine may join a few.
    assert len(chunks) > 20
    assert b"".join(chunks).count(b"data: ") == 31


def test_a_system_and_a_wheel_may_be_asked_for_by_name() -> None:
    need("haproxy")
    assert find_program("haproxy", "wheel") is None
    assert find_program("haproxy") == find_program("haproxy", "system")


def test_a_source_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        find_program("nginx", "nowhere")


def test_a_program_that_is_nowhere_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("ssediag.lab.proxies._SERVER_FOLDERS", ())
    assert find_program("haproxy") is None
