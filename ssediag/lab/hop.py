"""A reverse hop on 127.0.0.1 that does one thing wrong to every body it passes on.

``python -m ssediag.lab.hop --to http://127.0.0.1:8000 --fault size-flush --bytes 4096``.
"""

import argparse
import contextlib
import math
import select
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from ssediag.lab import framing, serving
from ssediag.lab.faults import FAULTS, Fault, FaultKind, Settings
from ssediag.lab.framing import Body, Fields, Head, MessageError, Request

_READ_BYTES = 65536
_NS_PER_MS = 1_000_000
_PER_CONNECTION = {
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade", "content-length", "expect",
}  # fmt: skip


class ClientGoneError(Exception):
    """The client closed before its answer was whole; the upstream is closed in its turn."""


@dataclass(frozen=True, slots=True)
class Hop:
    """What one hop is told: where to, what to do to the body, and how to show itself.

    ``headers_late`` and ``server_header`` None leave it to the fault and to the upstream.
    """

    upstream: tuple[str, int]
    path_prefix: str
    kind: FaultKind
    settings: Settings
    headers_late: bool | None
    server_header: str | None
    via: str | None
    upstream_version: str


class Downstream:
    """The response to one client: its head, early or late, and blocks, each as one send."""

    def __init__(self, connection: socket.socket, head: bytes, *, is_chunked: bool) -> None:
        self._connection = connection
        self._unsent_head = head
        self._is_chunked = is_chunked

    def send_head(self) -> None:
        """Send the head unless it is sent."""
        self._send(b"")

    def send(self, blocks: list[bytes]) -> None:
        """Send each block as one chunk; a late head goes with the first."""
        for block in blocks:
            self._send(framing.chunk(block) if self._is_chunked else block)

    def end(self) -> None:
        """End the body as its framing asks for."""
        self._send(framing.LAST_CHUNK if self._is_chunked else b"")

    def _send(self, data: bytes) -> None:
        data, self._unsent_head = self._unsent_head + data, b""
        self._connection.sendall(data)


def handle(client: socket.socket, hop: Hop) -> None:
    """Pass on the requests of one connection; raises OSError when the client is gone."""
    rest = b""
    goes_on = True
    while goes_on:
        try:
            request = framing.read_request(client, rest)
            if request is None:
                return
            rest = request.rest
            goes_on = _pass_on(client, hop, request)
        except MessageError as wrong:
            client.sendall(framing.refusal(400, str(wrong)))
            return
        except ClientGoneError:
            return


def _pass_on(client: socket.socket, hop: Hop, request: Request) -> bool:
    """Pass one request on and its answer back; give whether the client may send another."""
    with contextlib.ExitStack() as opened:
        try:
            upstream = opened.enter_context(socket.create_connection(hop.upstream))
            upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            upstream.sendall(_upstream_request(hop, request))
            head, data = _final_head(client, upstream)
            body = framing.response_body(request.head.first_line[0], head)
        except (OSError, MessageError) as wrong:
            client.sendall(framing.refusal(502, f"the upstream failed: {wrong}"))
            return False
        kind = _applied(hop, request, head)
        down = _downstream(client, hop, kind, request, head)
        if not _is_late(hop, kind):
            down.send_head()
        fault = kind.make(hop.settings)
        with contextlib.suppress(MessageError):  # broken framing: what is held goes, then it ends
            down.send(fault.feed(body.feed(data), time.monotonic_ns()))
            _pump(client, upstream, fault, body, down)
        if not _finished(fault, body, down):
            return False
    return request.keeps_alive and request.head.first_line[2] == "HTTP/1.1"


def _upstream_request(hop: Hop, request: Request) -> bytes:
    method, target, _ = request.head.first_line
    dropped = _PER_CONNECTION | request.head.words("connection")
    if hop.kind.wants_identity:
        dropped = dropped | {"accept-encoding"}
    fields = tuple(field for field in request.head.fields if field[0].lower() not in dropped)
    if request.body or request.head.get("content-length"):
        fields += (("Content-Length", str(len(request.body))),)
    first_line = f"{method} {hop.path_prefix}{target} HTTP/{hop.upstream_version}"
    return framing.head_bytes(first_line, (*fields, ("Connection", "close"))) + request.body


def _final_head(client: socket.socket, upstream: socket.socket) -> tuple[Head, bytes]:
    """Read the final head and what came with it; interim heads are dropped."""
    data = b""
    while True:
        if not data:
            _wait(upstream, client, None)
        found = framing.read_head(upstream, data)
        if found is None:
            raise MessageError("closed without an answer")
        head, data = found
        if not head.first_line[1].isdecimal():
            raise MessageError(f"no status: {head.first_line[1][:40]!r}")
        if not head.first_line[1].startswith("1"):
            return head, data


def _wait(upstream: socket.socket, client: socket.socket, due_ns: int | None) -> bool:
    """Wait until the upstream has something to read; False when ``due_ns`` came first."""
    watched = select.poll()
    watched.register(upstream, select.POLLIN)
    watched.register(client, select.POLLRDHUP)  # not POLLIN: its next request may wait there
    left_ms = None
    if due_ns is not None:
        left_ms = max(0, math.ceil((due_ns - time.monotonic_ns()) / _NS_PER_MS))
    ready = {number for number, _ in watched.poll(left_ms)}
    if client.fileno() in ready:
        raise ClientGoneError
    return upstream.fileno() in ready


def _applied(hop: Hop, request: Request, head: Head) -> FaultKind:
    """Give the fault for this response: errors pass, and so does what may not be coded."""
    is_coded = bool(head.get("content-encoding"))
    coding = hop.kind.content_coding
    may_code = coding is None or (request.accepts(coding) and not is_coded)
    return hop.kind if head.first_line[1] == "200" and may_code else FAULTS["pass"]


def _is_late(hop: Hop, kind: FaultKind) -> bool:
    return kind.headers_late if hop.headers_late is None else hop.headers_late


def _downstream(
    client: socket.socket, hop: Hop, kind: FaultKind, request: Request, head: Head
) -> Downstream:
    method, _, version = request.head.first_line
    has_body = method != "HEAD" and head.first_line[1] not in {"204", "304"}
    is_chunked = has_body and version == "HTTP/1.1"
    keeps_alive = request.keeps_alive and version == "HTTP/1.1"
    fields = (
        *_passed_fields(hop, kind, head),
        *((("Transfer-Encoding", "chunked"),) if is_chunked else ()),
        ("Connection", "keep-alive" if keeps_alive else "close"),
    )
    first_line = " ".join(("HTTP/1.1", *head.first_line[1:]))
    return Downstream(client, framing.head_bytes(first_line, fields), is_chunked=is_chunked)


def _passed_fields(hop: Hop, kind: FaultKind, head: Head) -> Fields:
    own = (
        ("Server", hop.server_header),
        ("Content-Type", kind.content_type),
        ("Content-Encoding", kind.content_coding),
    )
    replaced = {name.lower() for name, value in own if value is not None}
    dropped = _PER_CONNECTION | head.words("connection") | replaced
    passed = tuple(field for field in head.fields if field[0].lower() not in dropped)
    via = (("Via", hop.via),) if hop.via else ()
    return (*passed, *((name, value) for name, value in own if value), *via)


def _pump(
    client: socket.socket, upstream: socket.socket, fault: Fault, body: Body, down: Downstream
) -> None:
    """Run the fault over the body until the body ends, its connection ends, or it is cut."""
    while not (body.is_complete or fault.is_cut):
        if not _wait(upstream, client, fault.wake_at_ns()):
            down.send(fault.wake(time.monotonic_ns()))
            continue
        data = _received(upstream, body)
        if data is None:
            return
        down.send(fault.feed(body.feed(data), time.monotonic_ns()))


def _finished(fault: Fault, body: Body, down: Downstream) -> bool:
    """Send what the end sets free; give whether the body ended as its framing asks for."""
    down.send(fault.finish())
    if fault.is_cut or not body.is_complete:
        down.send_head()
        return False
    down.end()
    return True


def _received(upstream: socket.socket, body: Body) -> bytes | None:
    """Give what came; None at the end, which is told to the body unless it was a reset."""
    try:
        data = upstream.recv(_READ_BYTES)
    except ConnectionError:
        return None
    if not data:
        body.close()
    return data or None


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ssediag.lab.hop", description=__doc__)
    parser.add_argument("--to", required=True, metavar="URL", help="http://HOST:PORT")
    parser.add_argument("--fault", required=True, choices=FAULTS)
    parser.add_argument("--bytes", type=int, default=4096, dest="size_bytes")
    parser.add_argument("--period-ms", type=float, default=250.0)
    parser.add_argument("--after-events", type=int, default=8)
    parser.add_argument("--headers", choices=("early", "late"), help="default: as the fault does")
    parser.add_argument("--server-header", help="in place of the upstream's; empty for none")
    parser.add_argument("--via", help="added to the upstream's")
    parser.add_argument("--upstream-http", choices=("1.0", "1.1"), default="1.1")
    parser.add_argument("--name", default="hop")
    parser.add_argument("--port", type=int, default=0)
    return parser


def main() -> None:
    """Run one hop until told to stop."""
    parser = _options()
    given = parser.parse_args()
    target = urlsplit(given.to)
    if target.scheme != "http" or target.hostname is None:
        parser.error(f"--to {given.to}: not http://HOST:PORT")
    if given.size_bytes < 1:
        parser.error("--bytes must be 1 or more")
    hop = Hop(
        upstream=(target.hostname, target.port or 80),
        path_prefix=target.path.rstrip("/"),
        kind=FAULTS[given.fault],
        settings=Settings(given.size_bytes, given.period_ms, given.after_events),
        headers_late=None if given.headers is None else given.headers == "late",
        server_header=given.server_header,
        via=given.via,
        upstream_version=given.upstream_http,
    )
    serving.serve(given.name, lambda client: handle(client, hop), given.port)


if __name__ == "__main__":
    main()
