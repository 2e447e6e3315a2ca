"""The request that a hop is asked with: what the user said, and sensible defaults for the rest."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from ssediag import __version__
from ssediag.capture.redact import is_credential_header
from ssediag.model.request import Request

# The codings that every common client offers (openai and httpx, requests, aiohttp, fetch); a chain
# that is clean only for clients that offer none must not pass.
_DEFAULT_HEADERS = (
    ("Accept", "text/event-stream, */*"),
    ("Accept-Encoding", "gzip, deflate"),
    ("User-Agent", f"ssediag/{__version__}"),
)
_DEFAULT_MAX_TOKENS = 64
_DEFAULT_PROMPT = (
    "Count from 1 to 500, numbers separated by spaces, nothing else."  # long and predictable
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said about the request. ``hop`` in a header is None for every hop."""

    method: str | None = None
    headers: tuple[tuple[str | None, str, str], ...] = ()
    body: bytes | None = None
    prompt: str | None = None
    model: str | None = None
    max_tokens: int | None = None
    plain: bool = False  # send only what was asked for: no codings offered
    share_credentials: bool = False


def build_request(url: str, name: str, asked: Asked, first_url: str) -> Request:
    """The request for the hop ``name`` at ``url``.

    A credential given for no hop in particular goes only to the hops of the first hop's host.
    """
    body, extra = _body(url, asked)
    given = [
        (key, value)
        for hop, key, value in asked.headers
        if hop == name or (hop is None and _may_have(key, url, first_url, asked))
    ]
    method = asked.method or ("POST" if body is not None else "GET")
    defaults = [*_DEFAULT_HEADERS, *extra]
    if asked.plain:
        defaults = [pair for pair in defaults if pair[0] != "Accept-Encoding"]
    return Request(method, url, _merged(defaults, given), body)


def _may_have(key: str, url: str, first_url: str, asked: Asked) -> bool:
    same_host = urlsplit(url).hostname == urlsplit(first_url).hostname
    return same_host or asked.share_credentials or not is_credential_header(key)


def _merged(
    defaults: Sequence[tuple[str, str]], given: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """The defaults, but for those that were given; a header given empty is left out."""
    named = {key.lower() for key, _ in given}
    kept = [pair for pair in defaults if pair[0].lower() not in named]
    return tuple(pair for pair in [*kept, *given] if pair[1])


def _body(url: str, asked: Asked) -> tuple[bytes | None, list[tuple[str, str]]]:
    """The user's body, or the small default POST of a known API path, with its headers."""
    if asked.body is not None:
        return asked.body, [("Content-Type", "application/json")]
    if asked.method is not None or not is_chat_path(url):
        return None, []
    return _chat_body(asked), [("Content-Type", "application/json")]


def is_chat_path(url: str) -> bool:
    """Whether the path is that of an OpenAI chat endpoint."""
    return urlsplit(url).path.rstrip("/").endswith("/chat/completions")


def _chat_body(asked: Asked) -> bytes:
    """A small streamed chat request. The nonce comes first, so that no prefix cache helps a hop."""
    prompt = f"[{secrets.token_hex(4)}] {asked.prompt or _DEFAULT_PROMPT}"
    document = {
        "model": asked.model or "default",
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
        "max_tokens": asked.max_tokens or _DEFAULT_MAX_TOKENS,
        "stream_options": {"include_usage": True},
    }
    return json.dumps(document).encode()
