"""What a token instance sends and when: a list of steps, made before the first byte goes."""

import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from ssediag.lab.settings import Ending, Jitter, Settings, Shape

_MODEL = "lab-model"
_PROMPT_TOKENS = 7
_NS_PER_MS = 1_000_000
_UNSTAMPED = b'"ts":"0000000000000000000"'
_DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Step:
    """Events that are written together ``due_ns`` after the request came in.

    Without an event it only waits: the body's end comes as late as an event would.
    """

    due_ns: int
    events: tuple[bytes, ...]


def script(settings: Settings) -> list[Step]:
    """Give the whole stream in its order of sending.

    The first token is due after ``prefill_ms``, in the openai shape together with the role; what
    follows the last token, and the body's end, is due one gap after it.
    """
    ready = _ready_ns(settings)
    steps = [*_opening(settings, ready[0]), *_token_steps(settings, ready)]
    steps += [Step(ready[-1], (event,)) for event in _closing(settings)]
    return _ended(settings, [*steps, Step(ready[-1], ())])


def body_length(steps: list[Step]) -> int:
    """Give the length of all events in bytes; stamping does not change it."""
    return sum(len(event) for step in steps for event in step.events)


def stamped(event: bytes) -> bytes:
    """Put the present epoch time in nanoseconds into an event that has room for it."""
    return event.replace(_UNSTAMPED, b'"ts":"%019d"' % time.time_ns(), 1)


def document(settings: Settings) -> bytes:
    """Give the same answer as one JSON document."""
    text = "".join(_words(0, settings.tokens))
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return json.dumps(
        {
            "id": "chatcmpl-lab",
            "object": "chat.completion",
            "created": 0,
            "model": _MODEL,
            "choices": [choice],
            "usage": _usage(settings.tokens),
        }
    ).encode()


def end_ns(settings: Settings) -> int:
    """Give when the last event is due, in nanoseconds after the request came in."""
    return _ready_ns(settings)[-1]


def _ready_ns(settings: Settings) -> list[int]:
    """When each token is ready, and one gap later the end. Absolute, so that nothing drifts."""
    dice = random.Random(settings.seed)
    at_ms = settings.prefill_ms
    times = [at_ms]
    for _ in range(settings.tokens):
        at_ms += _gap_ms(settings, dice)
        times.append(at_ms)
    stalled_from = settings.stall_after * settings.tokens_per_event
    return [
        int((at + (settings.stall_ms if index >= stalled_from else 0.0)) * _NS_PER_MS)
        for index, at in enumerate(times)
    ]


def _gap_ms(settings: Settings, dice: random.Random) -> float:
    match settings.jitter:
        case Jitter.NONE:
            return settings.gap_ms
        case Jitter.UNIFORM:
            return dice.uniform(0.0, 2 * settings.gap_ms)
        case Jitter.POISSON:
            return dice.expovariate(1.0) * settings.gap_ms
    assert_never(settings.jitter)


def _token_steps(settings: Settings, ready: list[int]) -> Iterator[Step]:
    per_event, per_step = settings.tokens_per_event, settings.group
    starts = range(0, settings.tokens, per_event)
    events = [
        (min(start + per_event, settings.tokens), _token_event(settings, start)) for start in starts
    ]
    for at in range(0, len(events), per_step):
        together = events[at : at + per_step]
        yield Step(ready[together[-1][0] - 1], tuple(event for _, event in together))


def _words(start: int, end: int) -> list[str]:
    return [f"t{index} " for index in range(start, end)]


def _token_event(settings: Settings, start: int) -> bytes:
    end = min(start + settings.tokens_per_event, settings.tokens)
    text = "".join(_words(start, end)).rstrip()
    match settings.shape:
        case Shape.OPENAI:
            event = _chat_chunk({"content": text + " "}, None)
            if settings.usage:
                running = settings.tokens_per_event > 1
                event["usage"] = _usage(end) if running else None
            return _json_event(settings, event, settings.event_bytes)
        case Shape.PLAIN:
            return _json_event(settings, {"token": text}, settings.event_bytes)
        case Shape.RAW if settings.text:
            repeated = settings.text.replace("\\n", "\n").replace("\\r", "\r")
            return repeated.encode()
        case Shape.RAW:
            stamp = _UNSTAMPED.decode() + " " if settings.stamp else ""
            return _padded(f"data: {stamp}{text}", "x", "\n\n", settings.event_bytes)
    assert_never(settings.shape)


def _opening(settings: Settings, due_ns: int) -> list[Step]:
    if settings.shape is not Shape.OPENAI:
        return []
    role = _json_event(settings, _chat_chunk({"role": "assistant", "content": ""}, None))
    return [Step(due_ns, (role,))]


def _closing(settings: Settings) -> list[bytes]:
    if settings.shape is Shape.RAW:
        return []
    if settings.shape is Shape.PLAIN:
        return [_DONE]
    closing = [_json_event(settings, _chat_chunk({}, "stop"))]
    if settings.usage:
        counted = {**_chat_chunk({}, None), "choices": [], "usage": _usage(settings.tokens)}
        closing.append(_json_event(settings, counted))
    return [*closing, _DONE]


def _ended(settings: Settings, steps: list[Step]) -> list[Step]:
    """Cut the stream after ``end_after`` events, and leave out or add what the ending says."""
    if settings.ending in {Ending.NO_DONE, Ending.ERROR_EVENT}:
        steps = [step for step in steps if step.events != (_DONE,)]
    if settings.end_after:
        steps = _first_events(steps, settings.end_after)
    if settings.ending is Ending.ERROR_EVENT:
        error = {"error": {"message": "the lab's engine failed", "type": "server_error"}}
        due_ns = steps[-1].due_ns if steps else end_ns(settings)
        steps = [*steps, Step(due_ns, (_json_event(settings, error),))]
    return steps


def _first_events(steps: list[Step], count: int) -> list[Step]:
    kept: list[Step] = []
    for step in steps:
        events = step.events[:count]
        if events:
            kept.append(Step(step.due_ns, events))
        count -= len(events)
    return kept


def _chat_chunk(delta: dict[str, str], finish_reason: str | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-lab",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": _MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }


def _usage(completion_tokens: int) -> dict[str, int]:
    return {
        "prompt_tokens": _PROMPT_TOKENS,
        "completion_tokens": completion_tokens,
        "total_tokens": _PROMPT_TOKENS + completion_tokens,
    }


def _json_event(settings: Settings, event: dict[str, Any], event_bytes: int = 0) -> bytes:
    text = json.dumps(event)
    if settings.stamp:
        text = "{" + _UNSTAMPED.decode() + ", " + text[1:]
    return _padded("data: " + text[:-1], " ", "}\n\n", event_bytes)


def _padded(start: str, padding: str, end: str, event_bytes: int) -> bytes:
    missing = max(0, event_bytes - len(start) - len(end))
    return (start + padding * missing + end).encode()
