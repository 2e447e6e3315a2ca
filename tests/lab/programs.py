"""Which real programs a test needs: skipped without them on a desk, failed in CI."""

import os

import pytest

from ssediag.lab.proxies import INSTALL, find_program


def need(product: str, source: str = "any") -> None:
    """Skip the test when a proxy is not installed; fail it where CI must have it."""
    if find_program(product, source) is not None:
        return
    reason = f"needs {product}: {INSTALL[product]}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
