"""What arrived at one hop in one run, read by read, before anybody interprets it."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a hop is to the chain."""

    INSTANCE = "instance"
    GATEWAY = "gateway"
    PROXY = "proxy"
    CDN = "cdn"
    CLIENT = "client"
    UNKNOWN = "unknown"


class Clock(StrEnum):
    """Who dated the reads: the kernel's receive path, or this process after it was scheduled."""

    KERNEL = "kernel"
    USER = "user"


class Quality(StrEnum):
    """How well the arrival of a read is known.

    ``exact``: one segment, dated by the kernel. ``bounded``: somewhere in a proven interval.
    ``user``: dated by this process. ``unknown``: the interval is too wide to say anything.
    """

    EXACT = "exact"
    BOUNDED = "bounded"
    USER = "user"
    UNKNOWN = "unknown"


class Closing(StrEnum):
    """How the reading of a connection came to its end."""

    FINISHED = "finished"  # the response was complete; the connection itself may live on
    FIN = "fin"  # the peer closed in order
    RESET = "reset"  # the peer reset the connection
    TIMED_OUT = "timed-out"  # one of our limits ran out
    STOPPED = "stopped"  # we had enough, or were told to stop


class Stage(StrEnum):
    """The step of a request that could not be done; the contract's outcome names."""

    RESOLVE = "resolve"
    CONNECT = "connect"
    TLS = "tls"
    SEND = "send"
    HEADERS = "headers"
    STATUS = "status"
    BODY = "body"
    TIMEOUT = "timeout"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Hop:
    """One address of the chain. ``position`` 0 is the innermost; ``target`` holds no secret."""

    name: str
    target: str
    position: int
    role: Role = Role.UNKNOWN


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Why a run could not be measured, or not to its end: one clear clause, no secret."""

    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True)
class Read:
    """What one return from the socket delivered, and when: the unit of truth.

    The bytes arrived within ``earliest_ns`` … ``latest_ns``. ``segment_count`` is the number of
    TCP segments the kernel counted since the read before, or None where it does not say.
    """

    earliest_ns: int
    latest_ns: int
    quality: Quality
    data: bytes
    segment_count: int | None


@dataclass(frozen=True, slots=True)
class Phases:
    """When the steps before and after the reads happened; those before the request are negative.

    ``closed_ns`` is when the connection's end was seen, or when we stopped reading.
    """

    began_ns: int | None = None
    resolved_ns: int | None = None
    connected_ns: int | None = None
    secured_ns: int | None = None
    closed_ns: int | None = None


@dataclass(frozen=True, slots=True)
class SentRequest:
    """The request as it may be shown: secrets in the target and in headers are masked.

    ``proxy`` is the forward proxy it went through, ``proxy_source`` where that was named (an
    option or an environment variable).
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body_bytes: int = 0
    proxy: str | None = None
    proxy_source: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """One run at one hop: every read of the connection that carried the response.

    ``experiment`` names the variation this run belongs to (None for the plain request).
    ``peer`` is the address that answered, ``began_epoch_ns`` the wall-clock time of zero.
    ``not_measured`` says why the run has no end, or no beginning; the reads that came are kept.
    """

    hop: Hop
    run: int
    experiment: str | None
    protocol: str
    request: SentRequest
    phases: Phases
    reads: tuple[Read, ...]
    closing: Closing
    clock: Clock
    began_epoch_ns: int
    peer: str | None = None
    not_measured: NotMeasured | None = None
