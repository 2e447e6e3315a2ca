"""Name the product at a hop by the headers of its answer.

A header proves only that something which speaks for a product touched the response. Where several
speak, the outermost counts: the last entry of ``Via``, then marks that only one product sets, then
``Server``, which proxies overwrite or pass on.
"""

import re

from ssediag.catalogue.load import product_signs
from ssediag.model.mechanism import ProductSign


def name_product(headers: tuple[tuple[str, str], ...]) -> tuple[str, str, str] | None:
    """Product, role, and the header that says so; None for a hop without a name."""
    found = [
        (_rank(sign), sign, f"{name}: {value}")
        for name, value in headers
        for sign in product_signs()
        if sign.header == name.lower()
        and re.search(sign.pattern, _last(name, value), re.IGNORECASE)
    ]
    if not found:
        return None
    _, sign, because = min(found, key=lambda item: item[0])
    return sign.product, sign.role, because


def _rank(sign: ProductSign) -> int:
    return {"via": 0, "server": 2}.get(sign.header, 1)


def _last(name: str, value: str) -> str:
    """The outermost entry of a list; other values whole."""
    return value.rpartition(",")[2].strip() if name.lower() == "via" else value
