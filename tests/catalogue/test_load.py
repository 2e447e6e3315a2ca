"""Every catalogue file says what a report needs of it, and a broken one is named."""

from importlib.resources import files

import pytest

from ssediag.catalogue.load import (
    CatalogueError,
    mechanisms,
    product_signs,
    read_mechanism,
    read_products,
)
from ssediag.model.mechanism import MechanismEntry, Proof, Verdict

FAULTS = {Verdict.BURSTS, Verdict.HELD, Verdict.CUT, Verdict.BROKEN}
ENTRIES = list(mechanisms().values())


def test_the_mechanisms_come_in_the_order_in_which_they_speak() -> None:
    assert {entry.id: (entry.verdict.value, entry.precedence) for entry in ENTRIES} == {
        "not-a-stream": ("broken", 5),
        "compression": ("held", 10),
        "truncated": ("broken", 20),
        "full-buffer": ("held", 40),
        "head-hold": ("held", 45),
        "size-flush": ("bursts", 50),
        "time-flush": ("bursts", 55),
        "source-batching": ("streams", 75),
        "source-stall": ("streams", 80),
        "probe-lag": ("inconclusive", 90),
    }
    assert list(mechanisms()) == [entry.id for entry in ENTRIES]
    assert [entry.precedence for entry in ENTRIES] == sorted(e.precedence for e in ENTRIES)


def test_a_cause_explains_the_rhythms_it_leaves_and_nothing_else_does() -> None:
    known = mechanisms()
    assert {entry.id: entry.replaces for entry in ENTRIES if entry.replaces} == {
        "compression": ("full-buffer", "size-flush", "time-flush", "head-hold")
    }
    assert known["size-flush"].parameters == (
        ("bytes", "burst_bytes"),
        ("period_ns", "burst_period_ns"),
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_there_is_advice_for_a_hop_without_a_name(entry: MechanismEntry) -> None:
    assert sum(fix.product is None for fix in entry.fixes) == 1


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_signature_asks_for_something_and_is_never_certain(entry: MechanismEntry) -> None:
    assert entry.signatures
    for signature in entry.signatures:
        assert 0.5 < signature.confidence < 1
        for condition in signature.conditions:
            bounds = (condition.at_least, condition.at_most, condition.equals)
            assert any(bound is not None for bound in bounds)
            assert condition.why


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_summary_reads_on_after_the_name_of_a_hop(entry: MechanismEntry) -> None:
    assert entry.summary[0].islower()
    assert entry.summary[-1] != "."
    assert "\n" not in entry.summary


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_fix_says_where_it_was_proven_and_a_product_gets_one(entry: MechanismEntry) -> None:
    named = [fix.product for fix in entry.fixes if fix.product]
    assert len(named) == len(set(named))
    for fix in entry.fixes:
        assert fix.source
        assert fix.product is None or fix.config
        assert fix.product is not None or fix.proof is Proof.DOCUMENTED


def test_every_product_with_a_fix_is_one_that_headers_name_or_that_hides() -> None:
    named = {sign.product for sign in product_signs()} | {"HAProxy", "Traefik", "Go net/http"}
    fixed = {fix.product for entry in ENTRIES for fix in entry.fixes if fix.product}
    assert fixed - named == set()


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.verdict in FAULTS], ids=lambda e: e.id)
def test_pasted_nginx_lines_are_about_the_response(entry: MechanismEntry) -> None:
    configs = [fix.config or "" for fix in entry.fixes]
    assert not any("proxy_request_buffering" in config for config in configs)
    assert not any("proxy_set_header X-Accel-Buffering" in config for config in configs)
    assert not any("X-Accel-Buffering: off" in config for config in configs)


WHOLE = files("ssediag.catalogue").joinpath("mechanisms", "probe-lag.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('id = "x"\nid = "y"', "Cannot overwrite a value"),
        ('id = "x"', "'name' is missing"),
        (WHOLE.replace("verdict =", "verdikt ="), "unknown keys: verdikt"),
        (WHOLE.replace("inconclusive", "perhaps"), "'perhaps' is not a valid Verdict"),
        (WHOLE.replace("at_least", "atleast"), "atleast"),
        (WHOLE.replace("probe-lag", "probe-lead"), "holds the mechanism 'probe-lead'"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        read_mechanism("probe-lag.toml", text)
    assert caught.value.file == "probe-lag.toml"
    assert reason in caught.value.reason


def test_a_sign_whose_pattern_is_no_expression_is_an_error() -> None:
    text = '[[sign]]\nproduct = "x"\nheader = "y"\npattern = "("\nrole = "proxy"\n'
    with pytest.raises(CatalogueError, match=r"products\.toml: missing \)"):
        read_products("products.toml", text)
