"""Any event stream: an event with data is a token, unless its name says otherwise."""

from ssediag.decode.dialects.reading import Dialect, Reading
from ssediag.model.stream import EventKind

KEEPALIVES = frozenset({b"ping", b"keepalive", b"keep-alive", b"heartbeat"})
_ERROR = b"error"
NAMES = KEEPALIVES | {_ERROR}
"""The event fields that say what an event is, whatever its data."""
_ERROR_TEXT_BYTES = 200


def read(kind: bytes, data: bytes, _counted: int | None) -> Reading:
    """Read one event by its name and by whether it says anything."""
    if data == b"[DONE]":
        return Reading(EventKind.END)
    if kind:
        name = kind.lower()
        if name in KEEPALIVES:
            return Reading(EventKind.KEEPALIVE)
        if name == _ERROR:
            text = data[:_ERROR_TEXT_BYTES].decode("utf-8", "replace")
            return Reading(EventKind.ERROR, error=text or "an error event without a text")
    return Reading(EventKind.TOKEN if data else EventKind.OTHER, len(data))


DIALECT = Dialect(
    "sse-plain", has_terminator=False, recognises=lambda _kind, _data: True, read=read
)
