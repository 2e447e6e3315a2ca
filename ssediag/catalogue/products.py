"""Name the product at a hop by the headers of its answer.

A header proves only that something which speaks for a product touched the response. Where several
speak, the outermost counts. The table's order says who is believed first: what only edges write,
the last entry of ``Via``, then ``Server``, which most proxies overwrite, then marks that outer
hops pass on.
"""

import re

from ssediag.catalogue.load import product_signs
from ssediag.model.mechanism import ProductSign


def name_product(headers: tuple[tuple[str, str], ...]) -> tuple[str, str, str] | None:
    """Product, role, and the header that says so (``Server: nginx/1.22.1``); None without one."""
    outermost = dict((name.lower(), (name, value)) for name, value in headers)
    for sign in product_signs():
        name, value = outermost.get(sign.header, ("", None))
        if value is not None and _speaks(sign, value):
            return sign.product, sign.role, f"{name}: {value}"
    return None


def _speaks(sign: ProductSign, value: str) -> bool:
    """Whether ``value`` carries the sign; of a ``Via`` only the last entry, the outermost, counts."""
    told = value.rpartition(",")[2].strip() if sign.header == "via" else value
    return re.search(sign.pattern, told, re.IGNORECASE) is not None
