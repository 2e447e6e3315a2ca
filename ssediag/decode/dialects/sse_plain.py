"""Any event stream: an event with data is a token, unless its name says otherwise."""

from ssediag.decode.dialects.reading import Dialect, Reading
from ssediag.model.stream import EventKind

_KEEPALIVES = frozenset({b"ping", b"keepalive", b"keep-alive", b"heartbeat"})
_ERROR_TEXT_BYTES = 200


def read(kind: bytes, data: bytes, _counted: int) -> Reading:
    """Read one event by its name and by whether it says anything."""
    if data == b"[DONE]":
        return Reading(EventKind.END)
    name = kind.lower()
    if name in _KEEPALIVES:
        return Reading(EventKind.KEEPALIVE)
    if name == b"error":
        return Reading(EventKind.ERROR, error=data[:_ERROR_TEXT_BYTES].decode("utf-8", "replace"))
    return Reading(EventKind.TOKEN if data else EventKind.OTHER, len(data))


DIALECT = Dialect(
    "sse-plain", has_terminator=False, recognises=lambda _kind, _data: True, read=read
)
