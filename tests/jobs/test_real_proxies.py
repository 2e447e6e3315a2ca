"""What ssediag says of real proxies, against what is known of each of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event

import pytest

from ssediag.capture.dial import HttpVersion, Route
from ssediag.cli.parse import parse_targets
from ssediag.cli.route import Ways
from ssediag.jobs.compare import compare
from ssediag.jobs.request import Asked
from ssediag.jobs.targets import Plan
from ssediag.lab import start
from ssediag.model.diagnosis import Diagnosis
from ssediag.model.mechanism import Verdict
from ssediag.model.request import Limits
from tests.lab.programs import need

pytestmark = [pytest.mark.proxies, pytest.mark.serial]

# 80 events of 300 bytes, 10 ms apart: six blocks of 4096 bytes, four beats of 200 ms.
STREAM = "/v1/stream?tokens=80&gap_ms=10&event_bytes=300"
LIMITS = Limits(total_ns=20_000_000_000)


@pytest.fixture(scope="module")
def instance() -> Iterator[start.Part]:
    with start.instance() as part:
        yield part


def measure(
    urls: dict[str, str], path: str = STREAM, version: HttpVersion = HttpVersion.AUTO
) -> Diagnosis:
    words = [f"{name}={url}{path}" for name, url in urls.items()]
    ways = Ways(Route(verify=False, http_version=version), no_proxy="*")
    targets = parse_targets(words, Asked(), ways)
    return compare(Plan(targets, LIMITS), Event(), lambda _stream: None).diagnosis


def through(instance: start.Part, product: str, label: str, path: str = STREAM) -> Diagnosis:
    need(product)
    with start.proxy(product, label, instance.url) as proxy:
        return measure({"instance": instance.url, "proxy": proxy.url}, path)


@pytest.mark.parametrize(
    ("product", "label", "path", "mechanism"),
    [
        ("nginx", "default", f"{STREAM}&framing=until-close", "size-flush"),
        ("nginx", "buffer-size-1k-http10", f"{STREAM}&framing=until-close", "size-flush"),
        ("nginx", "buffering-on-gzip", STREAM, "compression"),
        ("haproxy", "default", STREAM, "time-flush"),
        ("haproxy", "default", f"{STREAM}&jitter=poisson", "time-flush"),
        ("caddy", "response-buffers-4k", STREAM, "head-hold"),
        ("caddy", "response-buffers-unlimited", STREAM, "full-buffer"),
        ("caddy", "templates", STREAM, "full-buffer"),
    ],
)
def test_a_faulty_configuration_is_named(
    instance: start.Part, product: str, label: str, path: str, mechanism: str
) -> None:
    result = through(instance, product, label, path)
    assert result.culprit is not None
    assert (result.culprit.inner, result.culprit.hop) == ("instance", "proxy")
    assert result.culprit.mechanism == mechanism


@pytest.mark.parametrize(
    ("product", "label"),
    [
        ("nginx", "default"),
        ("nginx", "buffering-on-http11"),
        ("nginx", "buffering-off"),
        ("nginx", "buffering-off-gzip"),
        ("nginx", "tls-buffering-off"),
        ("haproxy", "http-no-delay"),
        ("envoy", "default"),
        ("traefik", "default"),
        ("caddy", "default"),
    ],
)
def test_a_sound_configuration_is_not_blamed(
    instance: start.Part, product: str, label: str
) -> None:
    result = through(instance, product, label)
    assert (result.verdict, result.culprit) == (Verdict.STREAMS, None)


def test_nginx_gathers_a_page_of_4096_bytes(instance: start.Part) -> None:
    result = through(instance, "nginx", "default", f"{STREAM}&framing=until-close")
    assert dict(result.hops[1].mechanisms[0].parameters)["bytes"] == 4096


def test_haproxy_beats_at_its_timer(instance: start.Part) -> None:
    result = through(instance, "haproxy", "default")
    period_ns = dict(result.hops[1].mechanisms[0].parameters)["period_ns"]
    assert 195_000_000 <= period_ns <= 225_000_000


def test_nginx_over_tls_bursts_for_http1_and_not_for_http2(instance: start.Part) -> None:
    need("nginx")
    path = f"{STREAM}&tokens=200"
    with start.proxy("nginx", "tls-buffering-on", instance.url) as proxy:
        http2 = measure({"proxy": proxy.url}, path)
        http1 = measure({"proxy": proxy.url}, path, HttpVersion.HTTP_1_1)
    assert (http2.hops[0].protocol, http2.verdict) == ("h2", Verdict.STREAMS)
    assert (http1.hops[0].protocol, http1.verdict) == ("http/1.1", Verdict.BURSTS)
    assert http1.culprit is not None
    assert http1.culprit.mechanism == "size-flush"


@pytest.mark.parametrize("guilty", ["inner", "outer"])
def test_the_guilty_one_of_two_proxies_is_named(instance: start.Part, guilty: str) -> None:
    need("nginx")
    need("caddy")
    with ExitStack() as stack:
        labels = ("response-buffers-4k", "default")
        first, second = labels if guilty == "inner" else labels[::-1]
        inner = stack.enter_context(start.proxy("caddy", first, instance.url))
        outer = stack.enter_context(start.proxy("caddy", second, inner.url))
        result = measure({"instance": instance.url, "inner": inner.url, "outer": outer.url})
    assert result.culprit is not None
    assert (result.culprit.hop, result.culprit.mechanism) == (guilty, "head-hold")


def test_the_beat_of_haproxy_is_not_blamed_on_the_nginx_in_front_of_it(
    instance: start.Part,
) -> None:
    need("nginx")
    need("haproxy")
    with ExitStack() as stack:
        haproxy = stack.enter_context(start.proxy("haproxy", "default", instance.url))
        nginx = stack.enter_context(start.proxy("nginx", "buffering-off", haproxy.url))
        urls = {"instance": instance.url, "haproxy": haproxy.url, "nginx": nginx.url}
        result = measure(urls, f"{STREAM}&tokens=200")
    assert result.culprit is not None
    assert (result.culprit.hop, result.culprit.mechanism) == ("haproxy", "time-flush")


@pytest.mark.parametrize(
    "source",
    [
        "jitter=uniform&seed=1",
        "jitter=poisson&seed=2",
        "prefill_ms=1500",
        "tokens=200&tokens_per_event=10&usage=1",
        "stall_after=30&stall_ms=700",
        "gap_ms=2&tokens=300",
        "gap_ms=15&group=3",
        "event_bytes=4000&tokens=40",
    ],
)
def test_no_source_is_blamed_on_a_sound_proxy(instance: start.Part, source: str) -> None:
    result = through(instance, "nginx", "buffering-off", f"/v1/stream?tokens=60&{source}")
    assert (result.verdict, result.culprit) == (Verdict.STREAMS, None)
