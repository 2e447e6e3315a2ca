"""Hand on the events of a connection as they come, and notice when nothing more is waited for."""

from collections.abc import Callable
from dataclasses import dataclass

from ssediag.capture.patience import HaltError
from ssediag.decode.sse import EventStreamDecoder
from ssediag.decode.unwrap import Unwrapper
from ssediag.jobs.continuity import Heard
from ssediag.jobs.reconnect import Style, is_stream
from ssediag.model.recording import Closing
from ssediag.model.stream import EventKind

_NS_PER_MS = 1_000_000


def _to_nobody(*_words: str) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True)
class Ears:
    """Who is told ``on_event(type, data, id)`` and ``on_comment(text)``, while they arrive."""

    on_event: Callable[[str, str, str], None] = _to_nobody
    on_comment: Callable[[str], None] = _to_nobody


class Listener:
    """A ``Watch`` of one request. ``last_event_id`` and ``retry_ns`` are those in force.

    ``heard`` are the events so far; ``done``: one of them was the stream's own end. ``feed`` ends
    the capture then, and when the head is none that a client of this ``style`` reads on from.
    """

    def __init__(
        self, style: Style, dialect: str, last_event_id: str, retry_ns: int | None, ears: Ears
    ) -> None:
        self.heard: list[Heard] = []
        self.done = False
        self.last_event_id = last_event_id
        self.retry_ns = retry_ns
        self._style = style
        self._ears = ears
        self._accepted: bool | None = None  # None before the head is here
        self._unwrapper = Unwrapper(dialect, last_id=last_event_id.encode("utf-8", "replace"))
        self._unwrapper.body.listener = self._listen

    @property
    def event_count(self) -> int:
        """Complete events so far, comments left out."""
        return len(self.heard)

    def feed(self, read_index: int, data: bytes) -> None:
        """Take the next read. Raises HaltError when nothing more is waited for."""
        self._unwrapper.feed(read_index, data)
        if self.done or self._is_accepted() is False:
            raise HaltError(Closing.STOPPED, None)

    def _is_accepted(self) -> bool | None:
        http = self._unwrapper.http
        if self._accepted is None and http is not None and http.head is not None:
            self._accepted = is_stream(http.head, self._style)
        return self._accepted

    def _listen(self, decoder: EventStreamDecoder) -> None:
        """Take over what the latest piece of the body completed, in its order."""
        if not self._is_accepted():
            return
        self.last_event_id = _text(decoder.last_id)
        if decoder.retries:
            self.retry_ns = decoder.retries[-1][0] * _NS_PER_MS
        kinds = self._unwrapper.body.kinds
        news: list[tuple[int, Heard | str]] = [(end, _text(said)) for said, end in decoder.comments]
        for kind, event in zip(
            kinds[len(kinds) - len(decoder.events) :], decoder.events, strict=True
        ):
            name, data, last_id, _, _, ends = event
            news.append((ends, Heard(kind, _text(name), _text(data), _text(last_id))))
        for _, one in sorted(news, key=lambda pair: pair[0]):
            self._tell(one)

    def _tell(self, one: Heard | str) -> None:
        if isinstance(one, str):
            self._ears.on_comment(one)
            return
        self.heard.append(one)
        # Gateways of inference engines send an event named "done" where OpenAI sends [DONE].
        self.done = self.done or one.kind is EventKind.END or one.name == "done"
        self._ears.on_event(one.name or "message", one.data, one.last_event_id)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
