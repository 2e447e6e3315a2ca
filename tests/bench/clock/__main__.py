"""How right arrival times are: against the sender's own stamps, side by side with other clients.

``python -m tests.bench.clock [--quick]`` needs the extra ``bench`` and openssl, and shows curl
where there is one. A server in C (in Python where there is no compiler) stamps each event right
before its send; over TLS and HTTP/2 it is one in Python, and its framing and encryption are inside
every reader's error. Every reader runs in a process of its own, and the readers take turns: p50
and p99 are medians of the rounds, max is of them all. It takes nine minutes; ``--quick``, two and
a half, is too short to be quoted. Exit code 1 if something that must hold does not.
"""

import json
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.clock.readers import READERS

HERE = Path(__file__).parent
BUSY = "while True: pass"
OURS = "ssediag (kernel)"
CURL = "curl --trace-time"
PEERS = ("httpx aiter_raw", "openai SDK")
GAP_NS = 20_000_000
STALL_GAP_NS = 5_000_000
STALL_EVENTS = 600
Checks = list[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Condition:
    """What is the case while the readers read; ``fragment`` chooses the HTTP version."""

    title: str
    is_tls: bool = False
    fragment: str = ""
    flags: tuple[str, ...] = ()
    hog_count: int = 0


CONDITIONS = (
    Condition("idle"),
    Condition("interpreter hog", flags=("--hog",)),
    Condition("two CPU hogs", hog_count=2),
    Condition("TLS, HTTP/1.1", is_tls=True, fragment="#h1"),
    Condition("TLS, HTTP/2", is_tls=True),
)


def server_command(folder: Path, *, is_tls: bool) -> tuple[str, list[str], list[str]]:
    """What the server is, the words that start it, and those that follow the numbers."""
    in_python = [sys.executable, "-m", "tests.bench.clock.stamp"]
    if is_tls:
        pem = str(folder / "both.pem")
        words = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        words += ["-newkey", "rsa:2048", "-keyout", pem, "-out", f"{folder}/certificate.pem"]
        subprocess.run(words, check=True, capture_output=True)
        with Path(pem).open("a") as both:
            both.write((folder / "certificate.pem").read_text())
        return "Python, TLS", in_python, [pem]
    if shutil.which("cc") is None:
        return "Python (no C compiler here)", in_python, []
    program = str(folder / "stamp")
    words = ["cc", "-O2", "-D_GNU_SOURCE", "-o", program, str(HERE / "stamp.c"), "-lpthread"]
    subprocess.run(words, check=True)
    return "C", [program], []


@contextmanager
def stamping_server(
    events: int, gap_ns: int, *, group: int = 1, is_tls: bool = False
) -> Iterator[str]:
    """The URL of a running server, a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        what, program, last = server_command(Path(folder), is_tls=is_tls)
        words = [*program, str(events), str(gap_ns), str(group), *last]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
            try:
                port, niceness = (running.stdout.readline() if running.stdout else "").split()
                print(f"\nserver: {what}, niceness {niceness}")
                scheme = "https" if is_tls else "http"
                yield f"{scheme}://127.0.0.1:{port}/v1/chat/completions"
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


def read(name: str, url: str, *flags: str, is_stalled: bool = False) -> dict[str, Any]:
    """One reader's result; with ``is_stalled`` it is stopped and continued at random meanwhile."""
    words = [sys.executable, "-m", "tests.bench.clock.readers", name, url, *flags]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        draw = random.Random(1)
        time.sleep(0.7 if is_stalled else 0)
        while is_stalled and running.poll() is None:
            running.send_signal(signal.SIGSTOP)
            time.sleep(draw.uniform(0.002, 0.1))
            running.send_signal(signal.SIGCONT)
            time.sleep(draw.uniform(0.01, 0.15))
        out, _ = running.communicate()
    if running.returncode:
        raise SystemExit(f"{name} failed")
    found: dict[str, Any] = json.loads(out)
    return found


def quantile_us(errors_ns: list[int], share: float) -> float:
    ordered = sorted(errors_ns)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] / 1000


class Table:
    """The results of one condition."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        names = [name for name in READERS if name != CURL or shutil.which("curl")]
        self.rounds: dict[str, list[list[int]]] = {name: [] for name in names}
        self.calls: Counter[str] = Counter()
        self.outside_count = 0
        self.event_count = 0

    def measure(self, url: str, round_count: int) -> None:
        address = f"{url}{self.condition.fragment}"
        with hogs(self.condition.hog_count):
            for _ in range(round_count):
                for name, rounds in self.rounds.items():
                    found = read(name, address, *self.condition.flags)
                    rounds.append(found["errors"])
                    self.calls.update(found.get("calls", {}))
                    self.outside_count += found.get("outside", 0)
                    self.event_count += found.get("events", 0)

    def us(self, name: str, share: float) -> float:
        """The median over the rounds of this quantile of the error, in microseconds."""
        return statistics.median(quantile_us(errors, share) for errors in self.rounds[name])

    def print(self) -> None:
        print(f"\n{self.condition.title}  (µs)")
        print(f"  {'reader':<20}{'events':>8}{'p50':>10}{'p99':>10}{'max':>10}")
        for name, rounds in self.rounds.items():
            count = sum(len(errors) for errors in rounds)
            highest = max(quantile_us(errors, 1) for errors in rounds)
            row = (self.us(name, 0.5), self.us(name, 0.99), highest)
            print(f"  {name:<20}{count:>8}" + "".join(f"{value:>10.0f}" for value in row))
        dated_count = sum(len(errors) for errors in self.rounds[OURS])
        gap_count = sum(self.calls[kind] for kind in ("together", "apart", "undated"))
        print(
            f"  {OURS}: {self.event_count - dated_count} of {self.event_count} events unknown, "
            f"undated_share {self.calls['undated'] / gap_count:.3f}, "
            f"{self.outside_count} outside their interval"
        )


def compare(round_count: int, event_count: int) -> list[Table]:
    """One table for each condition."""
    tables = []
    for is_tls in (False, True):
        with stamping_server(event_count, GAP_NS, is_tls=is_tls) as url:
            for condition in CONDITIONS:
                if condition.is_tls is is_tls:
                    tables.append(Table(condition))
                    tables[-1].measure(url, round_count)
                    tables[-1].print()
    return tables


def stall() -> Counter[str]:
    """Read while stopped at random: which gaps are called what, and which of them wrongly."""
    kinds = ("together", "wrongly together", "apart", "wrongly apart", "undated")
    total: Counter[str] = Counter()
    rows = []
    for group in (1, 3):
        with stamping_server(STALL_EVENTS, group * STALL_GAP_NS, group=group) as url:
            for flags in ((), ("--hog",)):
                found = read(OURS, url, *flags, is_stalled=True)
                total.update(found["calls"])
                total["outside"] += found["outside"]
                title = f"groups of {group}" + (", interpreter hog" if flags else "")
                rows.append((title, found["calls"]))
    print("\nstopped at random for 2 to 100 ms  (gaps)")
    print(f"  {'sent in':<30}" + "".join(f"{kind:>18}" for kind in kinds))
    for title, calls in rows:
        print(f"  {title:<30}" + "".join(f"{calls[kind]:>18}" for kind in kinds))
    return total


def checks_of(tables: list[Table], stalled: Counter[str]) -> Checks:
    """What must hold, and whether it does."""
    idle, hogged = tables[:2]
    checks = [
        (f"{table.condition.title}: p99 {table.us(OURS, 0.99):.0f} µs, at most 100",
         table.us(OURS, 0.99) <= 100)
        for table in (idle, hogged)
    ]  # fmt: skip
    for peer in PEERS:
        for share, factor in ((0.99, 10), (0.5, 5)):
            ratio = idle.us(peer, share) / idle.us(OURS, share)
            said = f"idle: p{share * 100:.0f} {ratio:.0f}x better than {peer}, at least {factor}"
            checks.append((said, ratio >= factor))
    outside = sum(table.outside_count for table in tables) + stalled["outside"]
    checks.append((f"{outside} events outside their interval, at most 0", outside == 0))
    gaps = stalled["together"] + stalled["apart"] + stalled["undated"]
    wrong = stalled["wrongly together"] + stalled["wrongly apart"]
    checks.append((f"own stalls: {gaps} gaps, at least 2,000", gaps >= 2_000))
    checks.append((f"own stalls: {wrong} wrong calls, at most 0", wrong == 0))
    proven = stalled["together"] > 0 and stalled["apart"] > 0
    checks.append(("own stalls: bursts and gaps are still told", proven))
    return checks


def main() -> None:
    tables = compare(*((1, 100) if "--quick" in sys.argv else (3, 150)))
    checks = checks_of(tables, stall())
    print("\nmust hold")
    for said, held in checks:
        print(f"  {'yes' if held else 'NO '}  {said}")
    sys.exit(0 if all(held for _, held in checks) else 1)


if __name__ == "__main__":
    main()
