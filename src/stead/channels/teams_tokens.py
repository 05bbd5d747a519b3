"""Who sent an activity: the tokens of the Bot Framework's connector, by the keys that it publishes.

Layer: channels. A token is a JSON Web Token with a signature of RS256, which `cryptography` checks; a library for such
tokens would load three megabytes more of it (docs/adr/0081). Whatever a token says counts only once all of it holds.

Sources: RFC 7515 (§4.1.11, crit; §5.2), RFC 7518 (§3.3, §6.3.1), RFC 7519 (§4.1).
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from stead.channels.base import ChannelFault
from stead.channels.http import Http, read

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

KEYS_LAST_S, KEYS_AGAIN_S = 86_400.0, 60.0
"""How long keys are used; and how long at least lies between two looks for one that is not among them."""
LEEWAY_S = 300
_MOST_KEYS, _MOST_BYTES = 50, 500_000
_KEY_BITS = range(2048, 8193)


class Claims(msgspec.Struct):
    """What a token says, and the channels that its key vouches for."""

    iss: str
    aud: str
    exp: float
    nbf: float
    serviceurl: str = ""
    endorsements: frozenset[str] = frozenset()


class _Head(msgspec.Struct):
    alg: Literal["RS256"]
    kid: str
    crit: Literal[None] = None  # what has to be understood; nothing is


class _Document(msgspec.Struct):
    issuer: str
    jwks_uri: str


class _Key(msgspec.Struct):
    kid: str = ""
    kty: str = ""
    n: str = ""
    e: str = ""
    endorsements: frozenset[str] = frozenset()


class _KeySet(msgspec.Struct):
    keys: list[msgspec.Raw]


def bearer(headers: Mapping[str, str]) -> str:
    """The token of a request; "" where there is none, or more than one."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token if kind.lower() == "bearer" and len(token) < 20_000 and token.isascii() else ""


class Keys:
    """The connector's keys.

    Args:
        http: by which they are asked for.
        openid: the address of the document that names them.
        audience: whom a token has to be for.
    """

    def __init__(self, http: Http, openid: str, audience: str) -> None:
        self._http = http
        self._openid = openid
        self._audience = audience
        self._issuer = ""
        self._keys: dict[str, tuple[RSAPublicKey, frozenset[str]]] = {}
        """By id: the key, and the channels that it vouches for."""
        self._loaded_s = self._looked_s = float("-inf")

    async def claims(self, token: str) -> Claims | None:
        """What a token says; None where it does not hold. Raises ``ChannelFault`` where the keys could not be had."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        signed, _, signature = token.rpartition(".")
        head, _, body = signed.partition(".")
        if (header := read(_decoded(head), _Head)) is None:
            return None
        now_s = time.monotonic()
        old = now_s - self._loaded_s > KEYS_LAST_S
        if old or (header.kid not in self._keys and now_s - self._looked_s > KEYS_AGAIN_S):
            await self.load()
        if header.kid not in self._keys:
            return None
        key, endorsements = self._keys[header.kid]
        try:
            key.verify(_decoded(signature), signed.encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            return None
        claims, now_s = read(_decoded(body), Claims), time.time()
        if claims is None or (claims.iss, claims.aud) != (self._issuer, self._audience):
            return None
        claims.endorsements = endorsements
        return claims if claims.nbf - LEEWAY_S <= now_s < claims.exp + LEEWAY_S else None

    async def load(self) -> None:
        """Read them; raises ``ChannelFault`` where they could not be had."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

        self._looked_s = time.monotonic()
        named = await self._read(self._openid, _Document)
        if urlsplit(named.jwks_uri)[:2] != urlsplit(self._openid)[:2]:
            raise ChannelFault("the connector's keys are said to be at another host than what names them")
        found: dict[str, tuple[RSAPublicKey, frozenset[str]]] = {}
        for given in (await self._read(named.jwks_uri, _KeySet)).keys[:_MOST_KEYS]:
            if (one := read(given, _Key)) is None or one.kty != "RSA" or not one.kid:
                continue
            n, e = (int.from_bytes(_decoded(part)) for part in (one.n, one.e))
            if n.bit_length() in _KEY_BITS:
                with suppress(ValueError):  # two numbers that are no key; those of other ids hold all the same
                    found[one.kid] = RSAPublicNumbers(e, n).public_key(), one.endorsements
        if not found:
            raise ChannelFault("the connector's keys could not be had: none of its set can be used")
        self._issuer, self._keys, self._loaded_s = named.issuer, found, time.monotonic()

    async def _read(self, url: str, kind: type[Any]) -> Any:
        answer = await self._http.ask("GET", url, most_bytes=_MOST_BYTES)
        if answer.status != 200 or (found := answer.read(kind)) is None:
            raise ChannelFault(f"the connector's keys could not be had: {answer.status}")
        return found


def _decoded(text: str) -> bytes:
    """What stands there in base64 for addresses; nothing where it does not."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
