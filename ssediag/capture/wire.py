"""One connection below TLS: bytes come from the reader thread and leave from the calling one."""

import queue

from ssediag.capture.dial import Dialled
from ssediag.capture.patience import SLICE_SECONDS, Patience
from ssediag.capture.reader import Reader, WireEnd
from ssediag.model.recording import Read


class Wire:
    """A dialled connection with its reader. ``end`` is how it ended, or None."""

    def __init__(self, dialled: Dialled, patience: Patience) -> None:
        self.end: WireEnd | None = None
        self.peer = dialled.peer
        self._connection = dialled.connection
        self._patience = patience
        self._reader = Reader(
            dialled.connection,
            kernel_dated=dialled.kernel_dated,
            max_bytes=patience.limits.max_bytes,
        )

    def take(self) -> Read | None:
        """The next read, waited for within the limits; None once the wire has ended.

        What has come is handed out before the limits of silence are looked at. Raises
        patience.HaltError.
        """
        self._patience.check(silent=False)
        while self.end is None:
            try:
                item = self._next()
            except queue.Empty:
                self._patience.check()
                continue
            if isinstance(item, Read):
                return item
            self.end = item
        return None

    def send(self, data: bytes) -> None:
        """Send ``data``, all of it unless the peer broke off: reading tells how it did.

        Raises patience.HaltError.
        """
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._connection.send(rest) :]
            except BlockingIOError:
                self._patience.check(silent=False)
            except OSError:
                return

    def close(self) -> None:
        """End the connection and its thread. May be called again."""
        self._reader.close()

    def _next(self) -> Read | WireEnd:
        try:
            return self._reader.queue.get_nowait()
        except queue.Empty:
            return self._reader.queue.get(timeout=SLICE_SECONDS)
