"""One compressed member each: gzip, zlib, raw deflate, brotli, Zstandard, behind one face.

A member takes what it can of its input at a time, so that a few bytes never become gigabytes at
once: a step's text stays within a few MiB.
"""

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

PIECE_BYTES = 1024 * 1024
GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
# 32 bytes hold at most ten Zstandard blocks of 128 KiB each (RFC 8878 3.1.1.2).
_SLICE_BYTES = 32
_ZSTD_WINDOW_BYTES = 8 * 1024 * 1024  # RFC 9659: what a receiver of the coding has to support


class MemberError(Exception):
    """The bytes are no such coding. ``text`` is what was decodable before the defect."""

    def __init__(self, text: bytes = b"") -> None:
        super().__init__("broken compressed data")
        self.text = text


class Member(Protocol):
    """``step`` takes input, returns text and the input it did not take; may raise MemberError.

    ``ended``: the member's own end was seen. ``has_more``: it holds text back though it has all
    the input, and wants to be stepped with nothing.
    """

    ended: bool
    has_more: bool

    def step(self, data: bytes) -> tuple[bytes, bytes]:
        """Decode some of ``data``."""
        ...


class ZlibMember:
    """A gzip member or a deflate stream, by ``window`` as zlib's ``wbits`` defines it."""

    def __init__(self, window: int) -> None:
        self.ended = False
        self.has_more = False
        self._decoder = zlib.decompressobj(window)

    def step(self, data: bytes) -> tuple[bytes, bytes]:
        """Decode some of ``data``; zlib drops the text before a defect, so that is done anew."""
        before = self._decoder.copy()  # about 1 µs
        try:
            text = self._decoder.decompress(data, PIECE_BYTES)
        except zlib.error as error:
            raise MemberError(_up_to_defect(before, data)) from error
        self.ended = self._decoder.eof
        self.has_more = len(text) == PIECE_BYTES and not self.ended
        return text, self._decoder.unused_data if self.ended else self._decoder.unconsumed_tail


def _up_to_defect(decoder: Any, data: bytes) -> bytes:
    """The text that comes before the byte of ``data`` at which ``decoder`` fails."""
    text = bytearray()
    for value in data:
        try:
            text += decoder.decompress(bytes((value,)), PIECE_BYTES)
        except zlib.error:
            break
    return bytes(text)


def gzip_member(_first_bytes: bytes) -> Member:
    """A gzip member (RFC 1952), its checksum checked."""
    return ZlibMember(_GZIP_WINDOW)


def deflate_member(first_bytes: bytes) -> Member:
    """Deflate with its zlib wrapper or, as many servers send it, without: told by two bytes."""
    is_multiple = int.from_bytes(first_bytes[:2], "big") % 31 == 0  # RFC 1950 2.2
    wrapped = first_bytes[0] & 0x0F == zlib.DEFLATED and is_multiple
    return ZlibMember(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)


class BrotliMember:
    """A brotli stream (RFC 7932). The text of a slice with a defect in it is lost."""

    def __init__(self, package: Any) -> None:
        self.ended = False
        self.has_more = False
        self._decoder = package.Decompressor()
        self._error: type[Exception] = package.error

    def step(self, data: bytes) -> tuple[bytes, bytes]:
        """Decode a slice of ``data``, or go on with the text of the one before."""
        taken = 0 if self.has_more else _SLICE_BYTES
        try:
            text = self._decoder.process(data[:taken], output_buffer_limit=PIECE_BYTES)
        except self._error as error:
            raise MemberError from error
        self.ended = self._decoder.is_finished()
        self.has_more = not self.ended and not self._decoder.can_accept_more_data()
        return text, data[taken:]


class ZstandardMember:
    """A Zstandard frame (RFC 8878). The text of a slice with a defect in it is lost."""

    def __init__(self, package: Any) -> None:
        self.ended = False
        self.has_more = False
        maker = package.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
        self._decoder = maker.decompressobj()
        self._error: type[Exception] = package.ZstdError

    def step(self, data: bytes) -> tuple[bytes, bytes]:
        """Decode a slice of ``data``."""
        try:
            text = self._decoder.decompress(data[:_SLICE_BYTES])
        except self._error as error:
            raise MemberError from error
        self.ended = self._decoder.eof
        return text, (self._decoder.unused_data if self.ended else b"") + data[_SLICE_BYTES:]


def brotli_maker() -> Callable[[bytes], Member] | None:
    """What makes brotli members; None without a package that can bound its output (1.2)."""
    try:
        package = import_module("brotli")
    except ImportError:
        return None
    if not hasattr(package.Decompressor, "can_accept_more_data"):
        return None
    return lambda _first_bytes: BrotliMember(package)


def zstandard_maker() -> Callable[[bytes], Member] | None:
    """What makes Zstandard members; None without the package."""
    try:
        package = import_module("zstandard")
    except ImportError:
        return None
    return lambda _first_bytes: ZstandardMember(package)
