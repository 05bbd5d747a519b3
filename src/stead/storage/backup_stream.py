"""Bytes under a passphrase, in chunks, so that a backup of any size needs little memory.

Layer: storage. Knows nothing of what the bytes are. Integers are big-endian::

    magic "STEADBK1" ‖ length of header (4 bytes) ‖ header (JSON: passphrase cost, nonce prefix) ‖ chunks
    chunk = AES-256-GCM(key, nonce = prefix (7) ‖ number (4) ‖ last? (1), text, bound to magic and header)

Chunk 0 is empty and tells a wrong passphrase from a damaged file. The others have 1 MiB of text each, the last one up
to that. A chunk's number and whether it is the last are in its nonce (the STREAM construction of Hoang, Reyhanitabar,
Rogaway and Vizár, 2015), so none can be changed, moved, left out or cut off without being found.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

import msgspec

from stead.domain.errors import StorageFault, WrongKey
from stead.storage.sealing import Argon2id, new_argon2id

MAGIC = b"STEADBK1"
CHUNK_BYTES = 1 << 20
_TAG_BYTES = 16
_PREFIX_BYTES = 7
_HEADER_LIMIT = 4096
_LENGTH = struct.Struct(">I")


class _Header(msgspec.Struct, frozen=True):
    cost: Argon2id
    prefix: bytes


def _nonce(prefix: bytes, number: int, *, last: bool) -> bytes:
    return prefix + _LENGTH.pack(number) + bytes([last])


class Sealer:
    """Writes an encrypted stream. Without ``finish`` it is not whole, and nobody will take it for whole."""

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        header = _Header(new_argon2id(), os.urandom(_PREFIX_BYTES))
        encoded = msgspec.json.encode(header)
        self._bound = MAGIC + _LENGTH.pack(len(encoded)) + encoded
        self._file = file
        self._cipher = AESGCM(header.cost.key(passphrase))
        self._prefix = header.prefix
        self._number = 0
        self._pending = bytearray()
        file.write(self._bound)
        self._seal(b"", last=False)

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self._pending += data
        while len(self._pending) > CHUNK_BYTES:
            self._seal(bytes(self._pending[:CHUNK_BYTES]), last=False)
            del self._pending[:CHUNK_BYTES]

    def finish(self) -> None:
        """Write the last chunk."""
        self._seal(bytes(self._pending), last=True)

    def _seal(self, text: bytes, *, last: bool) -> None:
        nonce = _nonce(self._prefix, self._number, last=last)
        self._file.write(self._cipher.encrypt(nonce, text, self._bound))
        self._number += 1


class Opener:
    """Reads an encrypted stream; what it gives out was checked.

    Args:
        file: at its start.
        source: its name, for messages.
        passphrase: what it was sealed under.

    Raises:
        WrongKey: the passphrase is wrong.
        StorageFault: it is no backup, or was cut off or changed; so does every method.
    """

    def __init__(self, file: BinaryIO, source: Path, passphrase: str) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._file = file
        self._name = repr(str(source))
        start = file.read(len(MAGIC) + _LENGTH.size)
        if start[: len(MAGIC)] != MAGIC:
            raise StorageFault(f"{self._name} is not a backup of Stead; give the file that 'stead backup' wrote")
        size = int.from_bytes(start[len(MAGIC) :], "big")
        encoded = file.read(size) if size <= _HEADER_LIMIT else b""
        try:
            header = msgspec.json.decode(encoded, type=_Header)
        except msgspec.DecodeError as error:
            raise self._damage() from error
        if len(header.prefix) != _PREFIX_BYTES:
            raise self._damage()
        self._bound = start + encoded
        self._cipher = AESGCM(header.cost.key(passphrase))
        self._prefix = header.prefix
        self._number = 0
        self._text = b""
        check = file.read(_TAG_BYTES)
        self._ahead = file.read(CHUNK_BYTES + _TAG_BYTES)
        if len(check) < _TAG_BYTES:
            raise self._damage()
        if self._unseal(check, last=False) is None:
            raise WrongKey(f"the passphrase does not open {self._name}; try another")

    def read(self, size: int) -> bytes:
        """Exactly so many bytes."""
        pieces = []
        while size:
            if not self._text:
                self._text = self._next_chunk()
            pieces.append(self._text[:size])
            self._text = self._text[size:]
            size -= len(pieces[-1])
        return b"".join(pieces)

    def require_end(self) -> None:
        """Check that everything was read."""
        if self._text or self._ahead:
            raise self._damage()

    def _next_chunk(self) -> bytes:
        sealed, self._ahead = self._ahead, self._file.read(CHUNK_BYTES + _TAG_BYTES)
        text = self._unseal(sealed, last=not self._ahead)
        if not text:
            raise self._damage()
        return text

    def _unseal(self, sealed: bytes, *, last: bool) -> bytes | None:
        from cryptography.exceptions import InvalidTag

        try:
            text = self._cipher.decrypt(_nonce(self._prefix, self._number, last=last), sealed, self._bound)
        except (InvalidTag, ValueError):
            return None
        self._number += 1
        return text

    def _damage(self) -> StorageFault:
        return StorageFault(f"{self._name} was cut off or changed; take another copy of the backup")
