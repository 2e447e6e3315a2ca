"""A reverse proxy hop on 127.0.0.1 that does to the body what its fault says.

``python -m ssediag.lab.hop --to http://127.0.0.1:8000 --fault size-flush --bytes 4096``. The
response is always chunked, whatever the upstream's framing: one block, one chunk, one send.
"""

import argparse
import contextlib
import json
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from ssediag.lab import framing, serving
from ssediag.lab.faults import FAULTS, Fault, FaultKind, Settings
from ssediag.lab.framing import Body, Fields, Head, MessageError, Request
from ssediag.lab.upstream import ClientGoneError, Upstream

_CONNECT_SECONDS = 5.0
# RFC 9110, section 7.6.1, and what this hop writes itself.
_OWN_FIELDS = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade"}
_OWN_REQUEST_FIELDS = _OWN_FIELDS | {"expect", "content-length"}


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests go, and what happens to the responses. ``server`` None keeps theirs."""

    host: str
    port: int
    path_prefix: str
    kind: FaultKind
    settings: Settings
    headers_late: bool
    server: str | None


@dataclass(frozen=True, slots=True)
class Response:
    """What the upstream answered to a request, and the fault that fits it."""

    request: Request
    head: Head
    body: Body
    kind: FaultKind

    def head_bytes(self, server: str | None) -> bytes:
        """Write the head for the client."""
        replaced = {
            "Server": server,
            "Content-Type": self.kind.content_type,
            "Content-Encoding": self.kind.content_coding,
            "Connection": "keep-alive" if self.request.keeps_alive else "close",
        }
        own = _OWN_FIELDS | {name.lower() for name, value in replaced.items() if value is not None}
        if not self.body.is_complete:
            own.add("content-length")
            replaced["Transfer-Encoding"] = "chunked"
        kept = [field for field in self.head.fields if field[0].lower() not in own]
        added = [(name, value) for name, value in replaced.items() if value is not None]
        _, status, reason = self.head.first_line
        return framing.head_bytes(int(status), reason, (*kept, *added))


class Sender:
    """Sends a response block by block; the head goes at once, or with the first block."""

    def __init__(self, client: socket.socket, head: bytes, *, is_late: bool) -> None:
        self._client = client
        self._head = head
        if not is_late:
            self._send(b"")

    def blocks(self, blocks: list[bytes]) -> None:
        """Send each block as one chunk."""
        for block in blocks:
            self._send(framing.chunk(block))

    def end(self) -> None:
        """Send the last chunk."""
        self._send(framing.LAST_CHUNK)

    def _send(self, wire: bytes) -> None:
        head, self._head = self._head, b""
        self._client.sendall(head + wire)


def handle(client: socket.socket, route: Route) -> None:
    """Forward the requests of one connection; raises OSError when the client is gone."""
    rest: bytes | None = b""
    with contextlib.suppress(ClientGoneError):
        while rest is not None:
            try:
                request = framing.read_request(client, rest)
            except MessageError as wrong:
                _refuse(client, 400, "Bad Request", str(wrong))
                return
            rest = None if request is None else _forward(client, request, route)


def _forward(client: socket.socket, request: Request, route: Route) -> bytes | None:
    """Forward one request and its response.

    Gives the bytes the client sent after the request; None when the connection must close.
    """
    try:
        connection = socket.create_connection((route.host, route.port), _CONNECT_SECONDS)
    except OSError as error:
        _refuse(client, 502, "Bad Gateway", f"no upstream: {error.strerror or error}")
        return None
    with connection:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        upstream = Upstream(connection, client)
        try:
            connection.sendall(_request_bytes(request, route))
            response = _response(upstream.head(), request, route)
        except (OSError, MessageError) as error:
            _refuse(client, 502, "Bad Gateway", f"a bad upstream: {error}")
            return None
        is_whole = _relay(client, upstream, response, route)
    return request.rest + upstream.from_client if is_whole and request.keeps_alive else None


def _refuse(client: socket.socket, status: int, reason: str, message: str) -> None:
    body = json.dumps({"error": {"message": message, "type": "lab_error"}}).encode()
    fields = (
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    )
    client.sendall(framing.head_bytes(status, reason, fields) + body)


def _request_bytes(request: Request, route: Route) -> bytes:
    method, target, _ = request.head.first_line
    kept = (field for field in request.head.fields if field[0].lower() not in _OWN_REQUEST_FIELDS)
    fields = [*kept, ("Connection", "close")]
    if request.body or request.head.get("content-length"):
        fields.append(("Content-Length", str(len(request.body))))
    lines = [f"{method} {route.path_prefix}{target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in fields]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + request.body


def _response(head: Head, request: Request, route: Route) -> Response:
    """Choose the route's fault, or pass where it cannot be: an error, a coding nobody takes."""
    coding = route.kind.content_coding
    can_code = request.accepts(coding) and not head.get("content-encoding") if coding else True
    fits = head.first_line[1] == "200" and can_code
    body = framing.response_body(request.head.first_line[0], head)
    return Response(request, head, body, route.kind if fits else FAULTS["pass"])


def _relay(client: socket.socket, upstream: Upstream, response: Response, route: Route) -> bool:
    """Send the response through the fault; give whether it came to its end."""
    head = response.head_bytes(route.server)
    if response.body.is_complete:
        client.sendall(head)
        return True
    fault = response.kind.make(route.settings)
    sender = Sender(client, head, is_late=route.headers_late)
    _pump(upstream, response.body, fault, sender)
    if not fault.is_cut:
        sender.blocks(fault.finish())
    if fault.is_cut or not response.body.is_complete:
        return False
    sender.end()
    return True


def _pump(upstream: Upstream, body: Body, fault: Fault, sender: Sender) -> None:
    """Feed the fault until the body or its connection ends, or the fault cuts it off."""
    while not (body.is_complete or fault.is_cut):
        data = upstream.read(fault.wake_at_ns())
        now_ns = time.monotonic_ns()
        if data is None:
            sender.blocks(fault.wake(now_ns))
        elif data:
            try:
                sender.blocks(fault.feed(body.feed(data), now_ns))
            except MessageError:
                return
        else:
            body.close()
            return


def main() -> None:
    """Run one hop until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m ssediag.lab.hop", description=__doc__)
    parser.add_argument("--to", required=True, metavar="URL", help="the upstream, http only")
    parser.add_argument("--fault", choices=list(FAULTS), default="pass")
    parser.add_argument("--bytes", type=int, default=Settings().size_bytes)
    parser.add_argument("--period-ms", type=float, default=Settings().period_ms)
    parser.add_argument("--after-events", type=int, default=Settings().after_events)
    parser.add_argument("--server", help="the Server header; the upstream's if not given")
    parser.add_argument("--headers", choices=["early", "late"])
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    to = urlsplit(given.to)
    if to.scheme != "http" or not to.hostname:
        parser.error("--to wants an http:// address")
    if given.bytes < 1:
        parser.error("--bytes must be 1 or more")
    kind = FAULTS[given.fault]
    route = Route(
        host=to.hostname,
        port=to.port or 80,
        path_prefix=to.path.rstrip("/"),
        kind=kind,
        settings=Settings(given.bytes, given.period_ms, given.after_events),
        headers_late=kind.headers_late if given.headers is None else given.headers == "late",
        server=given.server,
    )
    serving.serve("hop", lambda client: handle(client, route), given.port)


if __name__ == "__main__":
    main()
