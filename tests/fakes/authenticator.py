"""An authenticator in software: passkeys as browsers hand them on, with every part of them open to be forged.

Written from WebAuthn Level 3 (6.1, 6.5) with ``cbor2`` and ``cryptography``; it knows nothing of the product.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

Json = dict[str, Any]
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def encoded(data: bytes) -> str:
    """base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """The bytes of base64url."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One passkey of one browser.

    Args:
        origin: what the browser says that it is at.
        credential: the passkey's id.
        count: signatures so far; None for an authenticator that does not count.
        flags: of the authenticator data, apart from those that follow from what is done.
    """

    origin: str
    credential: bytes = field(default_factory=lambda: os.urandom(16))
    count: int | None = 0
    flags: int = PRESENT | VERIFIED
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: str, *, rp_id: str = "", kind: str = "webauthn.create", fmt: str = "none") -> str:
        """Make the passkey, as ``navigator.credentials.create`` gives it."""
        asked = json.loads(options)
        assert asked["attestation"] == "none" and asked["authenticatorSelection"]["userVerification"] == "required"
        assert asked["authenticatorSelection"]["residentKey"] == "required"
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        attested = bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + cbor2.dumps(cose)
        data = self._data(rp_id or asked["rp"]["id"], ATTESTED) + attested
        statement: Json = {"fmt": fmt, "attStmt": {}, "authData": data}
        client = self._client(kind, asked["challenge"])
        return self._given({"clientDataJSON": client, "attestationObject": cbor2.dumps(statement)})

    def get(self, options: str, *, rp_id: str = "", kind: str = "webauthn.get") -> str:
        """Sign, as ``navigator.credentials.get`` gives it."""
        asked = json.loads(options)
        assert asked["userVerification"] == "required" and asked["allowCredentials"] == []
        if self.count is not None:
            self.count += 1
        data, client = self._data(rp_id or asked["rpId"], 0), self._client(kind, asked["challenge"])
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._given({"clientDataJSON": client, "authenticatorData": data, "signature": signature})

    def _data(self, rp_id: str, more: int) -> bytes:
        return (
            hashlib.sha256(rp_id.encode()).digest() + bytes([self.flags | more]) + (self.count or 0).to_bytes(4, "big")
        )

    def _client(self, kind: str, challenge: str) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def _given(self, response: dict[str, bytes]) -> str:
        shown = {"id": encoded(self.credential), "rawId": encoded(self.credential), "type": "public-key"}
        parts = {name: encoded(value) for name, value in response.items()}
        return json.dumps({**shown, "response": parts, "clientExtensionResults": {}})
