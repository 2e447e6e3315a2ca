"""How long a capture goes on: its limits, the wish to stop, and the words for which it was."""

import threading
import time
from typing import Protocol

from ssediag.model.recording import Closing, NotMeasured, Stage
from ssediag.model.request import Limits

# Every wait of a capture is made of slices this long, so that a stop is noticed soon.
SLICE_SECONDS = 0.05
_NS_PER_SECOND = 1_000_000_000
_NS_PER_MILLISECOND = 1_000_000


class Watch(Protocol):
    """Whoever follows the events while they come; capture itself decodes nothing.

    ``feed`` gets each plaintext read in order, with its index in ``Recording.reads``.
    ``event_count`` is the number of complete events so far. ``feed`` may end the capture by
    raising HaltError.
    """

    @property
    def event_count(self) -> int:
        """Complete events in all that was fed."""
        ...

    def feed(self, read_index: int, data: bytes) -> None:
        """Take the next read."""
        ...


class HaltError(Exception):
    """Ends a capture: ``closing`` says how, ``not_measured`` what was left undone (or None)."""

    def __init__(self, closing: Closing, not_measured: NotMeasured | None) -> None:
        super().__init__(not_measured.reason if not_measured else closing.value)
        self.closing = closing
        self.not_measured = not_measured


def failed(stage: Stage, reason: str) -> HaltError:
    """What to raise when ``stage`` cannot be done and nothing more will come."""
    return HaltError(Closing.STOPPED, NotMeasured(stage, reason))


class Patience:
    """Knows what is being waited for, since when, and when that is too long.

    ``stage`` is the step under way; ``aim`` says what its end would be, for the clause
    "no … within 10 s".
    """

    def __init__(self, limits: Limits, stop: threading.Event | None, watch: Watch) -> None:
        self.limits = limits
        self.stage = Stage.RESOLVE
        self._aim = "answer"
        self._stop = stop
        self._watch = watch
        self._began_ns = time.monotonic_ns()
        self._asked_ns = self._began_ns
        self._byte_ns: int | None = None
        self._head_after_ns: int | None = None

    def begin(self, stage: Stage, aim: str) -> None:
        """Start a step that the limit for connecting covers."""
        self.stage = stage
        self._aim = aim

    def connect_left_ns(self) -> int:
        """What is left of the time for connecting; 0 when there is none."""
        return max(0, self.limits.connect_ns - (time.monotonic_ns() - self._began_ns))

    def asked(self) -> None:
        """The request is out: the peer is to answer now."""
        self.stage = Stage.HEADERS
        self._asked_ns = time.monotonic_ns()
        self._byte_ns = None

    def got_bytes(self) -> None:
        """Bytes of the answer came and were fed to the watch. Halts when they are enough."""
        self._byte_ns = time.monotonic_ns()
        most = self.limits.max_event_count
        if most is not None and self._watch.event_count >= most:
            raise HaltError(Closing.STOPPED, None)

    def got_head(self) -> None:
        """The head of the answer is complete."""
        self.stage = Stage.BODY
        self._head_after_ns = time.monotonic_ns() - self._asked_ns

    def check(self, *, silent: bool = True) -> None:
        """Halt if a limit has passed. ``silent``: nothing that came is still to be looked at."""
        now_ns = time.monotonic_ns()
        if self._stop is not None and self._stop.is_set():
            raise HaltError(
                Closing.STOPPED, NotMeasured(self.stage, f"interrupted {self.so_far()}")
            )
        limits = self.limits
        if now_ns - self._began_ns >= limits.total_ns:
            reason = f"the total limit of {_duration(limits.total_ns)} was reached {self.so_far()}"
            raise _timed_out(Stage.TIMEOUT, reason)
        if self.stage in {Stage.RESOLVE, Stage.CONNECT, Stage.TLS}:
            if now_ns - self._began_ns >= limits.connect_ns:
                raise self.out_of_time()
        elif self.stage is not Stage.SEND:
            self._check_answer(now_ns, silent=silent)

    def out_of_time(self) -> HaltError:
        """What to raise when the time for connecting has passed."""
        return _timed_out(self.stage, f"no {self._aim} within {_duration(self.limits.connect_ns)}")

    def so_far(self) -> str:
        """How far the measurement came: ``after 12 events``."""
        count = self._watch.event_count
        if count:
            return f"after {count} event{'s' if count > 1 else ''}"
        return "before the first event" if self.stage is Stage.BODY else "before any answer"

    def _check_answer(self, now_ns: int, *, silent: bool) -> None:
        limits = self.limits
        if not self._watch.event_count:
            if now_ns - self._asked_ns >= limits.first_event_ns:
                raise _timed_out(Stage.TIMEOUT, self._no_event())
        elif silent and self._byte_ns is not None and now_ns - self._byte_ns >= limits.idle_ns:
            reason = f"nothing for {_duration(limits.idle_ns)} {self.so_far()}"
            raise _timed_out(Stage.TIMEOUT, reason)

    def _no_event(self) -> str:
        waited_ns = self.limits.first_event_ns
        if self._head_after_ns is not None:
            rest = _duration(waited_ns - self._head_after_ns)
            return f"headers came after {_duration(self._head_after_ns)}, then no event for {rest}"
        what = "answer" if self._byte_ns is None else "complete head"
        return f"no {what} within {_duration(waited_ns)} of the request"


def _timed_out(stage: Stage, reason: str) -> HaltError:
    return HaltError(Closing.TIMED_OUT, NotMeasured(stage, reason))


def _duration(nanoseconds: int) -> str:
    """``30 s``, ``1.5 s``, ``300 ms``."""
    if nanoseconds >= _NS_PER_SECOND:
        return f"{round(nanoseconds / _NS_PER_SECOND, 1):g} s"
    return f"{max(1, round(nanoseconds / _NS_PER_MILLISECOND))} ms"
