"""Undo content codings piece by piece, so that it shows which read made which text decodable.

RFC 9110 8.4. A decoder that breaks keeps what came before and leaves a note; nothing is raised.
gzip members and Zstandard frames may follow one another (RFC 1952 2.2, RFC 8878 3.1).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ssediag.decode.coding_members import (
    GZIP_MAGIC,
    Member,
    MemberError,
    brotli_maker,
    deflate_member,
    gzip_member,
    zstandard_maker,
)

MAX_PLAIN_BYTES = 64 * 1024 * 1024
_MAX_CODING_COUNT = 4
_BLOCK_BYTES = 16 * 1024  # members copy what they leave, so they are not given more at once


@dataclass(frozen=True, slots=True)
class _Kind:
    """A coding by its name: how many bytes tell how to ``begin`` a member, and how many follow."""

    name: str
    begin: Callable[[bytes], Member]
    needed_bytes: int = 1
    many_members: bool = False


class _Coding:
    """One coding that is being undone; ``note`` says why it is not, or no longer."""

    def __init__(self, kind: _Kind) -> None:
        self.note: str | None = None
        self._kind = kind
        self._member: Member | None = None
        self._pending = b""  # too few bytes to begin a member by
        self._ended_count = 0
        self._plain_bytes = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The text that ``data`` makes decodable, made as it is asked for."""
        data, self._pending = self._pending + data, b""
        while self.note is None and (data or (self._member and self._member.has_more)):
            if self._member is None:
                if len(data) < self._kind.needed_bytes:
                    self._pending = data
                    return
                self._begin(data)
                continue
            text, data = self._step(self._member, data)
            self._plain_bytes += len(text)
            if self._plain_bytes > MAX_PLAIN_BYTES:
                self.note = f"more than {MAX_PLAIN_BYTES} bytes of text: the rest was not decoded"
            elif text:
                yield text

    def _begin(self, data: bytes) -> None:
        is_gzip = data.startswith(GZIP_MAGIC) or self._kind.name != "gzip"
        if self._ended_count and not (self._kind.many_members and is_gzip):
            self.note = f"bytes after the end of the {self._kind.name} data"
        elif not is_gzip:
            self.note = "Content-Encoding says gzip, the bytes are not"
        else:
            self._member = self._kind.begin(data)

    def _step(self, member: Member, data: bytes) -> tuple[bytes, bytes]:
        try:
            text, data = member.step(data)
        except MemberError as error:
            self.note = f"broken {self._kind.name} data"
            return error.text, b""
        if member.ended:
            self._member = None
            self._ended_count += 1
        return text, data

    def finish(self) -> None:
        """The body is over: a member that has not ended is unfinished."""
        if self.note is None and self._ended_count and self._pending:
            self.note = f"bytes after the end of the {self._kind.name} data"
        elif self.note is None and (self._member or self._pending):
            self.note = f"the {self._kind.name} coding is unfinished: data are missing"


class ContentDecoder:
    """Undoes the codings of a Content-Encoding header, the last applied first.

    ``coding`` names them as applied, None for identity.
    """

    def __init__(self, header: str | None) -> None:
        names = [name.strip().lower() for name in (header or "").split(",")]
        applied = [name for name in names if name and name != "identity"]
        self.coding = ", ".join(applied) or None
        self._codings: list[_Coding] = []
        self._unknown: str | None = None
        if len(applied) > _MAX_CODING_COUNT:
            self._unknown = f"{len(applied)} content codings on top of each other"
            return
        for name in reversed(applied):
            kind = _kind(name)
            if isinstance(kind, str):
                self._unknown = kind
                return
            self._codings.append(_Coding(kind))

    @property
    def notes(self) -> list[str]:
        """What could not be undone, a clause each."""
        notes = [coding.note for coding in self._codings if coding.note is not None]
        return notes if self._unknown is None else [self._unknown, *notes]

    def feed(self, data: bytes) -> Iterable[bytes]:
        """The text that became decodable, in pieces of a few MiB at most, made on demand."""
        if not data or self._unknown is not None:
            return ()
        pieces: Iterable[bytes] = (data,)
        for coding in self._codings:
            pieces = _through(coding, pieces)
        return pieces

    def finish(self) -> None:
        """The body is over: a coding that has not ended is unfinished."""
        for coding in self._codings:
            coding.finish()


def _through(coding: _Coding, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for begin in range(0, len(piece), _BLOCK_BYTES):
            yield from coding.feed(piece[begin : begin + _BLOCK_BYTES])
            if coding.note is not None:
                return


def _kind(name: str) -> _Kind | str:
    """What undoes the coding ``name``, or why nothing here does."""
    missing = f"content coding {name} cannot be decoded here: install ssediag[codings]"
    match name:
        case "gzip" | "x-gzip":  # one and the same: RFC 9110 8.4.1.3
            return _Kind("gzip", gzip_member, len(GZIP_MAGIC), many_members=True)
        case "deflate":
            return _Kind(name, deflate_member, 2)
        case "br":
            brotli = brotli_maker()
            return missing if brotli is None else _Kind(name, brotli)
        case "zstd":
            zstandard = zstandard_maker()
            return missing if zstandard is None else _Kind(name, zstandard, many_members=True)
        case _:
            return f"content coding {name[:40]!r} is unknown"
