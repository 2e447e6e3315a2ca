"""Name the product at a hop by the headers of its answer.

A header proves only that something which speaks for a product touched the response. Where several
speak, the outermost counts, and this is how they are weighed, strongest first:

1. ``Via`` lists the proxies in order, the closest to the origin first: only the last entry of the
   last field speaks. An unknown last entry says nothing.
2. Marks of their own by proxies and CDNs (``CF-Ray``, ``X-Varnish``).
3. ``Server`` where it names a proxy or CDN: that hop wrote over what came from further in.
4. Marks of gateways, instances and frameworks, and those of a product that would have written
   ``Server`` itself but did not have the last word: ``CF-Ray`` beside ``Server: nginx`` was passed
   on by nginx.
5. ``Server`` where it names an application server: proxies pass it on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ssediag.catalogue.load import product_signs
from ssediag.model.mechanism import ProductSign

_AT_THE_EDGE = frozenset({"proxy", "cdn"})


@dataclass(frozen=True, slots=True)
class _Evidence:
    sign: ProductSign
    because: str


def name_product(headers: tuple[tuple[str, str], ...]) -> tuple[str, str, str] | None:
    """Product, role, and the header that says so; None for a hop without a name."""
    found = list(_evidence(headers))
    if not found:
        return None
    server = next((one.sign for one in found if one.sign.header == "server"), None)
    outermost = min(found, key=lambda one: _rank(one.sign, server))
    return outermost.sign.product, outermost.sign.role, outermost.because


def _evidence(headers: tuple[tuple[str, str], ...]) -> Iterator[_Evidence]:
    """Every header that names a product, as often as it does."""
    via = _last_entry([value for name, value in headers if name.lower() == "via"])
    speaking = [(name, value) for name, value in headers if name.lower() != "via"]
    for name, value in (("Via", via), *speaking):
        for sign in product_signs():
            if sign.header == name.lower() and re.search(sign.pattern, value, re.IGNORECASE):
                yield _Evidence(sign, f"{name}: {value}")


def _last_entry(values: list[str]) -> str:
    """The outermost proxy of ``Via`` fields; a comma inside a comment parts nothing."""
    entries = re.findall(r"(?:\([^)]*\)|[^,])+", ",".join(values))
    return entries[-1].strip() if entries else ""


def _rank(sign: ProductSign, server: ProductSign | None) -> int:
    """How far in a sign may come from: the lowest is the outermost."""
    at_the_edge = sign.role in _AT_THE_EDGE
    if sign.header == "via":
        return 0
    if sign.header == "server":
        return 2 if at_the_edge else 4
    return 1 if at_the_edge and not _passed_on(sign, server) else 3


def _passed_on(sign: ProductSign, server: ProductSign | None) -> bool:
    """Whether a hop further out wrote its own ``Server`` over this product's."""
    if server is None or server.role not in _AT_THE_EDGE or server.product == sign.product:
        return False
    return any(one.header == "server" and one.product == sign.product for one in product_signs())
