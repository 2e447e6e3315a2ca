"""The payload formats, as a table that others join: how to know one, and what its events say."""

from ssediag.decode.dialects import openai_chat, sse_plain
from ssediag.decode.dialects.reading import Dialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (openai_chat.DIALECT, sse_plain.DIALECT)
}
"""In the order in which a stream's first event is held against them; the last takes any."""


def recognise(kind: bytes, data: bytes) -> Dialect:
    """The dialect that the first event of a stream speaks."""
    for dialect in DIALECTS.values():
        if dialect.recognises(kind, data):
            return dialect
    return sse_plain.DIALECT
