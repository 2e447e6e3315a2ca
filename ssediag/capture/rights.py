"""What this process may do that a plain user may not."""

import os
from pathlib import Path

_CAP_NET_RAW = 13


def rights() -> str:
    """``root``, ``net-raw`` (may open raw sockets), or ``none``."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return "root"
    return "net-raw" if _effective_capabilities() >> _CAP_NET_RAW & 1 else "none"


def _effective_capabilities() -> int:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:  # no procfs: not Linux
        return 0
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0
