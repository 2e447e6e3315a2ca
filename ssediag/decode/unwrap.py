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
    Head,
    ReadTable,
    Stream,
)

_PROTOCOLS = frozenset({"http/1.1", "h2"})
_OURS = frozenset({Closing.STOPPED, Closing.TIMED_OUT})
_FRAME_TYPE_BYTES = 4
_FIRST_FRAME_TYPES = b"\x04\x07\x01"  # SETTINGS, GOAWAY; HEADERS where a recording begins late


class Unwrapper:
    """Feed it the reads of a connection in order; ask for ``event_count`` at any time.

    ``dialect`` is an id of the table or ``auto``. ``protocol`` is ``h2`` or ``http/1.1``; None
    lets the first bytes tell. ``method`` is the request's: an answer to HEAD has no body.
    ``last_id`` is the event id in force before the first event.
    """

    def __init__(
        self,
        dialect: str = "auto",
        *,
        with_data: bool = False,
        protocol: str | None = None,
        method: str = "GET",
        last_id: bytes = b"",
    ) -> None:
        self.http: Http1Decoder | Http2Decoder | None = None
        self.coding = ContentDecoder(None)
        self.body = EventBody(dialect, with_data=with_data, last_id=last_id)
        self.body_bytes: list[int] = []
        self.plain_bytes: list[int] = []
        self._method = method
        self._beginning = b""
        self._headed = False
        if protocol is not None:
            self.http = Http2Decoder() if protocol == "h2" else Http1Decoder(method)

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
        if not self._headed and self.http.head is not None:
            self._begin_body(self.http.head)
        plain_bytes = 0
        for piece in self.coding.feed(body):
            plain_bytes += len(piece)
            self.body.feed(piece)
        self._count(len(body), plain_bytes)

    def _count(self, body_bytes: int, plain_bytes: int) -> None:
        self.body_bytes.append(body_bytes)
        self.plain_bytes.append(plain_bytes)

    def _choose(self, data: bytes) -> bytes:
        """Tell HTTP/1 from HTTP/2 by the first bytes; returns what to feed the one chosen.

        A server's first frame is SETTINGS, or GOAWAY if it refuses, both on stream 0; the type
        is its fourth byte, and none of these is as long as to need the first one.
        """
        beginning = self._beginning = self._beginning + data
        may_be_frame = beginning[:1] in {b"\0", b""}
        if may_be_frame and len(beginning) < _FRAME_TYPE_BYTES:
            return b""
        is_http2 = may_be_frame and beginning[3] in _FIRST_FRAME_TYPES
        self.http = Http2Decoder() if is_http2 else Http1Decoder(self._method)
        return beginning

    def _begin_body(self, head: Head) -> None:
        """Prepare for the body, now that the final head is here."""
        self._headed = True
        self.coding = ContentDecoder(head.header("content-encoding"))
        self.body.begin(head.status, head.header("content-type"))

    def finish(self, *, stopped: bool = False) -> None:
        """The connection is over. What is missing is no defect if it is we who ``stopped``."""
        whole = not stopped or (self.http is not None and self.http.complete)
        if self.http is None and self._beginning:
            self.http = Http1Decoder(self._method)
            self.http.feed(0, self._beginning)
        if whole:
            if self.http is not None:
                self.http.finish()
            self.coding.finish()
        self.body.finish(whole=whole)

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
            size_bytes=tuple(body.size_bytes),
            text_bytes=tuple(body.text_bytes),
            token_count=tuple(body.token_counts),
            data=None if body.datas is None else tuple(body.datas),
        )


def unwrap(recording: Recording, *, dialect: str = "auto", with_data: bool = False) -> Stream:
    """Take a recording apart. Never raises for what is in it: defects become ``notes``."""
    unwrapper = Unwrapper(
        dialect,
        with_data=with_data,
        protocol=recording.protocol if recording.protocol in _PROTOCOLS else None,
        method=recording.request.method,
    )
    for index, read in enumerate(recording.reads):
        unwrapper.feed(index, read.data)
    unwrapper.finish(stopped=recording.closing in _OURS)
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
    if isinstance(http, Http2Decoder) and http.reset:
        return Ending.RESET
    defect = http is not None and (http.broken or _gave_up_on_framing(recording))
    if http is not None and defect and recording.closing is not Closing.RESET:
        return Ending.SHORT if http.framing is Framing.LENGTH else Ending.NO_LAST_CHUNK
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
