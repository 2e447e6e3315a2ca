"""From a host name to a connected socket, within the limits, and which way to take there."""

import errno
import os
import queue
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ssediag.capture import clock
from ssediag.capture.patience import SLICE_SECONDS, Patience, failed
from ssediag.model.recording import Stage

_MILLISECONDS_PER_SECOND = 1_000
# A blocked send gives up after a slice (50 ms), so that limits and a stop are looked at.
_SEND_TIMEOUT = struct.pack("@ll", 0, int(SLICE_SECONDS * 1_000_000))


class HttpVersion(StrEnum):
    """Which HTTP is spoken.

    AUTO and HTTP_2 offer both by ALPN on https and speak HTTP/1.1 on clear text; PRIOR_KNOWLEDGE
    starts HTTP/2 without asking, on either.
    """

    AUTO = "auto"
    HTTP_1_1 = "1.1"
    HTTP_2 = "2"
    PRIOR_KNOWLEDGE = "2-prior-knowledge"


@dataclass(frozen=True, slots=True)
class Route:
    """Which way a request takes. Holds secrets (``proxy``): never stored or shown.

    ``verify`` False accepts any certificate; ``ca_file`` replaces the system's authorities.
    ``client_cert`` is the file of the certificate and that of its key (None: same file).
    ``connect_to`` is dialled instead of the URL's host and port, while Host and SNI stay;
    ``unix_socket`` likewise. ``proxy`` is an http:// URL: https goes through CONNECT, and the
    other two apply to the way to the proxy. ``proxy_source`` is where the proxy was named, for
    the report.
    """

    verify: bool = True
    ca_file: str | None = None
    client_cert: tuple[str, str | None] | None = None
    http_version: HttpVersion = HttpVersion.AUTO
    connect_to: tuple[str, int] | None = None
    unix_socket: str | None = None
    proxy: str | None = None
    proxy_source: str | None = None


@dataclass(frozen=True, slots=True)
class Dialled:
    """A connected, blocking socket, who is at its other end, and when each step was done."""

    connection: socket.socket
    kernel_dated: bool
    peer: str
    resolved_ns: int
    connected_ns: int


@dataclass(frozen=True, slots=True)
class _Address:
    """Where a socket can be connected to, and its name for people."""

    family: int
    sockaddr: tuple[Any, ...] | str
    text: str


def dial(route: Route, host: str, port: int, patience: Patience) -> Dialled:
    """Connect to ``host`` and ``port``, or to what ``route`` says instead.

    Raises patience.HaltError with the reason when no address can be reached in time.
    """
    if route.unix_socket is not None:
        addresses = [_Address(socket.AF_UNIX, route.unix_socket, f"unix:{route.unix_socket}")]
    else:
        addresses = _resolve(*(route.connect_to or (host, port)), patience)
    resolved_ns = time.time_ns()
    reasons: list[str] = []
    for tried, address in enumerate(addresses):
        patience.begin(Stage.CONNECT, f"connection to {address.text}")
        # A share each: an address that swallows packets must not use up the time of the others.
        share_ns = patience.connect_left_ns() // (len(addresses) - tried)
        try:
            connection, kernel_dated = _connect(address, share_ns, patience)
        except OSError as error:
            reasons.append(_why(error, address))
            continue
        connected_ns = time.time_ns()
        if kernel_dated:
            # Stamps start with a delay; with this socket open they stay on from here.
            clock.kernel_stamps_work()
        return Dialled(connection, kernel_dated, address.text, resolved_ns, connected_ns)
    if not patience.connect_left_ns():
        raise patience.out_of_time()
    raise failed(Stage.CONNECT, "; ".join(dict.fromkeys(reasons)))


def _resolve(host: str, port: int, patience: Patience) -> list[_Address]:
    """The addresses of ``host``, in the system's order.

    The lookup runs in a thread, since it cannot be interrupted: one that hangs is left behind
    when the limit has passed.
    """
    patience.begin(Stage.RESOLVE, f"address for host {host}")
    answers: queue.SimpleQueue[list[_Address] | OSError | UnicodeError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(_look_up(host, port))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    lookup = threading.Thread(target=look_up, name="ssediag-resolve", daemon=True)
    lookup.start()
    while lookup.is_alive():
        lookup.join(SLICE_SECONDS)
        patience.check()
    answer = answers.get()
    if isinstance(answer, list):
        return answer
    words = answer.strerror if isinstance(answer, OSError) else str(answer)
    raise failed(Stage.RESOLVE, f"no address for host {host}: {words}")


def _look_up(host: str, port: int) -> list[_Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [_address(family, sockaddr) for family, _, _, _, sockaddr in found]


def _address(family: int, sockaddr: tuple[Any, ...]) -> _Address:
    host, port = sockaddr[:2]
    text = f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"
    return _Address(family, sockaddr, text)


def _connect(address: _Address, share_ns: int, patience: Patience) -> tuple[socket.socket, bool]:
    """A connected blocking socket, and whether the kernel dates what it receives."""
    connection = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        kernel_dated = clock.enable_kernel_stamps(connection)
        _establish(connection, address, share_ns, patience)
    except BaseException:
        connection.close()
        raise
    return connection, kernel_dated


def _establish(
    connection: socket.socket, address: _Address, share_ns: int, patience: Patience
) -> None:
    if address.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(0)
    code = connection.connect_ex(address.sockaddr)
    if code == errno.EINPROGRESS:
        code = _await_connection(connection, share_ns, patience)
    if code:
        raise OSError(code, os.strerror(code))
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _SEND_TIMEOUT)


def _await_connection(connection: socket.socket, share_ns: int, patience: Patience) -> int:
    """Wait until the connection stands or failed; returns the error number, 0 for none."""
    poll = select.poll()
    poll.register(connection, select.POLLOUT)
    give_up_ns = time.monotonic_ns() + share_ns
    while not poll.poll(SLICE_SECONDS * _MILLISECONDS_PER_SECOND):
        patience.check()
        if time.monotonic_ns() >= give_up_ns:
            return errno.ETIMEDOUT
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def _why(error: OSError, address: _Address) -> str:
    if error.errno == errno.ECONNREFUSED:
        return f"connection refused by {address.text}"
    if error.errno == errno.ETIMEDOUT:
        return f"no answer from {address.text}"
    return f"cannot connect to {address.text}: {error.strerror or error}"
