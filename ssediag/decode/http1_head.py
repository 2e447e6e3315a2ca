"""The head of an HTTP/1.x response: status line, fields, and how they frame the body. RFC 9112."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ssediag.model.stream import Framing, Head

_STATUS_LINE = re.compile(rb"HTTP/(1\.[01]) ([1-9]\d\d)(?: ([^\r\n]*))?")
_LINE_END = re.compile(rb"\r?\n")
_NO_BODY = frozenset({204, 304})
_SHOWN_BYTES = 40
# No body can be longer than a 64-bit count of bytes, the largest that any peer was seen to send.
_MAX_LENGTH_DIGITS = 20


@dataclass(frozen=True, slots=True)
class BodyFraming:
    """Where the body ends. ``defect`` makes it unreadable, ``note`` does not.

    ``length_bytes`` belongs to LENGTH.
    """

    framing: Framing
    length_bytes: int = 0
    defect: str | None = None
    note: str | None = None


def read_head(block: bytes, read_index: int) -> tuple[Head | None, list[str]]:
    """The head in ``block``, its blank line left out, and its defects; None if it is no HTTP/1."""
    first, *lines = _LINE_END.split(block)
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        return None, [f"not an HTTP/1 status line: {shown(first)}"]
    fields, notes = read_fields(lines)
    reason = (status[3] or b"").decode("latin-1").strip()
    return Head(int(status[2]), reason, status[1].decode("ascii"), fields, read_index), notes


def read_fields(lines: Iterable[bytes]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Header or trailer lines as names and values, and the defects of those that are neither."""
    fields: list[tuple[str, str]] = []
    notes: list[str] = []
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(b":"))
        if line[:1] in {b" ", b"\t"} and fields:  # obsolete folding, RFC 9112 5.2
            key, before = fields[-1]
            fields[-1] = (key, f"{before} {line.strip().decode('latin-1')}")
        elif colon and name:
            fields.append((name.decode("latin-1"), value.decode("latin-1")))
        else:
            notes.append(f"a header line without a name and a colon: {shown(line)}")
    return tuple(fields), notes


def body_framing(head: Head, method: str) -> BodyFraming:
    """How the body of this answer to ``method`` ends: RFC 9112 6.3."""
    if head.status in _NO_BODY or method.upper() == "HEAD":
        return BodyFraming(Framing.NONE)
    coding = head.header("transfer-encoding")
    length = head.header("content-length")
    if coding is None:
        return BodyFraming(Framing.UNTIL_CLOSE) if length is None else _by_length(length)
    if coding.strip().lower() != "chunked":
        unsupported = f"transfer coding {shown(coding)} is not supported"
        return BodyFraming(Framing.UNTIL_CLOSE, defect=unsupported)
    both = "both Transfer-Encoding and Content-Length: chunked wins"
    return BodyFraming(Framing.CHUNKED, note=None if length is None else both)


def _by_length(text: str) -> BodyFraming:
    values = {value.strip() for value in text.split(",")}
    value = values.pop()
    if values:
        return BodyFraming(Framing.LENGTH, defect=f"conflicting Content-Length values: {text}")
    if not (value.isascii() and value.isdigit()) or len(value) > _MAX_LENGTH_DIGITS:
        return BodyFraming(Framing.LENGTH, defect=f"Content-Length {shown(value)} is no length")
    return BodyFraming(Framing.LENGTH, length_bytes=int(value))


def shown(raw: bytes | str) -> str:
    """The beginning of something broken, fit for a message."""
    text = raw if isinstance(raw, str) else raw.decode("latin-1")
    return ascii(text[:_SHOWN_BYTES])
