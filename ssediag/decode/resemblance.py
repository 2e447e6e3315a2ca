"""What a body that brought no events looks like, and whether one begins like an event stream."""

import json

from ssediag.decode.dialects.openai_chat import error_text

_BOM = b"\xef\xbb\xbf"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_GZIP_MAGIC = b"\x1f\x8b"
_HTML = (b"<!doctype html", b"<html")
_LOOKED_AT_BYTES = 512
_PRINTABLE_SHARE = 0.9
_SHOWN_CHARACTERS = 200
DECIDING_BYTES = len(_BOM) + max(map(len, _FIELDS))
"""So many bytes decide, line ends before them left out."""


def begins_like_events(sample: bytes) -> bool:
    """Whether the first line that is not blank is one of the event stream format."""
    return content_of(sample).startswith(_FIELDS)


def content_of(sample: bytes) -> bytes:
    """The sample from its first byte that is neither a byte order mark nor a line end."""
    return sample.removeprefix(_BOM).lstrip(b"\r\n")


def resemblance(sample: bytes, content_type: str) -> str | None:
    """A word for what the body is instead; None for an event stream without events."""
    text = sample.removeprefix(_BOM).lstrip()
    if not text:
        return "empty"
    if begins_like_events(sample):
        return None
    if text.startswith(_GZIP_MAGIC):
        return "gzip"
    if text[:1] in {b"{", b"["}:
        return "json"
    if text[:15].lower().startswith(_HTML) or content_type == "text/html":
        return "html"
    looked_at = text[:_LOOKED_AT_BYTES]
    printable = sum(byte >= ord(" ") or byte in b"\t\r\n" for byte in looked_at)
    return "text" if printable >= _PRINTABLE_SHARE * len(looked_at) else "binary"


def error_message(sample: bytes) -> str | None:
    """The message of an error answer: of its JSON, or its first line of text."""
    text = sample.decode("utf-8", "replace").strip()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        line = text.partition("\n")[0].strip()
        return line[:_SHOWN_CHARACTERS] if line and not line.startswith("<") else None
    return error_text(document)[:_SHOWN_CHARACTERS] if isinstance(document, dict) else None
