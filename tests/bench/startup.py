"""How long ``ssediag --help`` takes, against a bare interpreter, side by side in one run.

``python -m tests.bench.startup``
"""

import statistics
import subprocess
import sys
from time import perf_counter_ns

ROUNDS = 21
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "ssediag --version": [sys.executable, "-m", "ssediag", "--version"],
    "ssediag --help": [sys.executable, "-m", "ssediag", "--help"],
    "ssediag explain": [sys.executable, "-m", "ssediag", "explain"],
}


def main() -> None:
    times: dict[str, list[int]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            began = perf_counter_ns()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append(perf_counter_ns() - began)
    bare = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"{name:<20} {middle / 1e6:8.1f} ms  {middle / bare:5.2f} x bare")


if __name__ == "__main__":
    main()
