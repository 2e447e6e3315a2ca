"""OpenAI chat completions, as OpenAI, Azure, vLLM, SGLang, llama.cpp and LiteLLM stream them.

An event is a token only if its text delta is not empty: role chunks, empty deltas, usage chunks
and filter annotations are not. The terminator is ``data: [DONE]``.
"""

import json
from collections.abc import Mapping
from typing import Any

from ssediag.decode.dialects import sse_plain
from ssediag.decode.dialects.reading import Dialect, Reading
from ssediag.model.stream import EventKind

_ERROR_TEXT_LENGTH = 200
# SGLang, llama.cpp and LiteLLM say the first; vLLM 0.32 and Ollama the second.
_REASONING_FIELDS = ("reasoning_content", "reasoning")
# FastAPI says "detail"; the last two are what is left where there is no text.
_ERROR_FIELDS = ("message", "detail", "type", "code")
_TEXT_KINDS = frozenset({EventKind.TOKEN, EventKind.REASONING, EventKind.TOOL})


def recognises(kind: bytes, data: bytes) -> bool:
    """Whether the first event is a chat completion chunk, or an error in its place.

    Azure begins with filter results, in a chunk without a name and without choices.
    """
    if kind or not data.startswith(b"{"):
        return False
    if b'"chat.completion.chunk"' in data or data[1:].lstrip().startswith(b'"error"'):
        return True
    return b'"choices"' in data and (b'"delta"' in data or b'"prompt_filter_results"' in data)


def read(kind: bytes, data: bytes, counted: int | None) -> Reading:
    """Read one chunk; ``counted`` are the completion tokens that earlier usage objects told.

    None if text came since without a count.
    """
    if data.startswith(b"[DONE]"):  # as OpenAI's own client tests it
        return Reading(EventKind.END)
    document = _document(data)
    if document.get("error") or (kind.lower() == b"error" and document):
        return Reading(EventKind.ERROR, error=error_text(document))
    if kind.lower() in sse_plain.NAMES:  # put in by a gateway, in no format of the engine's
        return sse_plain.read(kind, data, counted)
    return _chunk(document, counted)


def _document(data: bytes) -> Mapping[str, Any]:
    """The JSON object in ``data``; empty if it is none."""
    try:
        document = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _chunk(document: Mapping[str, Any], counted: int | None) -> Reading:
    usage = _usage_tokens(document)
    choice = _first_choice(document)
    delta = choice.get("delta")
    kind, text = _text(delta if isinstance(delta, dict) else {})
    reason = choice.get("finish_reason")
    if kind is EventKind.OTHER and usage is not None and not reason:
        kind = EventKind.USAGE
    return Reading(
        kind=kind,
        text_bytes=len(text.encode("utf-8", "surrogatepass")),
        token_count=_token_count(choice, kind, usage, counted),
        usage_tokens=usage,
        finish_reason=reason if isinstance(reason, str) else None,
    )


def _text(delta: Mapping[str, Any]) -> tuple[EventKind, str]:
    """The kind of a delta by what it carries, and its text."""
    content = delta.get("content")
    if isinstance(content, str) and content:
        return EventKind.TOKEN, content
    for name in _REASONING_FIELDS:
        thought = delta.get(name)
        if isinstance(thought, str) and thought:
            return EventKind.REASONING, thought
    calls = delta.get("tool_calls") or delta.get("function_call")
    if calls:
        return EventKind.TOOL, _arguments(calls)
    return (EventKind.ROLE if "role" in delta else EventKind.OTHER), ""


def _arguments(calls: Any) -> str:
    """The text of tool calls: their arguments, as far as this chunk brings them."""
    texts = []
    for call in calls if isinstance(calls, list) else [calls]:
        function = call.get("function", call) if isinstance(call, dict) else None
        text = function.get("arguments") if isinstance(function, dict) else None
        texts.append(text if isinstance(text, str) else "")
    return "".join(texts)


def _first_choice(document: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = document.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return {}


def _usage_tokens(document: Mapping[str, Any]) -> int | None:
    usage = document.get("usage")
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and count >= 0 else None


def _token_count(
    choice: Mapping[str, Any], kind: EventKind, usage: int | None, counted: int | None
) -> int | None:
    """What the event itself says: its token ids, its log probabilities, or the usage's growth.

    A usage object that comes only at the end tells of the whole stream, not of its own event,
    even where that one brings the last text.
    """
    ids = choice.get("token_ids")
    if isinstance(ids, list):
        return len(ids)
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if isinstance(content, list) and content:
        return len(content)
    if kind not in _TEXT_KINDS or usage is None or counted is None or usage < counted:
        return None
    return usage - counted


def error_text(document: Mapping[str, Any]) -> str:
    """The message of an error object, whatever its shape."""
    error = document.get("error") or document
    if isinstance(error, dict):
        error = next((error[name] for name in _ERROR_FIELDS if error.get(name)), "error")
    return str(error)[:_ERROR_TEXT_LENGTH]


DIALECT = Dialect("openai-chat", has_terminator=True, recognises=recognises, read=read)
