"""What a holder of the home's keys would find in its files: every page of every database, freed ones included.

Layer: storage. It opens no database. A statement shows rows; what was deleted and not overwritten stands in no row, so
each page is decrypted by itself, as SQLCipher 4 lays it out, in the file and in its write-ahead log:

    page = encrypted content ‖ 16 bytes initialisation vector ‖ 64 bytes HMAC; AES-256-CBC
    the first page begins with 16 bytes of salt in the clear
    log  = 32 bytes, then for each frame 24 bytes and a page
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stead.storage.database import file_salt

PAGE_BYTES = 4096
_SALT_BYTES, _IV_BYTES, _RESERVE_BYTES = 16, 16, 80
_LOG_HEAD_BYTES, _FRAME_HEAD_BYTES = 32, 24


def decrypted(path: Path, key: bytes) -> bytes:
    """All pages of a database's file, or of its log (``-wal``), one after another."""
    return b"".join(pages(path, key))


def pages(path: Path, key: bytes) -> Iterator[bytes]:
    """The content of every page that stands in a file, as it was before it was encrypted."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = algorithms.AES(key)
    for page in _stored(path, file_salt(key)):
        end = len(page) - _RESERVE_BYTES
        decryptor = Cipher(cipher, modes.CBC(page[end : end + _IV_BYTES])).decryptor()
        yield decryptor.update(page[:end])


def _stored(path: Path, salt: bytes) -> Iterator[bytes]:
    """Every page without what stands in the clear before it; a last one that is cut off is none."""
    in_log = path.name.endswith("-wal")
    with path.open("rb") as file:
        file.read(_LOG_HEAD_BYTES if in_log else 0)
        while True:
            head = file.read(_FRAME_HEAD_BYTES if in_log else 0)
            page = file.read(PAGE_BYTES)
            if len(page) < PAGE_BYTES:
                return
            yield page.removeprefix(salt)
            del head
