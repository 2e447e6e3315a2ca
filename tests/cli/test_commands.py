"""The commands as a user runs them: one clear line, the contract's exit code, nothing left over."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssediag.lab import start

QUICK = "tokens=30&gap_ms=5&prefill_ms=5"
STREAM = f"/s?{QUICK}"


def ssediag(*words: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ssediag", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def instance() -> Iterator[str]:
    with start.instance() as part:
        yield part.url


@pytest.fixture
def dead_port() -> Iterator[int]:
    with socket.socket() as reserved:  # bound and not listening: nobody can answer there
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


@pytest.mark.serial
def test_a_healthy_hop_streams(instance: str) -> None:
    shown = ssediag("probe", instance + STREAM)
    assert shown.returncode == 0
    assert shown.stdout.startswith("127.0.0.1:")
    assert "streams event by event" in shown.stdout
    assert shown.stderr == ""


@pytest.mark.serial
def test_json_on_stdout_is_only_json(instance: str) -> None:
    shown = ssediag("probe", f"x={instance}{STREAM}", "-f", "json", "-v")
    document = json.loads(shown.stdout)
    assert (document["verdict"], document["hops"][0]["name"]) == ("streams", "x")
    assert document["hops"][0]["metrics"]["event_count"] == 33
    assert "x run 1: 33 events" in shown.stderr


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("status=401", 4, "refused: status 401"),
        ("status=403", 4, "refused: status 403"),
        ("status=404", 4, "refused: status 404"),
        ("status=405", 4, "refused: status 405"),
        ("status=422", 4, "refused: status 422"),
        ("status=429", 4, "refused: status 429"),
        ("status=503", 4, "refused: status 503"),
        ("answer=html", 4, "body: status 200 with an HTML page"),
        ("answer=json&tokens=5", 4, "body: status 200 with a whole JSON document"),
        ("answer=empty", 4, "body: status 200 with an empty body"),
        ("answer=silence", 4, "timeout: no answer within 1 s"),
        ("answer=headers-then-silence", 4, "timeout: headers came after"),
        (f"{QUICK}&ending=reset&end_after=12", 3, "truncated"),
        (f"{QUICK}&ending=no-last-chunk", 3, "truncated"),
        (f"{QUICK}&ending=short", 3, "truncated"),
        (f"{QUICK}&ending=error-event", 3, "truncated"),
        (f"{QUICK}&ending=no-done", 0, "without its terminator"),
        ("tokens=2&gap_ms=1", 5, "too few to judge"),
    ],
)
def test_what_a_peer_can_do_wrong_is_one_clear_line(
    instance: str, query: str, code: int, words: str
) -> None:
    shown = ssediag("probe", f"{instance}/s?{query}", "--first-event-timeout", "1s")
    assert shown.returncode == code, shown.stdout
    assert words in " ".join(shown.stdout.split())
    assert "Traceback" not in shown.stdout + shown.stderr


def test_a_dead_port_is_named_with_stage_and_reason(dead_port: int) -> None:
    shown = ssediag("probe", f"gateway=http://127.0.0.1:{dead_port}/")
    assert shown.returncode == 4
    assert f"gateway: connect: connection refused by 127.0.0.1:{dead_port}" in shown.stdout


def test_a_host_without_an_address_is_named() -> None:
    shown = ssediag("probe", "http://no-such-host.invalid/")
    assert shown.returncode == 4
    assert "resolve: no address for host no-such-host.invalid" in " ".join(shown.stdout.split())


@pytest.mark.serial
def test_a_fault_and_a_dead_hop_in_one_chain(instance: str, dead_port: int) -> None:
    query = "/s?tokens=60&gap_ms=10&event_bytes=300"
    with start.hop(instance, "full-buffer") as hop:
        shown = ssediag(
            "compare",
            f"instance={instance}{query}",
            f"proxy={hop.url}{query}",
            f"cdn=http://127.0.0.1:{dead_port}/",
        )
    assert shown.returncode == 3
    assert shown.stdout.startswith("proxy holds the stream back: full-buffer")
    assert "cdn: connect: connection refused" in shown.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["probe"],
        ["probe", "ftp://host/"],
        ["probe", "ws://host/"],
        ["probe", "nowhere"],
        ["probe", "http://host:99999/"],
        ["probe", "http://a/", "http://b/"],
        ["compare", "a=http://a/", "a=http://b/"],
        ["probe", "http://a/", "--timeout", "soon"],
        ["probe", "http://a/", "-H", "no colon"],
        ["probe", "http://a/", "-H", "b: \x01"],
        ["probe", "http://a/", "--bearer-env", "NOT_SET_ANYWHERE"],
        ["probe", "http://a/", "-d", "@/nowhere/body"],
        ["probe", "http://a/", "--dialect", "klingon"],
        ["probe", "http://a/", "--allow", "everything"],
        ["probe", "http://a/", "-o", "xml=f"],
        ["probe", "http://a/", "--no-such-option"],
        ["explain", "everything"],
        ["diagnose", "/nowhere/file"],
    ],
)
def test_wrong_usage_is_exit_2_and_sends_nothing(words: list[str]) -> None:
    shown = ssediag(*words)
    assert shown.returncode == 2, shown.stdout
    assert shown.stdout == ""
    assert "Traceback" not in shown.stderr


def test_an_output_that_cannot_be_written_is_exit_74(instance: str) -> None:
    for words in (["-o", "json=/nowhere/r.json"], ["--save", "/nowhere/r.jsonl"]):
        shown = ssediag("probe", instance + STREAM, *words)
        assert shown.returncode == 74
        assert shown.stdout == ""
        assert "cannot write" in shown.stderr


@pytest.mark.serial
def test_a_recording_is_diagnosed_to_the_same_verdict(instance: str, tmp_path: Path) -> None:
    query = "/s?tokens=60&gap_ms=10&event_bytes=300"
    file = tmp_path / "r.jsonl"
    with start.hop(instance, "size-flush", bytes=4096) as hop:
        live = ssediag(
            "compare", f"instance={instance}{query}", f"proxy={hop.url}{query}",
            "--save", str(file), "-f", "json",
        )  # fmt: skip
    again = ssediag("diagnose", str(file), "-f", "json")
    assert (live.returncode, again.returncode) == (3, 3)
    left, right = json.loads(live.stdout), json.loads(again.stdout)
    for key in ("verdict", "culprit", "hops", "steps", "findings"):
        assert left[key] == right[key]


@pytest.mark.serial
def test_a_recorded_hop_is_compared_with_a_live_one(instance: str, tmp_path: Path) -> None:
    query = "/s?tokens=60&gap_ms=10&event_bytes=300"
    file = tmp_path / "r.jsonl"
    assert ssediag("probe", f"instance={instance}{query}", "--save", str(file)).returncode == 0
    with start.hop(instance, "full-buffer") as hop:
        shown = ssediag("compare", f"instance={file}", f"proxy={hop.url}{query}", "-f", "json")
    assert json.loads(shown.stdout)["culprit"]["step"] == {"inner": "instance", "outer": "proxy"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_was_measured(
    instance: str, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    file = tmp_path / "r.jsonl"
    with subprocess.Popen(
        [sys.executable, "-m", "ssediag", "compare", f"quick={instance}{STREAM}",
         f"slow={instance}/s?tokens=1000&gap_ms=20", "-v", "-f", "json", "--save", str(file)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stderr is not None
        assert "quick run 1" in running.stderr.readline()
        running.send_signal(number)
        out, _ = running.communicate(timeout=20)
    assert running.returncode == code
    document = json.loads(out)
    assert document["hops"][0]["metrics"]["event_count"] == 33
    assert file.exists()


def test_exit_zero_and_inconclusive_pass_change_only_the_code(instance: str) -> None:
    few = f"{instance}/s?tokens=2&gap_ms=1"
    assert ssediag("probe", few, "--inconclusive", "pass").returncode == 0
    assert ssediag("probe", f"{instance}/s?status=500", "--exit-zero").returncode == 0


def test_a_dry_run_sends_nothing_and_shows_no_secret(dead_port: int) -> None:
    shown = ssediag(
        "probe", f"http://user:c4n4ry@127.0.0.1:{dead_port}/v1/chat/completions?key=c4n4ry",
        "-H", "Authorization: Bearer c4n4ry", "--dry-run",
    )  # fmt: skip
    assert shown.returncode == 0
    assert "POST /v1/chat/completions" in shown.stdout
    assert "c4n4ry" not in shown.stdout + shown.stderr


def test_a_secret_reaches_no_output(instance: str, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    shown = ssediag(
        "probe", f"{instance}{STREAM}&api_key=c4n4ry", "-H", "Authorization: Bearer c4n4ry",
        "-H", "X-Api-Key: c4n4ry", "-d", '{"prompt": "c4n4ry"}', "--save", str(file),
        "-o", f"json={tmp_path / 'r.json'}", "-o", f"jsonl={tmp_path / 'r.lines'}", "-v",
    )  # fmt: skip
    written = "".join(path.read_text("utf-8") for path in tmp_path.iterdir())
    assert "c4n4ry" not in shown.stdout + shown.stderr + written


def test_texts_are_kept_only_on_request(instance: str, tmp_path: Path) -> None:
    for words, kept in (([], False), (["--with-data"], True)):
        file = tmp_path / "r.jsonl"
        ssediag("probe", instance + STREAM, "--save", str(file), *words)
        assert ("chat.completion.chunk" in file.read_text("utf-8")) is kept


def test_explain_lists_and_explains() -> None:
    listed = ssediag("explain")
    assert "size-flush" in listed.stdout
    one = ssediag("explain", "size-flush")
    assert "proxy_buffering off" in one.stdout
    assert max(map(len, (listed.stdout + one.stdout).splitlines())) <= 100


def test_doctor_says_what_this_machine_can_measure() -> None:
    shown = ssediag("doctor")
    assert shown.returncode == 0
    assert "clock" in shown.stdout


@pytest.mark.serial
def test_the_demo_finds_the_fault_it_planted() -> None:
    shown = ssediag("demo", timeout=15)
    assert shown.returncode == 0
    assert "proxy turns per-token output into bursts: size-flush, 4096 bytes" in shown.stdout


@pytest.mark.serial
@pytest.mark.proxies
def test_the_demo_finds_it_in_real_proxies_too() -> None:
    shown = ssediag("demo", "--real", "-f", "json", timeout=15)
    if shown.returncode == 4:
        pytest.skip(f"needs real proxies: {shown.stderr}")
    document = json.loads(shown.stdout)
    assert (shown.returncode, document["exit_code"]) == (0, 3)
    assert document["hops"][1]["product"]["name"] == "nginx"
