"""Undo content codings piece by piece, so that it shows which read made which text decodable.

RFC 9110 8.4, RFC 1952 (gzip: members may follow one another), RFC 1950 / 1951 (deflate). A
decoder that breaks keeps what came before and leaves a note; nothing is raised.
"""

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

PIECE_BYTES = 1024 * 1024
MAX_PLAIN_BYTES = 64 * 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class _Zlib:
    """gzip (member after member) or deflate (with or without the zlib wrapper)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._decoder: Any = None
        self._first = b""
        self.finished = False
        self.ended_member = False
        self.note: str | None = None

    def feed(self, data: bytes) -> list[bytes]:
        pieces: list[bytes] = []
        while data and self.note is None:
            if self._decoder is None:
                data = self._begin(data)
                if self._decoder is None:
                    break
            try:
                piece = self._decoder.decompress(data, PIECE_BYTES)
            except zlib.error:
                self._break(any_output=bool(pieces) or self.finished)
                break
            self.finished = False
            if piece:
                pieces.append(piece)
            data = self._decoder.unconsumed_tail
            if self._decoder.eof:
                data = self._decoder.unused_data
                self._decoder = None
                self.finished = True
                if self._name != "gzip":
                    break
        return pieces

    def _begin(self, data: bytes) -> bytes:
        """Choose the decoder by the first two bytes, once they are here; returns what to decode."""
        data = self._first + data
        self._first = b""
        if len(data) < len(_GZIP_MAGIC):
            self._first = data
            return b""
        if self._name == "gzip":
            if data[:2] != _GZIP_MAGIC:
                trailing = self.finished
                self.note = (
                    "bytes after the last gzip member"
                    if trailing
                    else "Content-Encoding says gzip, the bytes are not"
                )
                return b""
            self._decoder = zlib.decompressobj(_GZIP_WINDOW)
        else:  # a zlib header is a multiple of 31 with method 8 (RFC 1950 2.2)
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0  # noqa: PLR2004
            self._decoder = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        return data

    def _break(self, *, any_output: bool) -> None:
        self.note = f"broken {self._name} data" + (" after some text" if any_output else "")

    def finish(self) -> None:
        if self.note is None and (self._decoder is not None or self._first):
            self.note = f"the {self._name} coding is unfinished: data are missing"


class _Library:
    """A coding of a package that may be missing: brotli or zstandard."""

    def __init__(self, name: str, step: Callable[[bytes], bytes]) -> None:
        self._name = name
        self._step = step
        self.note: str | None = None

    def feed(self, data: bytes) -> list[bytes]:
        if self.note is not None:
            return []
        try:
            piece = self._step(data)
        except Exception:  # noqa: BLE001  # why: each package raises an error class of its own
            self.note = f"broken {self._name} data"
            return []
        return [piece[at : at + PIECE_BYTES] for at in range(0, len(piece), PIECE_BYTES)]

    def finish(self) -> None:
        """These packages do not say whether their data ended."""


class _Opaque:
    """A coding that cannot be undone."""

    def __init__(self, note: str) -> None:
        self.note: str | None = note

    def feed(self, _data: bytes) -> list[bytes]:
        return []

    def finish(self) -> None:
        """Nothing was begun."""


_Step = _Zlib | _Library | _Opaque


class ContentDecoder:
    """Undoes the codings of a Content-Encoding header, the last applied first."""

    def __init__(self, header: str | None) -> None:
        names = [name.strip().lower() for name in (header or "").split(",")]
        applied = [name for name in names if name and name != "identity"]
        self.coding = ", ".join(applied) or None
        self._steps = [_step(name) for name in reversed(applied)]
        self._plain_bytes = 0
        self._overflow: str | None = None

    @property
    def notes(self) -> list[str]:
        """What could not be undone, a clause each."""
        notes = [step.note for step in self._steps if step.note is not None]
        return notes + ([self._overflow] if self._overflow else [])

    def feed(self, data: bytes) -> list[bytes]:
        """The text that became decodable, in pieces of at most 1 MiB."""
        pieces = [data] if data else []
        for step in self._steps:
            pieces = [plain for piece in pieces for plain in step.feed(piece)]
        return [piece for piece in pieces if self._fits(piece)]

    def _fits(self, piece: bytes) -> bool:
        self._plain_bytes += len(piece)
        if self._steps and self._plain_bytes > MAX_PLAIN_BYTES:
            self._overflow = f"more than {MAX_PLAIN_BYTES} bytes of text: the rest was not decoded"
            return False
        return True

    def finish(self) -> None:
        """The body is over: a coding that has not ended is unfinished."""
        for step in self._steps:
            step.finish()


def _step(name: str) -> _Step:
    name = {"x-gzip": "gzip"}.get(name, name)
    if name in {"gzip", "deflate"}:
        return _Zlib(name)
    maker = {"br": _brotli, "zstd": _zstandard}.get(name)
    if maker is None:
        return _Opaque(f"content coding {name!r} is unknown")
    try:
        return _Library(name, maker())
    except ImportError:
        return _Opaque(f"content coding {name} cannot be decoded here: install ssediag[codings]")


def _brotli() -> Callable[[bytes], bytes]:
    process: Callable[[bytes], bytes] = import_module("brotli").Decompressor().process
    return process


def _zstandard() -> Callable[[bytes], bytes]:
    decompress: Callable[[bytes], bytes] = (
        import_module("zstandard").ZstdDecompressor().decompressobj().decompress
    )
    return decompress
