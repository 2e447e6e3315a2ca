"""The named chains: which parts they have, and what arrives at each."""

import pytest

from ssediag.lab.presets import PRESETS, demo_chain, topology
from ssediag.lab.start import LabError
from tests.lab.client import events, fetch
from tests.lab.programs import need


def test_the_seeds_server_sends_nine_events_each_in_its_chunk() -> None:
    with topology("seed-sse") as parts:
        chunks = fetch(parts[0].url).chunks()
    assert [part.name for part in parts] == ["instance"]
    tokens = [b'data: {"token": "t%d"}\n\n' % index for index in range(8)]
    assert chunks == [*tokens, b"data: [DONE]\n\n", b""]


def test_the_seeds_proxy_passes_forty_blocks_or_sends_one() -> None:
    with topology("seed-proxy") as parts:
        answers = {part.name: fetch(part.url).chunks() for part in parts}
    assert list(answers) == ["instance", "pass", "threshold"]
    assert [len(chunk) for chunk in answers["instance"]] == [48] * 40 + [0]
    assert [len(chunk) for chunk in answers["threshold"]] == [40 * 48, 0]
    assert b"".join(answers["pass"]) == b"".join(answers["threshold"])


def test_the_demos_proxy_turns_events_into_blocks_of_4096_bytes() -> None:
    with demo_chain(real=False) as parts:
        inner, middle, outer = (fetch(part.url) for part in parts)
    assert [part.name for part in parts] == ["instance", "proxy", "cdn"]
    assert [len(chunk) for chunk in middle.chunks()[:-2]] == [4096] * 3
    assert len(events(inner.text())) == 83
    assert inner.text() == middle.text() == outer.text()
    assert middle.field("server") == "ssediag-lab-proxy"
    assert outer.field("server") == "ssediag-lab-cdn"


@pytest.mark.proxies
def test_the_real_demo_shows_the_same_with_real_proxies() -> None:
    need("nginx")
    need("caddy")
    with demo_chain(real=True) as parts:
        inner, middle, outer = (fetch(part.url) for part in parts)
    assert [part.name for part in parts] == ["instance", "proxy", "cdn"]
    assert [len(chunk) for chunk in middle.chunks()[1:-2]] == [4096] * 2
    assert inner.text() == middle.text() == outer.text()


def test_an_unknown_preset_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(LabError, match="seed-sse, seed-proxy, demo, demo-real"):
        topology("no-such-preset")
    assert list(PRESETS) == ["seed-sse", "seed-proxy", "demo", "demo-real"]
