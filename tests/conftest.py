"""Rules for every test: no proxy from the environment, and no silent skip in CI."""

import os
from collections.abc import Generator

import pytest


@pytest.fixture(autouse=True)
def no_environment_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, None]:
    """A test that a user may skip for want of a program must run in CI."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined] # pluggy's result
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: skipped, and CI may skip nothing: {report.longrepr}"
