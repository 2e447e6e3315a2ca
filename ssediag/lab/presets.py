"""Whole chains by name: the classic small examples, and the chain of the demo."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from ssediag.lab.proxies import INSTALL, find_program
from ssediag.lab.start import LabError, Part, ProgramMissing, hop, instance, proxy

DEMO_GUILTY = ("proxy", "size-flush")
"""The part of the demo's chain that is at fault, and the id of what it does."""

_Build = Callable[[ExitStack], list[Part]]

_DEMO_TOKENS = 80
_DEMO_GAP_MS = 10
_BLOCK_BYTES = 4096
# What may stand for a CDN in front of nginx; each passes a stream on as it comes (measured:
# Caddy 2.11, Traefik 3.7, Envoy 1.40).
_CDN_PRODUCTS = ("caddy", "traefik", "envoy")


def topology(name: str) -> AbstractContextManager[list[Part]]:
    """Run the preset ``name``; gives its parts, inner first. Raises LabError, also for no preset.

    ``seed-sse`` is an instance with 9 events 20 ms apart after 50 ms. ``seed-proxy`` is one with
    40 events of 48 bytes 10 ms apart, behind it a hop that passes them, and a hop that waits for
    4096 bytes; both hops go to the instance. ``demo`` and ``demo-real`` are the demo's chains.
    """
    if name not in PRESETS:
        raise LabError(f"{name!r} is no preset, but {', '.join(PRESETS)} are")
    return _running(PRESETS[name])


def demo_chain(*, real: bool) -> AbstractContextManager[list[Part]]:
    """Run instance → proxy → cdn, where the proxy gathers 4096 bytes; gives them inner first.

    ``real`` takes nginx with its default configuration before an upstream that ends by closing,
    and Caddy (or Traefik, or Envoy) in front of it. Raises LabError, ProgramMissing.
    """
    return _running(_demo_real if real else _demo)


@contextmanager
def _running(build: _Build) -> Iterator[list[Part]]:
    with ExitStack() as stack:
        yield build(stack)


def _seed_sse(stack: ExitStack) -> list[Part]:
    return [stack.enter_context(instance(shape="plain", tokens=8, gap_ms=20, prefill_ms=50))]


def _seed_proxy(stack: ExitStack) -> list[Part]:
    inner = stack.enter_context(
        instance(shape="raw", tokens=40, event_bytes=48, gap_ms=10, prefill_ms=0)
    )
    passes = stack.enter_context(hop(inner.url, "pass"))
    waits = stack.enter_context(hop(inner.url, "threshold-flush", bytes=_BLOCK_BYTES))
    return [inner, replace(passes, name="pass"), replace(waits, name="threshold")]


def _demo(stack: ExitStack) -> list[Part]:
    inner = stack.enter_context(instance(tokens=_DEMO_TOKENS, gap_ms=_DEMO_GAP_MS))
    middle = stack.enter_context(
        hop(inner.url, "size-flush", bytes=_BLOCK_BYTES, server_header="ssediag-lab-proxy")
    )
    outer = stack.enter_context(hop(middle.url, "pass", server_header="ssediag-lab-cdn"))
    return [inner, replace(middle, name="proxy"), replace(outer, name="cdn")]


def _demo_real(stack: ExitStack) -> list[Part]:
    product = _cdn_product()
    inner = stack.enter_context(
        instance(tokens=_DEMO_TOKENS, gap_ms=_DEMO_GAP_MS, framing="until-close")
    )
    middle = stack.enter_context(proxy("nginx", "default", inner.url))
    outer = stack.enter_context(proxy(product, "default", middle.url))
    return [inner, replace(middle, name="proxy"), replace(outer, name="cdn")]


def _cdn_product() -> str:
    for product in _CDN_PRODUCTS:
        if find_program(product) is not None:
            return product
    raise ProgramMissing(_CDN_PRODUCTS[0], INSTALL[_CDN_PRODUCTS[0]])


PRESETS: dict[str, _Build] = {
    "seed-sse": _seed_sse,
    "seed-proxy": _seed_proxy,
    "demo": _demo,
    "demo-real": _demo_real,
}
"""Every preset by its name, and what starts its parts."""
