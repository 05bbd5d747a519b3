"""Web push: a message that only the browser which asked for it can read, brought to its push service.

Layer: notifiers. Sixty lines over ``cryptography``, which is there: a library for it would connect by itself, past the
check of addresses.

Source: RFC 8030 (delivery), RFC 8188 and RFC 8291 (encryption), RFC 8292 (VAPID).
"""

from __future__ import annotations

import base64
import binascii
import os
import time

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from stead.domain.errors import InvalidRequest
from stead.domain.notifications import Message, SubscribePush, Undelivered
from stead.guardian.reach import Target, Unreachable
from stead.net.dialing import Dialer
from stead.notifiers.posting import place_of, post

KEPT_S = 86_400
_CURVE = ec.SECP256R1()
_RECORD = 4096


class Subscription(msgspec.Struct, frozen=True):
    """What a push service gave a browser; it is enough to send there."""

    endpoint: str
    p256dh: bytes
    auth: bytes


def subscription(dialer: Dialer, command: SubscribePush) -> tuple[Subscription, Target]:
    """What a browser gave, and its push service; raises ``InvalidRequest``."""
    target = dialer.reach.check_url(command.endpoint)  # a browser named it and no person, so it is a public one
    if isinstance(target, Unreachable):
        raise InvalidRequest(target.text)
    try:
        given = Subscription(command.endpoint, _decoded(command.p256dh), _decoded(command.auth))
        ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, given.p256dh)
    except (ValueError, binascii.Error) as error:
        raise InvalidRequest("these are no keys of a browser's push subscription; subscribe again") from error
    if len(given.auth) != 16 or target.scheme != "https":
        raise InvalidRequest("this is no push subscription of a browser; subscribe again")
    return given, target


def new_key() -> str:
    """A fresh private key of the home's, as text for the vault."""
    return f"{ec.generate_private_key(_CURVE).private_numbers().private_value:064x}"


def public_key(key: str) -> str:
    """The public half, as browsers take it."""
    return _encoded(_point(_private(key).public_key()))


async def push(dialer: Dialer, subscribed: Subscription, key: str, message: Message) -> None:
    """Send a message; raises ``Undelivered``."""
    target = place_of(dialer, subscribed.endpoint)
    headers = {
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(KEPT_S),
        "Urgency": "high" if message.kind == "question" else "normal",
        "Topic": message.id[-24:],  # sent twice, it is kept once
        "Authorization": f"vapid t={_token(key, target)}, k={public_key(key)}",
    }
    try:
        await post(dialer, subscribed.endpoint, headers, encrypted(subscribed, msgspec.json.encode(message)))
    except Undelivered as fault:
        gone = fault.gone or "answers 404" in str(fault)
        raise Undelivered(str(fault), after_s=fault.after_s, final=fault.final, gone=gone) from fault


def encrypted(subscribed: Subscription, text: bytes) -> bytes:
    """One record that the browser alone can read."""
    own = ec.generate_private_key(_CURVE)
    there = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, subscribed.p256dh)
    shared, point, salt = own.exchange(ec.ECDH(), there), _point(own.public_key()), os.urandom(16)
    secret = _derived(shared, subscribed.auth, b"WebPush: info\0" + subscribed.p256dh + point, 32)
    key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    record = AESGCM(key).encrypt(nonce, text + b"\x02", None)
    return salt + _RECORD.to_bytes(4, "big") + bytes([len(point)]) + point + record


def _derived(material: bytes, salt: bytes, info: bytes, size_bytes: int) -> bytes:
    return HKDF(SHA256(), size_bytes, salt, info).derive(material)


def _token(key: str, target: Target) -> str:
    claims = {"aud": f"{target.scheme}://{target.authority}", "exp": int(time.time()) + KEPT_S // 2, "sub": _SUBJECT}
    parts = [_encoded(msgspec.json.encode(part)) for part in ({"typ": "JWT", "alg": "ES256"}, claims)]
    r, s = decode_dss_signature(_private(key).sign(".".join(parts).encode(), ec.ECDSA(SHA256())))
    return ".".join([*parts, _encoded(r.to_bytes(32, "big") + s.to_bytes(32, "big"))])


_SUBJECT = "https://stead.invalid"
"""Whom a push service could write to; no address is given away."""


def _private(key: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int(key, 16), _CURVE)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
