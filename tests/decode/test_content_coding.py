"""Content codings: members, cuts, lies, bombs; what came before a defect is kept."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from ssediag.decode import content_coding
from ssediag.decode.content_coding import MAX_PLAIN_BYTES, ContentDecoder

TEXT = b"".join(b"data: %d\n\n" % number for number in range(300))


def deflate(data: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return coder.compress(data) + coder.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def quick_brotli(data: bytes) -> bytes:
    return brotli.compress(data, quality=1)


CODERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", deflate),
    ("br", brotli.compress),
    ("zstd", zstd),
    ("deflate, gzip", lambda data: gzip.compress(deflate(data))),
    ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    ("br, identity", brotli.compress),
]


def decoded(header: str, *pieces: bytes) -> tuple[bytes, list[str]]:
    decoder = ContentDecoder(header)
    text = b"".join(plain for piece in pieces for plain in decoder.feed(piece))
    decoder.finish()
    return text, decoder.notes


@pytest.mark.parametrize(("header", "coder"), CODERS)
def test_every_cut_in_two_gives_the_text(header: str, coder: Callable[[bytes], bytes]) -> None:
    body = coder(TEXT)
    for cut in range(len(body) + 1):
        assert decoded(header, body[:cut], body[cut:]) == (TEXT, [])


@pytest.mark.parametrize(("header", "coder"), CODERS)
def test_a_cut_end_is_unfinished_and_a_longer_one_is_noted(
    header: str, coder: Callable[[bytes], bytes]
) -> None:
    body = coder(TEXT)
    text, notes = decoded(header, body[:-1])
    assert TEXT.startswith(text)
    assert any("unfinished: data are missing" in note for note in notes)
    text, notes = decoded(header, body, b"??")
    assert text == TEXT
    assert len(notes) == 1


@pytest.mark.parametrize(("header", "coder"), [("gzip", gzip.compress), ("zstd", zstd)])
def test_members_follow_one_another(header: str, coder: Callable[[bytes], bytes]) -> None:
    body = coder(b"a") + coder(b"") + coder(b"bc")
    for pieces in ([body], [body[at : at + 1] for at in range(len(body))]):
        assert decoded(header, *pieces) == (b"abc", [])


def test_text_before_a_defect_is_kept_however_the_body_is_cut() -> None:
    coder = zlib.compressobj(wbits=31)
    sound = coder.compress(b"data: a\n\n") + coder.flush(zlib.Z_SYNC_FLUSH)
    body = sound + b"\xff" * 20
    for pieces in ([body], [body[at : at + 1] for at in range(len(body))]):
        assert decoded("gzip", *pieces) == (b"data: a\n\n", ["broken gzip data"])


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_coding, "brotli_maker", lambda: None)
    note = "content coding br cannot be decoded here: install ssediag[codings]"
    assert decoded("br", brotli.compress(TEXT)) == (b"", [note])


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ("snappy", "content coding 'snappy' is unknown"),
        ("gzip, snappy", "content coding 'snappy' is unknown"),
        ("gzip," * 2000, "2000 content codings on top of each other"),
    ],
)
def test_what_cannot_be_undone_gives_no_text(header: str, note: str) -> None:
    assert decoded(header, b"\x1f\x8bxxx") == (b"", [note])


@pytest.mark.parametrize(
    ("header", "coder"), [("gzip", gzip.compress), ("br", quick_brotli), ("zstd", zstd)]
)
def test_a_bomb_stays_small(header: str, coder: Callable[[bytes], bytes]) -> None:
    bomb = coder(bytes(2 * MAX_PLAIN_BYTES))
    decoder = ContentDecoder(header)
    tracemalloc.start()
    total = sum(len(piece) for piece in decoder.feed(bomb))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert MAX_PLAIN_BYTES - (4 << 20) < total <= MAX_PLAIN_BYTES
    assert peak_bytes < 16 << 20
    assert decoder.notes == [f"more than {MAX_PLAIN_BYTES} bytes of text: the rest was not decoded"]
    assert list(decoder.feed(b"more")) == []
