"""How right arrival times are: against the sender's own stamps, side by side with other clients.

``python -m tests.bench.clock [--quick]``. A C program stamps each event right before ``send``;
every reader runs in a process of its own, readers take turns, and each number is over all rounds.
Over TLS and HTTP/2 the same server stands behind nginx (unbuffered), whose own few microseconds
are in every reader's error alike. Exit code 1 if something that must hold does not.
"""

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ssediag.lab import start
from tests.bench.clock.readers import READERS

HERE = Path(__file__).parent
BUSY = "while True: pass"
OURS = "ssediag (kernel)"
Errors = dict[str, list[int]]


@contextmanager
def stamping_server(events: int, gap_ns: int) -> Iterator[str]:
    """The URL of a running server, compiled for this run."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "stamp"
        subprocess.run(
            ["cc", "-O2", "-D_GNU_SOURCE", "-o", program, HERE / "stamp.c", "-lpthread"], check=True
        )
        words = [program, str(events), str(gap_ns)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
            try:
                port = (running.stdout.readline() if running.stdout else "").strip()
                yield f"http://127.0.0.1:{port}/v1/chat/completions"
            finally:
                running.kill()


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Busy loops in processes of their own."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in running:
            hog.kill()
            hog.wait()


def read(name: str, url: str, *flags: str, stall: bool = False) -> dict[str, Any]:
    """One reader's result; with ``stall`` it is stopped and continued at random meanwhile."""
    if name == "openai SDK":
        url = url.replace("/chat/completions", "")
    words = [sys.executable, "-m", "tests.bench.clock.readers", name, url, *flags]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        draw = random.Random(1)
        time.sleep(0.7 if stall else 0)
        while stall and running.poll() is None:
            running.send_signal(signal.SIGSTOP)
            time.sleep(draw.uniform(0.002, 0.1))
            running.send_signal(signal.SIGCONT)
            time.sleep(draw.uniform(0.01, 0.15))
        out, _ = running.communicate()
    if running.returncode:
        raise SystemExit(f"{name} failed")
    found: dict[str, Any] = json.loads(out)
    return found


def quantile(values: list[int], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] / 1000


def compare(title: str, url: str, rounds: int, *flags: str) -> tuple[Errors, dict[str, int]]:
    """A table of one condition; returns the errors, and what our own reader counted besides."""
    errors: Errors = {name: [] for name in READERS}
    counted = {"outside": 0, "wrong": 0, "gaps": 0, "undated": 0}
    for _ in range(rounds):
        for name in READERS:
            if name == "openai SDK" and url.startswith("https"):
                continue
            if name.startswith("curl") and shutil.which("curl") is None:
                continue
            found = read(name, url, *flags)
            errors[name] += found["errors"]
            for key in counted:
                counted[key] += found.get(key, 0)
    print(f"\n{title}  (µs)")
    print(f"  {'reader':<20}{'events':>8}{'p50':>10}{'p99':>10}{'max':>10}")
    for name, of_reader in errors.items():
        if of_reader:
            row = [quantile(of_reader, share) for share in (0.5, 0.99, 1)]
            print(f"  {name:<20}{len(of_reader):>8}" + "".join(f"{value:>10.0f}" for value in row))
    share = counted["undated"] / max(counted["gaps"], 1)
    print(f"  outside their interval: {counted['outside']}; undated_share {share:.3f}")
    return errors, counted


def main() -> None:
    rounds, events = (1, 100) if "--quick" in sys.argv else (3, 150)
    checks: list[tuple[str, bool]] = []
    with ExitStack() as stack:
        url = stack.enter_context(stamping_server(events, 20_000_000))
        idle, counted = compare("idle", url, rounds)
        checks += [("idle: p99 <= 100 µs", quantile(idle[OURS], 0.99) <= 100)]
        for peer in ("httpx aiter_raw", "openai SDK"):
            for share, factor in ((0.99, 10), (0.5, 5)):
                ratio = quantile(idle[peer], share) / quantile(idle[OURS], share)
                said = f"idle: p{share * 100:.0f} {factor}x better than {peer} ({ratio:.0f}x)"
                checks.append((said, ratio >= factor))
        hogged, more = compare("a thread hogs the reader's interpreter", url, rounds, "--hog")
        checks += [("interpreter hog: p99 <= 100 µs", quantile(hogged[OURS], 0.99) <= 100)]
        with hogs(2):
            _, third = compare("beside two CPU hogs", url, rounds)
        totals = [counted, more, third]
        if shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin") is not None:
            root = url.removesuffix("/v1/chat/completions")
            proxy = stack.enter_context(start.proxy("nginx", "tls-buffering-off", root))
            secure = f"{proxy.url}/v1/chat/completions"
            totals.append(compare("over TLS, HTTP/1.1, behind nginx", f"{secure}#h1", rounds)[1])
            totals.append(compare("over TLS, HTTP/2, behind nginx", secure, rounds)[1])
        outside = sum(total["outside"] for total in totals)
        checks.append((f"no event outside its interval ({outside})", outside == 0))
    with stamping_server(600, 5_000_000) as url:
        stalled = [read(OURS, url, stall=True) for _ in range(1 if "--quick" in sys.argv else 4)]
    gaps, wrong = (sum(run[key] for run in stalled) for key in ("gaps", "wrong"))
    undated = sum(run["undated"] for run in stalled)
    print(f"\nstopped at random for up to 100 ms: {gaps} gaps, {wrong} wrong burst calls, "
          f"{undated} undated")  # fmt: skip
    checks.append((f"own stalls: {gaps} gaps, 0 wrong burst calls ({wrong})", wrong == 0))
    print("\nmust hold")
    for said, held in checks:
        print(f"  {'yes' if held else 'NO '}  {said}")
    sys.exit(0 if all(held for _, held in checks) else 1)


if __name__ == "__main__":
    main()
