"""What an error of the HTTP libraries means for a measurement: a stage and one clear clause."""

import re
from enum import IntEnum

import h2.errors
import h2.events
import httpcore

from ssediag.capture.backend import ProbedStream
from ssediag.model.recording import Closing, NotMeasured, Stage

Outcome = tuple[Closing, NotMeasured | None]

_SHOWN_CHARACTERS = 60
# Where a library's message begins to quote what was sent: that may be a secret.
_QUOTE = re.compile(r"\s*(?:bytearray\()?b?['\"]")
_TLS_RECORD = re.compile(rb"[\x15\x16]\x03")
_SETTINGS_FRAME = re.compile(rb"\x00.{2}\x04\x00\x00{4}", re.DOTALL)


def failed_outcome(
    error: Exception, stream: ProbedStream, stage: Stage, *, is_http2: bool
) -> Outcome:
    """How a capture ended that met ``error`` in ``stage``.

    Once the head is there, an end of the connection or of the stream is data, not a failure.
    """
    if isinstance(error, httpcore.ProxyError):
        reason = f"the proxy refused the tunnel: {error}"
        return Closing.STOPPED, NotMeasured(Stage.REFUSED, reason)
    if stage is Stage.SEND and not isinstance(error, httpcore.RemoteProtocolError):
        return _closing(error, stream), NotMeasured(stage, _unsendable(error))
    if stage is not Stage.BODY:
        reason = _without_head(error, stream, is_http2=is_http2)
        return _closing(error, stream), NotMeasured(Stage.HEADERS, reason)
    if stream.closing is not None or _event(error) is not None:
        return _closing(error, stream), None
    return Closing.STOPPED, NotMeasured(stage, f"the framing broke: {_plain(error)}")


def is_goaway(error: Exception) -> bool:
    """Whether the peer announced the end of an HTTP/2 connection; its streams may go on."""
    return isinstance(_event(error), h2.events.ConnectionTerminated)


def _closing(error: Exception, stream: ProbedStream) -> Closing:
    if stream.closing is not None:
        return stream.closing
    return Closing.STOPPED if _event(error) is None else Closing.RESET


def _event(error: Exception) -> h2.events.Event | None:
    """The event that ended an HTTP/2 stream; httpcore puts it into its RemoteProtocolError."""
    cause = error.args[0] if error.args else None
    return cause if isinstance(cause, h2.events.Event) else None


def _unsendable(error: Exception) -> str:
    return f"the request could not be sent: {_QUOTE.split(str(error))[0]}"


def _without_head(error: Exception, stream: ProbedStream, *, is_http2: bool) -> str:
    first_bytes = stream.reads[0].data if stream.reads else b""
    other = _other_protocol(first_bytes, is_http2=is_http2)
    if other is not None:
        return other
    where = "before any header" if is_http2 else "inside the head"
    if not first_bytes:
        where = "before any byte"
    event = _event(error)
    if isinstance(event, h2.events.StreamReset):
        return f"the peer reset the stream {where}: {_code(event.error_code)}"
    if isinstance(event, h2.events.ConnectionTerminated):
        return f"the peer sent GOAWAY {where}: {_code(event.error_code)}"
    if stream.closing is not None:
        how = "reset by the peer" if stream.closing is Closing.RESET else "the peer closed"
        return f"{how} {where}"
    if is_http2:
        return f"not an HTTP/2 answer: {_plain(error)}"
    return _unreadable(error, first_bytes)


def _unreadable(error: Exception, first_bytes: bytes) -> str:
    if first_bytes.startswith(b"HTTP/1."):
        return f"the head cannot be read: {_QUOTE.split(str(error))[0].rstrip(':')}"
    first_line = first_bytes.decode("latin-1").partition("\n")[0].strip()
    return f"not an HTTP answer: it begins {first_line[:_SHOWN_CHARACTERS]!r}"


def _other_protocol(first_bytes: bytes, *, is_http2: bool) -> str | None:
    """What the port speaks instead, where the first bytes say so."""
    if _TLS_RECORD.match(first_bytes):
        return "the port speaks TLS, not plain HTTP"
    if is_http2 and first_bytes.startswith(b"HTTP/1"):
        return "the port speaks HTTP/1.1, not HTTP/2"
    if not is_http2 and _SETTINGS_FRAME.match(first_bytes):
        return "the port speaks HTTP/2, not HTTP/1.1"
    return None


def _code(code: IntEnum | int | None) -> str:
    """``REFUSED_STREAM (7)``; the number alone when it has no name."""
    return f"{code.name} ({code.value})" if isinstance(code, IntEnum) else str(code)


def _plain(error: Exception) -> str:
    """The library's own words, on one line and not too long."""
    return " ".join(str(error).split())[: 2 * _SHOWN_CHARACTERS].rstrip(".")
