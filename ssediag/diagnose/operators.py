"""Mechanisms as operators: given when events leave the inner hop, when would they leave the outer?

An operator takes the inner stream's departures, one ``(time_ns, size in bytes)`` per event in
order, and one parameter, and returns releases ``(time_ns, byte count)`` in order. No operator
creates or loses bytes.
"""

from collections.abc import Callable

Departures = list[tuple[int, int]]
Releases = list[tuple[int, int]]
Operator = Callable[[Departures, float], Releases]


def full_buffer(departures: Departures, _parameter: float = 0) -> Releases:
    """Nothing passes until the last event has come."""
    end_ns = departures[-1][0] if departures else 0
    return [(end_ns, size) for _, size in departures]


def size_flush(departures: Departures, block_bytes: float) -> Releases:
    """Blocks of exactly ``block_bytes`` pass as they fill; the rest passes at the end."""
    block = max(int(block_bytes), 1)
    releases: Releases = []
    pending = 0
    for time_ns, size in departures:
        pending += size
        whole = pending - pending % block
        if whole:
            releases.append((time_ns, whole))
            pending -= whole
    if pending:
        releases.append((departures[-1][0], pending))
    return releases


def threshold_flush(departures: Departures, threshold_bytes: float) -> Releases:
    """Everything pending passes once it is ``threshold_bytes`` or more; the rest at the end."""
    releases: Releases = []
    pending = 0
    for time_ns, size in departures:
        pending += size
        if pending >= threshold_bytes:
            releases.append((time_ns, pending))
            pending = 0
    if pending:
        releases.append((departures[-1][0], pending))
    return releases


def time_flush(departures: Departures, period_ns: float) -> Releases:
    """Everything pending passes ``period_ns`` after the first byte of it came."""
    releases: Releases = []
    pending = 0
    due_ns = 0
    for time_ns, size in departures:
        if pending and time_ns >= due_ns:
            releases.append((due_ns, pending))
            pending = 0
        if not pending:
            due_ns = time_ns + int(period_ns)
        pending += size
    if pending:
        releases.append((min(due_ns, max(departures[-1][0], 0) + int(period_ns)), pending))
    return releases


def head_hold(departures: Departures, head_bytes: float) -> Releases:
    """The first ``head_bytes`` wait for one another, then everything passes when it comes."""
    releases: Releases = []
    pending = 0
    flowing = False
    for time_ns, size in departures:
        pending += size
        flowing = flowing or pending >= head_bytes
        if flowing:
            releases.append((time_ns, pending))
            pending = 0
    if pending:
        releases.append((departures[-1][0], pending))
    return releases


OPERATORS: dict[str, tuple[Operator, ...]] = {
    "full-buffer": (full_buffer,),
    "size-flush": (size_flush, threshold_flush),
    "time-flush": (time_flush,),
    "head-hold": (head_hold,),
}
"""The operators that can leave a mechanism's rhythm, by mechanism id."""
