"""Parts start, serve, and leave nothing behind. Real processes on loopback."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ssediag.lab.start import LabError, ProgramMissing, hop, instance, proxy
from tests.lab.client import fetch
from tests.lab.programs import need


@pytest.fixture(autouse=True)
def no_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where every part makes its folders in a test, and it is empty afterwards."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    assert waited_for(lambda: list(tmp_path.iterdir()) == [])


def waited_for(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true within ten seconds."""
    until = time.monotonic() + 10
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def ends(pid: int) -> bool:
    """Wait for a process that is not ours to end."""
    return waited_for(lambda: not is_running(pid))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_an_instance_serves_in_its_context_and_is_gone_after_it() -> None:
    with instance(tokens=1, gap_ms=0, prefill_ms=0, shape="plain") as part:
        assert part.name == "instance"
        assert part.url == f"http://127.0.0.1:{part.port}"
        assert fetch(part.url).text() == b'data: {"token": "t0"}\n\ndata: [DONE]\n\n'
        assert is_running(part.pid)
    assert not is_running(part.pid)


def test_a_hop_serves_in_its_context_and_is_gone_after_it() -> None:
    with (
        instance(tokens=1, gap_ms=0, prefill_ms=0, shape="plain") as inner,
        hop(inner.url, "pass") as part,
    ):
        assert part.name == "hop"
        assert fetch(part.url).text() == b'data: {"token": "t0"}\n\ndata: [DONE]\n\n'
    assert not is_running(part.pid)
    assert not is_running(inner.pid)


def test_a_part_is_stopped_when_its_context_is_left_by_an_error() -> None:
    def fails() -> None:
        with instance() as part:
            raise KeyError(part.pid)

    with pytest.raises(KeyError) as raised:
        fails()
    assert not is_running(raised.value.args[0])


def test_options_that_are_none_are_left_out_and_booleans_are_numbers() -> None:
    with instance(tokens=1, gap_ms=0, prefill_ms=0, usage=True, seed=None) as part:
        assert b'"completion_tokens": 1' in fetch(part.url).text()


def test_a_wrong_option_is_an_error_with_the_parts_last_words() -> None:
    with pytest.raises(LabError, match="group must be 1 or more"), instance(group=0):
        pass


def test_a_taken_port_is_an_error_with_the_reason() -> None:
    with (
        instance() as part,
        pytest.raises(LabError, match="in use"),
        instance(port=part.port),
    ):
        pass


def test_no_pipe_is_left_whether_a_part_started_or_not() -> None:
    before = open_files()
    with instance():
        pass
    with pytest.raises(LabError), instance(group=0):
        pass
    assert open_files() == before


def test_a_part_ends_when_its_parent_is_killed() -> None:
    program = (
        "import sys, time\n"
        "from ssediag.lab.start import instance\n"
        "with instance() as part:\n"
        "    print(part.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    assert ends(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_part_ends_by_a_signal(number: signal.Signals) -> None:
    with instance() as part:
        os.kill(part.pid, number)
        assert ends(part.pid)


def test_a_product_without_such_a_configuration_is_an_error() -> None:
    need("nginx")
    with (
        pytest.raises(LabError, match="no-such-label"),
        proxy("nginx", "no-such-label", "http://127.0.0.1:9"),
    ):
        pass


def test_a_missing_program_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssediag.lab.start.find_program", lambda *_: None)
    with (
        pytest.raises(ProgramMissing, match="haproxy is not installed: apt install haproxy"),
        proxy("haproxy", "default", "http://127.0.0.1:9"),
    ):
        pass


@pytest.mark.proxies
@pytest.mark.parametrize("product", ["nginx", "haproxy", "envoy", "traefik", "caddy"])
def test_a_real_proxy_leaves_no_process_and_no_folder(product: str) -> None:
    need(product)
    with instance(tokens=1) as inner, proxy(product, "default", inner.url) as part:
        assert is_running(part.pid)
        assert part.name == product
    assert not is_running(part.pid)


def test_a_proxy_that_ends_while_starting_is_an_error_with_its_last_words(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path_factory.mktemp("bin") / "haproxy"
    program.write_text("#!/bin/sh\necho 'unknown keyword in line 7' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    before = open_files()
    with (
        pytest.raises(LabError, match=r"(?s)unknown keyword in line 7.*ended with 3"),
        proxy("haproxy", "default", "http://127.0.0.1:9"),
    ):
        pass
    assert open_files() == before


def test_an_upstream_that_is_not_on_loopback_is_refused() -> None:
    need("nginx")
    with (
        pytest.raises(LabError, match=r"not http://127\.0\.0\.1:PORT"),
        proxy("nginx", "default", "http://192.0.2.1:80"),
    ):
        pass


@pytest.mark.proxies
def test_a_real_proxy_ends_when_the_parent_is_killed() -> None:
    need("nginx")
    program = (
        "import time\n"
        "from ssediag.lab.start import proxy\n"
        "with proxy('nginx', 'default', 'http://127.0.0.1:9') as part:\n"
        "    print(part.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    assert ends(pid)
