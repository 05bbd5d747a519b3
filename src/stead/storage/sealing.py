"""Turning a passphrase into a key, and sealing small values under a key.

Layer: storage. Used for the key file, the vault and backups. The libraries are imported at first use: a home whose key
is in a plain file starts without them.
"""

from __future__ import annotations

import os
import unicodedata

import msgspec

from stead.domain.errors import InvalidRequest, StorageFault, WrongKey

PASSPHRASE_MIN = 8
NONCE_BYTES = 12


class Argon2id(msgspec.Struct, frozen=True):
    """The cost of trying one passphrase (RFC 9106), kept beside what it protects.

    Args:
        salt: 16 random bytes.
        memory_kib: memory in KiB; the default 64 MiB.
        passes: over that memory.
        lanes: threads.
    """

    salt: bytes
    memory_kib: int = 64 * 1024
    passes: int = 3
    lanes: int = 4

    def key(self, passphrase: str) -> bytes:
        """32 bytes; takes about a third of a second on purpose.

        Raises:
            StorageFault: the figures are beyond what Stead ever writes: the file was made to exhaust this machine.
        """
        if not (8 <= self.memory_kib <= 1024 * 1024 and 1 <= self.passes <= 16 and 1 <= self.lanes <= 16):
            raise StorageFault("the passphrase cost in the file is out of range; the file is damaged or forged")
        if not 8 <= len(self.salt) <= 64:
            raise StorageFault("the salt in the file has a wrong length; the file is damaged or forged")
        from argon2.low_level import Type, hash_secret_raw

        return hash_secret_raw(
            unicodedata.normalize("NFC", passphrase).encode(),
            self.salt,
            time_cost=self.passes,
            memory_cost=self.memory_kib,
            parallelism=self.lanes,
            hash_len=32,
            type=Type.ID,
        )


def new_argon2id() -> Argon2id:
    """Today's cost with a fresh salt."""
    return Argon2id(salt=os.urandom(16))


def require_passphrase(passphrase: str) -> None:
    """Check a passphrase that is being chosen.

    Raises:
        InvalidRequest: it is shorter than 8 characters.
    """
    if len(passphrase) < PASSPHRASE_MIN:
        raise InvalidRequest(f"the passphrase has {len(passphrase)} characters; choose at least {PASSPHRASE_MIN}")


def seal(key: bytes, value: bytes, context: bytes) -> tuple[bytes, bytes]:
    """Encrypt with AES-256-GCM under a random nonce; ``context`` is bound to it. Gives (nonce, sealed)."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce, AESGCM(key).encrypt(nonce, value, context)


def unseal(key: bytes, nonce: bytes, sealed: bytes, context: bytes) -> bytes:
    """The value back.

    Raises:
        WrongKey: another key, another context, or a changed byte; which, nobody can tell.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(nonce, sealed, context)
    except (InvalidTag, ValueError) as error:
        raise WrongKey("a sealed value does not open with this key, or it was changed") from error


class Sealing:
    """``seal`` and ``unseal`` for many values under one key: nonce and sealed value in one piece.

    Args:
        key: 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sealed(self, value: bytes, context: bytes) -> bytes:
        """Encrypted; ``context`` is bound to it."""
        nonce, value = seal(self._key, value, context)
        return nonce + value

    def opened(self, sealed: bytes, context: bytes) -> bytes:
        """The value back.

        Raises:
            WrongKey: another key, another context, or a changed byte.
        """
        return unseal(self._key, sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
