"""The payload formats, as a table that others join: how to know one, and what its events say."""

from ssediag.decode.dialects import openai_chat, sse_plain
from ssediag.decode.dialects.reading import Dialect

FALLBACK = sse_plain.DIALECT
"""What any stream can be read as."""

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (openai_chat.DIALECT, FALLBACK)
}
"""In the order in which a stream's first event is held against them; the last takes any."""


def recognise(kind: bytes, data: bytes) -> Dialect | None:
    """The dialect of a stream by an event; None if that one could come in any stream."""
    if not data or kind.lower() in sse_plain.KEEPALIVES:
        return None
    return next((each for each in DIALECTS.values() if each.recognises(kind, data)), FALLBACK)
