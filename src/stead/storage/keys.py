"""The home's master key, the keys that follow from it, and its form on paper.

Layer: storage. Where the master is kept is ``keystore``'s business. Nothing here is ever logged or shown, except the
recovery key, by whoever asks for it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from dataclasses import dataclass, field

from stead.domain.errors import InvalidRequest, StorageFault

MASTER_BYTES = 32
_CHECK_BYTES = 3
_GROUP = 4
_LOOKALIKES = str.maketrans("018", "OIB")


@dataclass(frozen=True, slots=True)
class Keys:
    """The master key and its subkeys, 32 bytes each; knowing one subkey tells nothing of the others.

    Args:
        master: for ``keystore`` and backups alone.
        database: of the journal's file.
        views: of the read models' files.
        vault: of each secret within the journal's file.
        digests: for HMACs of what could be guessed, such as the arguments of a call.
        audit: the private key that signs heads of the journal (Ed25519).
        checkpoints: of the files that are kept, and of their names.
        forgetting: for HMACs of what was forgotten, by which it is known if it comes back.
    """

    master: bytes = field(repr=False)
    database: bytes = field(repr=False)
    views: bytes = field(repr=False)
    vault: bytes = field(repr=False)
    digests: bytes = field(repr=False)
    audit: bytes = field(repr=False)
    checkpoints: bytes = field(repr=False)
    forgetting: bytes = field(repr=False)


def new_master() -> bytes:
    """A fresh master key."""
    return os.urandom(MASTER_BYTES)


def derive_keys(master: bytes) -> Keys:
    """The subkeys of a master, by HKDF-SHA256 (RFC 5869), one label each.

    The two steps are written out, because the library that has them takes longer to import than the daemon has to
    start; a test compares them with it.
    """
    if len(master) != MASTER_BYTES:
        raise StorageFault(f"a master key has {MASTER_BYTES} bytes, not {len(master)}; restore the key file")
    root = hmac.digest(b"stead home key 1", master, hashlib.sha256)

    def subkey(label: str) -> bytes:
        return hmac.digest(root, label.encode() + b"\x01", hashlib.sha256)

    labels = ("database", "views", "vault", "digests", "audit", "checkpoints", "forgetting")
    return Keys(master, **{label: subkey(label) for label in labels})


def recovery_key(keys: Keys) -> str:
    """The master as 14 groups of 4 letters and digits to write down; the last ones check the rest."""
    text = base64.b32encode(keys.master + _check(keys.master)).decode()
    return "-".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))


def from_recovery_key(text: str) -> Keys:
    """Read a recovery key back. Case, spaces and dashes do not matter; 0, 1 and 8 are read as O, I and B.

    Raises:
        InvalidRequest: it has the wrong length, a strange character, or does not check.
    """
    letters = "".join(text.split()).replace("-", "").upper().translate(_LOOKALIKES)
    expected = (MASTER_BYTES + _CHECK_BYTES) * 8 // 5
    if len(letters) != expected:
        raise InvalidRequest(f"a recovery key has {expected} letters and digits, this has {len(letters)}; type it all")
    try:
        content = base64.b32decode(letters)
    except ValueError:
        raise InvalidRequest("a recovery key has only the letters A to Z and the digits 2 to 7; check it") from None
    master, check = content[:MASTER_BYTES], content[MASTER_BYTES:]
    if not hmac.compare_digest(check, _check(master)):
        raise InvalidRequest("the recovery key has a typing mistake; compare it with the paper group by group")
    return derive_keys(master)


def _check(master: bytes) -> bytes:
    return hashlib.sha256(b"stead recovery key" + master).digest()[:_CHECK_BYTES]
