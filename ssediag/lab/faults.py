"""What a bad hop does to a body, as state machines without clock or socket.

A fault takes the de-framed body as it comes and says which blocks to send now. One block is one
chunk and one send. Times are nanoseconds of any one clock that never goes back.
"""

import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Split = Callable[[bytes, int], tuple[list[bytes], bytes]]
"""From (bytes held, blocks sent before) to (blocks to send now, bytes to hold on)."""

_EVENT_END = re.compile(rb"\r?\n\r?\n")
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_NS_PER_MS = 1_000_000


class Fault:
    """Holds a body back by a rule.

    ``split`` decides at every arrival, ``at_end`` makes the last bytes of what is held when the
    upstream ends. With ``period_ns`` all that is held goes that long after its first byte came.
    With ``cut_after`` the body ends after that many blocks, and ``at_end`` is not asked.
    """

    def __init__(
        self,
        split: Split,
        *,
        at_end: Callable[[bytes], bytes] = bytes,
        period_ns: int | None = None,
        cut_after: int | None = None,
    ) -> None:
        self._split = split
        self._at_end = at_end
        self._period_ns = period_ns
        self._cut_after = cut_after
        self._held = b""
        self._sent_count = 0
        self._due_ns: int | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the hop must close now without a last chunk."""
        return self._cut_after is not None and self._sent_count >= self._cut_after

    def feed(self, data: bytes, now_ns: int) -> list[bytes]:
        """Take body bytes that came at ``now_ns``; give the blocks to send now."""
        due = self.wake(now_ns)
        blocks, self._held = self._split(self._held + data, self._sent_count)
        if self._period_ns is not None and self._due_ns is None and self._held:
            self._due_ns = now_ns + self._period_ns
        return due + self._sent(blocks)

    def wake_at_ns(self) -> int | None:
        """When ``wake`` wants to be called; None while nothing waits for a time."""
        return self._due_ns

    def wake(self, now_ns: int) -> list[bytes]:
        """Give the blocks that are due at ``now_ns``."""
        if self._due_ns is None or now_ns < self._due_ns:
            return []
        held, self._held, self._due_ns = self._held, b"", None
        return self._sent([held])

    def finish(self) -> list[bytes]:
        """Give the blocks that the end of the upstream body sets free; a cut body gives none."""
        if self._cut_after is not None:
            self._cut_after = 0
            return []
        held, self._held, self._due_ns = self._held, b"", None
        return self._sent([self._at_end(held)])

    def _sent(self, blocks: list[bytes]) -> list[bytes]:
        sent = [block for block in blocks if block]
        self._sent_count += len(sent)
        return sent


@dataclass(frozen=True, slots=True)
class Settings:
    """The figures a fault may use: a buffer's size, a timer's period, a count of events."""

    size_bytes: int = 4096
    period_ms: float = 250.0
    after_events: int = 8


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One row of the table: how to make the fault, and what it does to the response head.

    ``headers_late``: the head waits for the first block. ``content_coding``: sent, and asked of
    the client, which gets ``pass`` if it does not accept it. ``content_type`` replaces the
    upstream's. ``wants_identity``: it reads the text, so that the upstream must not code it.
    """

    make: Callable[[Settings], Fault]
    headers_late: bool = False
    content_coding: str | None = None
    content_type: str | None = None
    wants_identity: bool = False


def _pass(_: Settings) -> Fault:
    """Send everything at once."""
    return Fault(lambda held, _sent: ([held], b""))


def _full_buffer(_: Settings) -> Fault:
    """Send everything at the end."""
    return Fault(_keep)


def _size_flush(settings: Settings) -> Fault:
    """Send blocks of exactly ``size_bytes``, as a proxy does that fills fixed buffers."""
    size = settings.size_bytes

    def split(held: bytes, _sent: int) -> tuple[list[bytes], bytes]:
        whole = len(held) - len(held) % size
        return [held[at : at + size] for at in range(0, whole, size)], held[whole:]

    return Fault(split)


def _threshold_flush(settings: Settings) -> Fault:
    """Send all that is held once it is ``size_bytes`` or more."""
    return Fault(
        lambda held, _sent: ([held], b"") if len(held) >= settings.size_bytes else ([], held)
    )


def _time_flush(settings: Settings) -> Fault:
    """Send all that is held ``period_ms`` after its first byte came."""
    return Fault(_keep, period_ns=int(settings.period_ms * _NS_PER_MS))


def _head_hold(settings: Settings) -> Fault:
    """Hold the first ``size_bytes``, then send everything at once."""
    size = settings.size_bytes
    return Fault(lambda held, sent: ([held], b"") if sent or len(held) >= size else ([], held))


def _gzip_hold(_: Settings) -> Fault:
    """Compress and never flush: the ten header bytes come, the text waits for the end."""
    compressor = zlib.compressobj(wbits=_GZIP_WINDOW)
    return Fault(
        lambda held, _sent: ([compressor.compress(held)], b""),
        at_end=lambda _: compressor.flush(),
    )


def _truncate(settings: Settings) -> Fault:
    """Send ``after_events`` events, then close without a last chunk."""
    return Fault(_first_events(settings.after_events), cut_after=settings.after_events)


def _tail_hold(settings: Settings) -> Fault:
    """Send ``after_events`` events as they come, and the later ones only with the end."""
    return Fault(_first_events(settings.after_events))


def _one_event_late(_: Settings) -> Fault:
    """Send an event when the next one is complete, as a reader with one event of lookahead."""

    def split(held: bytes, _sent: int) -> tuple[list[bytes], bytes]:
        events, rest = _split_events(held)
        return events[:-1], b"".join(events[-1:]) + rest

    return Fault(split)


def _not_a_stream(_: Settings) -> Fault:
    """Collect the stream and answer one JSON document, as a gateway that cannot stream."""
    return Fault(_keep, at_end=_document)


FAULTS: dict[str, FaultKind] = {
    "pass": FaultKind(_pass),
    "full-buffer": FaultKind(_full_buffer, headers_late=True),
    "size-flush": FaultKind(_size_flush, headers_late=True),
    "threshold-flush": FaultKind(_threshold_flush, headers_late=True),
    "time-flush": FaultKind(_time_flush),
    "head-hold": FaultKind(_head_hold, headers_late=True),
    "gzip-hold": FaultKind(_gzip_hold, content_coding="gzip", wants_identity=True),
    "truncate": FaultKind(_truncate, wants_identity=True),
    "not-a-stream": FaultKind(
        _not_a_stream, headers_late=True, content_type="application/json", wants_identity=True
    ),
    "tail-hold": FaultKind(_tail_hold, wants_identity=True),
    "one-event-late": FaultKind(_one_event_late, wants_identity=True),
}
"""Every fault by the name the command line takes."""


def _keep(held: bytes, _sent: int) -> tuple[list[bytes], bytes]:
    return [], held


def _first_events(count: int) -> Split:
    def split(held: bytes, sent: int) -> tuple[list[bytes], bytes]:
        if sent >= count:
            return [], held
        events, _ = _split_events(held)
        passed = events[: count - sent]
        return passed, held[sum(map(len, passed)) :]

    return split


def _split_events(data: bytes) -> tuple[list[bytes], bytes]:
    """Split into complete events, each with its blank line, and the incomplete rest."""
    ends = [match.end() for match in _EVENT_END.finditer(data)]
    starts = [0, *ends]
    return [data[a:b] for a, b in zip(starts, ends, strict=False)], data[starts[-1] :]


def _document(stream: bytes) -> bytes:
    lines = stream.decode("utf-8", "replace").splitlines()
    text = "".join(_text(line[5:].strip()) for line in lines if line.startswith("data:"))
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def _text(data: str) -> str:
    """Give the text in one event's data: a chat chunk, a plain token, or the data itself."""
    try:
        event: Any = json.loads(data)
        if "token" in event:
            return str(event["token"])
        return "".join(str(choice["delta"].get("content") or "") for choice in event["choices"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return "" if data == "[DONE]" else data
