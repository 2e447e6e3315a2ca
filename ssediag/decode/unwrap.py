"""From the reads of a connection to a stream of events: HTTP, content coding, event format.

The same class counts events while a capture runs and takes a finished recording apart.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from ssediag.decode.body import EventBody
from ssediag.decode.content_coding import ContentDecoder
from ssediag.decode.http1 import Http1Decoder
from ssediag.decode.http2 import Http2Decoder
from ssediag.model.recording import Closing, Read, Recording, Stage
from ssediag.model.stream import (
    ChunkTable,
    Ending,
    EventTable,
    Framing,
    ReadTable,
    Stream,
)


class Unwrapper:
    """Feed it the reads of a connection in order; ask for ``event_count`` at any time."""

    def __init__(self, dialect: str = "auto", *, with_data: bool = False) -> None:
        self.http: Http1Decoder | Http2Decoder | None = None
        self.coding = ContentDecoder(None)
        self.body = EventBody(dialect, with_data=with_data)
        self.body_bytes: list[int] = []
        self.plain_bytes: list[int] = []
        self._beginning = b""
        self._headed = False

    @property
    def event_count(self) -> int:
        """Complete events so far, comments left out."""
        return self.body.event_count

    def feed(self, read_index: int, data: bytes) -> None:
        """Take one read apart. Reads that bring no body count as 0 bytes of it."""
        while len(self.body_bytes) < read_index:
            self._count(0, 0)
        if self.http is None:
            data = self._choose(data)
            if self.http is None:
                self._count(0, 0)
                return
        body = self.http.feed(read_index, data)
        self._take_head()
        plain = self.coding.feed(body)
        self._count(len(body), sum(map(len, plain)))
        for piece in plain:
            self.body.feed(piece)

    def _count(self, body_bytes: int, plain_bytes: int) -> None:
        self.body_bytes.append(body_bytes)
        self.plain_bytes.append(plain_bytes)

    def _choose(self, data: bytes) -> bytes:
        """Tell HTTP/1 from HTTP/2 by the first bytes: a server's preface is a SETTINGS frame."""
        self._beginning += data
        if len(self._beginning) < len(b"HTTP/") and b"HTTP/".startswith(self._beginning):
            return b""
        settings = self._beginning[:1] == b"\0" and self._beginning[3:4] in {b"\4", b"\7", b"\1"}
        if self._beginning[:1] == b"\0" and len(self._beginning) < 4:  # noqa: PLR2004 - the type
            return b""
        self.http = Http2Decoder() if settings else Http1Decoder()
        return self._beginning

    def _take_head(self) -> None:
        """Prepare for the body once the final head is here."""
        if self._headed or self.http is None or self.http.head is None:
            return
        self._headed = True
        head = self.http.head
        self.coding = ContentDecoder(head.header("content-encoding"))
        self.body.begin(head.status, head.header("content-type"))

    def finish(self) -> None:
        """The connection is over."""
        if self.http is not None:
            self.http.finish()
        self.coding.finish()
        self.body.finish()

    def places(self, offsets: Iterable[int]) -> tuple[int, ...]:
        """The reads that brought the bytes at ``offsets`` of the decoded body."""
        ends = self._plain_ends()
        last = max(len(ends) - 1, 0)
        return tuple(min(bisect_right(ends, offset), last) for offset in offsets)

    def places_of_ends(self, offsets: Iterable[int]) -> tuple[int, ...]:
        """The reads that brought the bytes just before ``offsets``."""
        ends = self._plain_ends()
        last = max(len(ends) - 1, 0)
        return tuple(min(bisect_left(ends, offset), last) for offset in offsets)

    def _plain_ends(self) -> list[int]:
        ends, total = [], 0
        for count in self.plain_bytes:
            total += count
            ends.append(total)
        return ends

    def events(self) -> EventTable:
        """The complete events, tied to the reads."""
        body = self.body
        return EventTable(
            kind=tuple(body.kinds),
            first_read=self.places(body.begins),
            data_read=self.places_of_ends(body.says),
            dispatch_read=self.places_of_ends(body.ends),
            size_bytes=tuple(
                end - begin for begin, end in zip(body.begins, body.ends, strict=True)
            ),
            text_bytes=tuple(body.text_bytes),
            token_count=tuple(body.token_counts),
            data=None if body.datas is None else tuple(body.datas),
        )


def unwrap(recording: Recording, *, dialect: str = "auto", with_data: bool = False) -> Stream:
    """Take a recording apart. Never raises for what is in it: defects become ``notes``."""
    unwrapper = Unwrapper(dialect, with_data=with_data)
    for index, read in enumerate(recording.reads):
        unwrapper.feed(index, read.data)
    unwrapper.finish()
    http, body = unwrapper.http, unwrapper.body
    return Stream(
        hop=recording.hop,
        run=recording.run,
        experiment=recording.experiment,
        protocol=recording.protocol,
        request=recording.request,
        phases=recording.phases,
        clock=recording.clock,
        began_epoch_ns=recording.began_epoch_ns,
        peer=recording.peer,
        not_measured=recording.not_measured,
        head=None if http is None else http.head,
        framing=Framing.NONE if http is None else http.framing,
        coding=unwrapper.coding.coding,
        dialect=body.dialect_name,
        ending=_ending(http, recording),
        terminator=body.terminator,
        finish_reason=body.finish_reason,
        usage_tokens=body.usage_tokens,
        error=body.error,
        looks_like=body.looks_like,
        reads=_reads(recording.reads, unwrapper),
        chunks=ChunkTable() if http is None else http.chunks(),
        events=unwrapper.events(),
        comment_reads=unwrapper.places_of_ends(body.comment_ends),
        trailers=() if http is None else http.trailers,
        notes=(*([] if http is None else http.notes), *unwrapper.coding.notes, *body.notes),
    )


def _reads(reads: tuple[Read, ...], unwrapper: Unwrapper) -> ReadTable:
    return ReadTable(
        earliest_ns=tuple(read.earliest_ns for read in reads),
        latest_ns=tuple(read.latest_ns for read in reads),
        quality=tuple(read.quality for read in reads),
        segment_count=tuple(read.segment_count for read in reads),
        wire_bytes=tuple(len(read.data) for read in reads),
        body_bytes=tuple(unwrapper.body_bytes),
        plain_bytes=tuple(unwrapper.plain_bytes),
    )


def _ending(http: Http1Decoder | Http2Decoder | None, recording: Recording) -> Ending:
    """How the response ended: its framing's own end first, then what the connection did."""
    if http is not None and http.complete:
        return Ending.COMPLETE
    if http is not None and (http.broken or _gave_up_on_framing(recording)):
        return Ending.NO_LAST_CHUNK
    if isinstance(http, Http2Decoder) and http.reset:
        return Ending.RESET
    match recording.closing:
        case Closing.FIN | Closing.FINISHED:
            return _closed_early(None if http is None else http.framing)
        case Closing.RESET | Closing.TIMED_OUT | Closing.STOPPED:
            return Ending(recording.closing.value)


def _gave_up_on_framing(recording: Recording) -> bool:
    """Whether the transport itself could not follow the framing."""
    failure = recording.not_measured
    return failure is not None and failure.stage is Stage.BODY and "framing" in failure.reason


def _closed_early(framing: Framing | None) -> Ending:
    match framing:
        case Framing.LENGTH:
            return Ending.SHORT
        case Framing.CHUNKED | Framing.FRAMES:
            return Ending.NO_LAST_CHUNK
        case Framing.UNTIL_CLOSE | Framing.NONE | None:
            return Ending.EOF
