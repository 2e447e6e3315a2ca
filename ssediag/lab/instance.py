"""A token instance on 127.0.0.1: what an inference server sends, or should not send.

``python -m ssediag.lab.instance --tokens 100 --gap-ms 10``. Every option can be set for one
request by the query string: ``?tokens=100&framing=until-close``.
"""

import argparse
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, assert_never
from urllib.parse import parse_qsl, urlsplit

from ssediag.lab import framing, serving
from ssediag.lab.framing import MessageError, Request
from ssediag.lab.script import Step, body_length, document, end_ns, script, stamped
from ssediag.lab.settings import Answer, Ending, Framing, Settings, Shape, add_options, changed

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_PAGE = b"<!doctype html><title>Lab</title><p>This is a page and no stream.</p>\n"
_RST_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Exchange:
    """One request, when it was whole, and each event sent: epoch ns just before it, bytes."""

    request: Request
    began_ns: int
    began_epoch_ns: int
    events: list[tuple[int, int]] = field(default_factory=list)
    is_cancelled: bool = False

    def log_line(self) -> str:
        """Give the exchange as one JSON line; sizes are without framing and content coding."""
        return json.dumps(
            {
                "path": self.request.head.first_line[1],
                "began_epoch_ns": self.began_epoch_ns,
                "ended_epoch_ns": time.time_ns(),
                "cancelled": self.is_cancelled,
                "events": self.events,
            }
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A connection to answer on, and how."""

    connection: socket.socket
    exchange: Exchange
    settings: Settings

    def keeps_alive(self) -> bool:
        """Whether another request may follow on this connection."""
        is_framed = self.settings.framing is not Framing.UNTIL_CLOSE or self.settings.has_length
        return is_framed and self.exchange.request.keeps_alive

    def head(self, status: int, *fields: tuple[str, str]) -> None:
        """Send the response's head."""
        server = self.settings.server_header
        common = (
            *((("Server", server),) if server else ()),
            ("Cache-Control", "no-cache"),
            ("Connection", "keep-alive" if self.keeps_alive() else "close"),
        )
        line = framing.status_line(status)
        self.connection.sendall(framing.head_bytes(line, (*common, *fields)))

    def body(self, events: tuple[bytes, ...], wire: bytes) -> None:
        """Send events as framed in ``wire``, and note when."""
        now_ns = time.time_ns()
        self.exchange.events += [(now_ns, len(event)) for event in events]
        self.connection.sendall(wire)


def handle(connection: socket.socket, settings: Settings, log: Callable[[str], None]) -> None:
    """Answer the requests of one connection; raises OSError when the client is gone."""
    rest = b""
    while True:
        try:
            request = framing.read_request(connection, rest)
        except MessageError as wrong:
            connection.sendall(framing.refusal(400, str(wrong)))
            return
        if request is None:
            return
        rest = request.rest
        exchange = Exchange(request, time.monotonic_ns(), time.time_ns())
        try:
            goes_on = _answer(connection, exchange, settings)
        except OSError:
            exchange.is_cancelled = True
            raise
        finally:
            log(exchange.log_line())
        if not goes_on:
            return


def _answer(connection: socket.socket, exchange: Exchange, settings: Settings) -> bool:
    """Answer one request; give whether the connection serves another."""
    try:
        chosen = _chosen(settings, exchange.request)
    except ValueError as wrong:
        connection.sendall(framing.refusal(400, str(wrong)))
        return False
    reply = Reply(connection, exchange, chosen)
    if chosen.status != HTTPStatus.OK:
        _fail(reply)
        return reply.keeps_alive()
    match chosen.answer:
        case Answer.STREAM:
            return _stream(reply)
        case Answer.JSON:
            _wait(exchange, end_ns(chosen))
            _whole(reply, "application/json", document(chosen))
        case Answer.HTML:
            _wait(exchange, int(chosen.prefill_ms * 1_000_000))
            _whole(reply, "text/html; charset=utf-8", _PAGE)
        case Answer.EMPTY:
            _whole(reply, chosen.content_type, b"")
        case Answer.SILENCE:
            _until_gone(connection)
        case Answer.HEADERS_THEN_SILENCE:
            reply.head(200, ("Content-Type", chosen.content_type), ("Transfer-Encoding", "chunked"))
            _until_gone(connection)
        case _:
            assert_never(chosen.answer)
    return reply.keeps_alive()


def _chosen(settings: Settings, request: Request) -> Settings:
    """Apply the query string, and in the openai shape the fields of a JSON body."""
    query = urlsplit(request.head.first_line[1]).query
    chosen = changed(settings, parse_qsl(query))
    if chosen.shape is not Shape.OPENAI:
        return chosen
    asked = _json_object(request.body)
    limit = asked.get("max_completion_tokens", asked.get("max_tokens"))
    if isinstance(limit, int) and limit >= 0:
        chosen = replace(chosen, tokens=min(limit, chosen.tokens))
    options = asked.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage") is True:
        chosen = replace(chosen, usage=True)
    if asked.get("stream") is False and chosen.answer is Answer.STREAM:
        chosen = replace(chosen, answer=Answer.JSON)
    return chosen


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _fail(reply: Reply) -> None:
    error = {"message": f"the lab answers {reply.settings.status}", "type": "lab_error"}
    body = json.dumps({"error": {**error, "code": reply.settings.status}}).encode()
    _whole(reply, "application/json", body)


def _whole(reply: Reply, content_type: str, body: bytes) -> None:
    length = ("Content-Length", str(len(body)))
    reply.head(reply.settings.status, ("Content-Type", content_type), length)
    if body and not reply.exchange.request.is_head:
        reply.body((body,), body)


def _stream(reply: Reply) -> bool:
    """Send the script in its time; give whether the connection serves another request."""
    settings = reply.settings
    steps = script(settings)
    compressor = _compressor(reply)
    reply.head(200, *_stream_fields(settings, steps, is_gzip=compressor is not None))
    if reply.exchange.request.is_head:
        return reply.keeps_alive()
    for step in steps:
        _wait(reply.exchange, step.due_ns)
        if not step.events:
            continue
        data = b"".join(stamped(event) for event in step.events)
        if compressor is not None:
            data = compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)
        reply.body(step.events, _framed(settings, data))
    if settings.ending is Ending.RESET:
        reply.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST_ON_CLOSE)
    if settings.ending in {Ending.RESET, Ending.SHORT, Ending.NO_LAST_CHUNK}:
        return False
    tail = compressor.flush() if compressor is not None else b""
    end = framing.LAST_CHUNK if settings.framing is Framing.CHUNKED else b""
    reply.connection.sendall((_framed(settings, tail) if tail else b"") + end)
    return reply.keeps_alive()


def _compressor(reply: Reply) -> "zlib._Compress | None":
    if reply.settings.gzip and reply.exchange.request.accepts("gzip"):
        return zlib.compressobj(wbits=_GZIP_WINDOW)
    return None


def _stream_fields(
    settings: Settings, steps: list[Step], *, is_gzip: bool
) -> list[tuple[str, str]]:
    fields = [("Content-Type", settings.content_type)]
    if is_gzip:
        fields += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    if settings.has_length:
        missing = 1 if settings.ending is Ending.SHORT else 0
        fields.append(("Content-Length", str(body_length(steps) + missing)))
    elif settings.framing is Framing.CHUNKED:
        fields.append(("Transfer-Encoding", "chunked"))
    return fields


def _framed(settings: Settings, data: bytes) -> bytes:
    is_chunked = settings.framing is Framing.CHUNKED and not settings.has_length
    return framing.chunk(data) if is_chunked else data


def _wait(exchange: Exchange, due_ns: int) -> None:
    left_ns = exchange.began_ns + due_ns - time.monotonic_ns()
    if left_ns > 0:
        time.sleep(left_ns / 1e9)


def _until_gone(connection: socket.socket) -> None:
    while connection.recv(4096):
        continue


def _logger(path: Path | None) -> Callable[[str], None]:
    """Give what writes one line to the file, from any thread."""
    if path is None:
        return lambda _: None
    one_at_a_time = threading.Lock()

    def log(line: str) -> None:
        with one_at_a_time, path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    return log


def main() -> None:
    """Run one instance until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m ssediag.lab.instance", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="one JSON line for each finished request")
    add_options(parser)
    given = parser.parse_args()
    texts = [(name, text) for name, text in vars(given).items() if isinstance(text, str)]
    try:
        settings = changed(Settings(), texts)
    except ValueError as wrong:
        parser.error(str(wrong))
    log = _logger(given.log)
    serving.serve("instance", lambda connection: handle(connection, settings, log), given.port)


if __name__ == "__main__":
    main()
