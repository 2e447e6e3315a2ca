"""What is to be measured, and how: the input of a comparison, made by the command line."""

from dataclasses import dataclass, field

from ssediag.capture.dial import Route
from ssediag.model.recording import Hop
from ssediag.model.request import Limits, Request
from ssediag.model.stream import Stream


@dataclass(frozen=True, slots=True)
class Target:
    """One hop: live with a request and a route to it, or recorded with the streams of a file."""

    hop: Hop
    request: Request | None = None
    route: Route = field(default_factory=Route)
    recorded: tuple[Stream, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A comparison of one or more hops, inner first.

    ``max_run_count`` bounds the plain runs at each hop; with ``stop_early`` two runs that agree
    are enough. ``own_body``: the user gave the request body, so it is never sent more often than
    ``max_run_count`` says, experiments included.
    """

    targets: tuple[Target, ...]
    limits: Limits
    max_run_count: int = 3
    stop_early: bool = True
    experiments: bool = True
    own_body: bool = False
    dialect: str = "auto"
    with_data: bool = False
    allowed: frozenset[str] = frozenset()
