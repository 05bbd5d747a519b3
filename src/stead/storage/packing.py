"""Rows of the read models, packed one by one: deflate, with a dictionary of what items have in common.

Layer: storage. Rows are small, and most of each is names of fields, which the dictionary has.

    packed = one piece after another, each of up to 8 KiB
    piece  = 00 "P1" ‖ raw deflate (RFC 1951) with the preset dictionary ``schema/packing_1.txt``

Neither JSON nor text begins so, and what is not packed is read as it is. With another dictionary the read models are
made again. The mark also tells where something packed begins in pages that no row leads to, and long values are in
pieces, so that words are found in such pages too (``residue``).
"""

from __future__ import annotations

import zlib
from pathlib import Path

from stead.domain.errors import StorageFault

MARK = b"\x00P1"
DICTIONARY = (Path(__file__).parent / "schema" / "packing_1.txt").read_bytes()
_WINDOW, _PIECE_BYTES, _FED_BYTES = -13, 8192, 64
_PACKER = zlib.compressobj(6, zlib.DEFLATED, _WINDOW, 5, zdict=DICTIONARY)
"""Copied for every piece, which is sooner done than to take the dictionary in. A wider window would save nothing."""


def pack(plain: bytes) -> bytes:
    """Packed; larger by some bytes where nothing can be saved."""
    packed = b""
    for start in range(0, len(plain) or 1, _PIECE_BYTES):
        packer = _PACKER.copy()
        packed += MARK + packer.compress(plain[start : start + _PIECE_BYTES]) + packer.flush()
    return packed


def unpack(stored: bytes) -> bytes:
    """What was packed; what never was is given back.

    Raises:
        StorageFault: it is damaged.
    """
    if not stored.startswith(MARK):
        return stored
    plain = b""
    while stored:
        unpacker = zlib.decompressobj(_WINDOW, DICTIONARY)
        try:
            plain += unpacker.decompress(stored[len(MARK) :], _PIECE_BYTES + 1)
        except zlib.error as error:
            raise StorageFault(f"something packed cannot be read: {error}; restore a backup") from error
        stored = unpacker.unused_data
        if not unpacker.eof or not (stored or MARK).startswith(MARK):
            raise StorageFault("something packed is cut off or changed; restore a backup")
    return plain


def unpacked(stored: bytes | None) -> str | None:
    """The text that was packed, as a function of the database."""
    return None if stored is None else unpack(stored).decode()


def packed_in(block: bytes) -> bytes:
    """What is packed anywhere in some bytes, as far as it can be read: cut off or written over, its start is."""
    found: list[bytes] = []
    at = block.find(MARK)
    while at >= 0:
        unpacker, at = zlib.decompressobj(_WINDOW, DICTIONARY), at + len(MARK)
        end = at
        try:
            while end < len(block) and not unpacker.eof:
                found.append(unpacker.decompress(block[end : end + _FED_BYTES], _PIECE_BYTES))
                end += _FED_BYTES
        except zlib.error:  # by chance the mark stood there, or what follows is of another row
            pass
        found.append(b"\x00")
        at = block.find(MARK, at)
    return b"".join(found)
