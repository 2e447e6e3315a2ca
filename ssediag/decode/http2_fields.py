"""Header blocks of an HTTP/2 connection: fragments in, fields out. RFC 9113 4.3, RFC 7541."""

import hpack

Fields = tuple[tuple[str, str], ...]


class HeaderBlocks:
    """Decodes every block of a connection in order: each one may change the table of the next.

    A block is open from its first fragment to its last; ``held_bytes`` are those of an open one.
    """

    def __init__(self, max_bytes: int) -> None:
        self.is_open = False
        self._held = bytearray()
        self._decoder = hpack.Decoder(max_header_list_size=max_bytes)

    @property
    def held_bytes(self) -> int:
        """How much of the open block has come."""
        return len(self._held)

    def add(self, fragment: bytes) -> None:
        """One more fragment, the first or a later one."""
        self.is_open = True
        self._held += fragment

    def close(self) -> Fields | None:
        """The fields of the block, now that it is whole; None if they cannot be decoded."""
        block = bytes(self._held)
        self._held.clear()
        self.is_open = False
        try:
            decoded = self._decoder.decode(block, raw=True)
        except (hpack.HPACKError, ValueError, IndexError):
            return None
        return tuple((_text(field[0]), _text(field[1])) for field in decoded)


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")
