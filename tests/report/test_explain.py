"""The catalogue as a reader sees it at a terminal of 80 columns."""

import pytest

from ssediag.catalogue.load import mechanisms
from ssediag.model.mechanism import MechanismEntry
from ssediag.report.explain import explain_list, explain_one

ENTRIES = list(mechanisms().values())


def test_the_list_names_every_mechanism_under_what_it_makes_of_a_hop() -> None:
    lines = explain_list(ENTRIES).splitlines()
    assert [line.split()[0] for line in lines if line[2:3].strip() and line.startswith("  ")] == [
        *("not-a-stream", "truncated"),
        *("compression", "full-buffer", "head-hold"),
        *("size-flush", "time-flush"),
        *("source-batching", "source-stall"),
        "probe-lag",
    ]
    assert [line for line in lines if line.endswith(":")] == [
        *("broken:", "held:", "bursts:", "streams:", "inconclusive:")
    ]
    assert max(len(line) for line in lines) <= 80


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_one_mechanism_fits_the_width_and_shows_every_fix(entry: MechanismEntry) -> None:
    text = explain_one(entry)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert [
        fix.product for fix in entry.fixes if fix.product and f"{fix.product}:" not in text
    ] == []
    for fix in entry.fixes:
        for line in (fix.config or "").splitlines():
            assert line.strip() in text


def test_a_header_to_copy_is_never_broken_at_its_hyphens() -> None:
    assert "`X-Accel-Buffering: no`" in " ".join(explain_one(mechanisms()["size-flush"]).split())
    assert "X-Accel-\n" not in explain_one(mechanisms()["size-flush"])
