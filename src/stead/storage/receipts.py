"""Receipts of forgetting, signed by the home; and the fingerprints by which it knows what must not come back.

Layer: storage. The signature is Ed25519 by the key that signs heads of the journal, over a line with a name and the
canonical JSON of the receipt (keys sorted, no spaces) with an empty signature. Whoever has the public key of the heads
can verify it.
"""

from __future__ import annotations

import hashlib
import hmac

import msgspec
from msgspec.structs import replace

from stead.domain.fingerprints import fingerprint
from stead.domain.memory_events import ForgetReceipt
from stead.storage.keys import Keys

_NAME = b"stead receipt 1\n"
_encoder = msgspec.json.Encoder(order="sorted")


class HomeReceipts:
    """Implements ``domain.forgetting.Receipts``.

    Args:
        keys: the home's.
    """

    def __init__(self, keys: Keys) -> None:
        self._seed = keys.audit
        self._salt = keys.forgetting

    def digest(self, content: bytes) -> str:
        """HMAC-SHA256, hex, under the home's key for this."""
        return hmac.digest(self._salt, content, hashlib.sha256).hex()

    def fingerprint(self, text: str) -> str:
        """See ``domain.fingerprints``; "" for a text without words."""
        return fingerprint(text, self.digest)

    def public_key(self) -> str:
        """By which receipts are verified, hex; that of the journal's heads."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._seed).public_key().public_bytes_raw().hex()

    def signed(self, receipt: ForgetReceipt) -> ForgetReceipt:
        """With the home's signature."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        signature = Ed25519PrivateKey.from_private_bytes(self._seed).sign(_signed_bytes(receipt))
        return replace(receipt, signature=signature.hex())


def verify_receipt(receipt: ForgetReceipt, public_key: str) -> bool:
    """Whether this key (hex) has signed the receipt as it is."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key, signature = bytes.fromhex(public_key), bytes.fromhex(receipt.signature)
        Ed25519PublicKey.from_public_bytes(key).verify(signature, _signed_bytes(receipt))
    except (InvalidSignature, ValueError):
        return False
    return (key.hex(), signature.hex()) == (public_key, receipt.signature)  # one form alone: no capitals, no spaces


def _signed_bytes(receipt: ForgetReceipt) -> bytes:
    return _NAME + _encoder.encode(replace(receipt, signature=""))
