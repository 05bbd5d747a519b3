"""The way in from outside: one browser is paired with a one-time code, and signs in with its passkey from then on.

Layer: a door, and part of the trusted base. It must not know HTTP, nor who records a device. The signatures are checked
by ``webauthn`` against exactly our origin and our RP id, always with the person verified; here is what that library
leaves to its caller: which challenge is ours and was not used, which passkey is known, and who may make one.

Source: WebAuthn Level 3, 7.1 (registering) and 7.2 (signing in).
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from stead.domain.devices import Devices, PairDevice, SignInDevice
from stead.domain.ports import Clock
from stead.web.errors import Problem
from stead.web.signin import CODE_LIFE_S, TOKEN_BYTES, TokenBucket, fingerprint

_CODE_TRIES = 5
_CHALLENGE_LIFE_S = 300
_NONCE_BYTES, _TIME_BYTES, _MAC_BYTES = 16, 8, 32
_TRIES, _TRIES_PER_S = 10, 0.5
_ALGORITHMS = (-7, -8, -257)
"""ES256, EdDSA, RS256 (RFC 9053, RFC 8812): what every authenticator has one of."""


@dataclass
class _Pairing:
    """The one code that is open. ``challenge``: the last one that was given for it."""

    name: str
    code: str
    expires_ms: int
    tries: int = _CODE_TRIES
    challenge: bytes = b""


class _ClientData(msgspec.Struct):
    challenge: str


class _Response(msgspec.Struct):
    client_data: str = msgspec.field(name="clientDataJSON")


class _Assertion(msgspec.Struct):
    """Of what a browser gives to sign in, what says which passkey and which challenge it is of."""

    id: str
    response: _Response


class Passkeys:
    """Pairs browsers, and knows them again.

    Args:
        url: the page's public origin, as the settings have it.
        port: at which the person's proxy reaches us.
        devices: those that are paired, by credential.
        clock: for what expires.
        random: gives that many random bytes.
    """

    def __init__(
        self, url: str, port: int, devices: Callable[[], Devices], clock: Clock, random: Callable[[int], bytes]
    ) -> None:
        self.origin = url.removesuffix(":443")
        self.host = urlsplit(self.origin).netloc
        self.port = port
        self._rp_id = urlsplit(url).hostname or ""
        self._devices = devices
        self._clock = clock
        self._random = random
        self._pairing: _Pairing | None = None
        self._key = random(TOKEN_BYTES)
        self._spent: dict[bytes, int] = {}
        self._rate = TokenBucket(clock, _TRIES, _TRIES_PER_S)

    def name_of(self, credential: str) -> str:
        """The name of a device; "" for a credential that is none of ours."""
        known = self._devices().get(credential)
        return known.name if known else ""

    def make_code(self, name: str) -> tuple[str, int]:
        """A fresh code for one device of this name, in a link, and when it ends; the one before counts no more."""
        code = _encoded(self._random(TOKEN_BYTES))
        expires_ms = self._clock.now_ms() + CODE_LIFE_S * 1000
        self._pairing = _Pairing(name, fingerprint(code), expires_ms)
        return f"{self.origin}/pair#{code}", expires_ms

    def creation(self, code: str) -> str | Problem:
        """What a browser makes its passkey by (``PublicKeyCredentialCreationOptions``, JSON), for a good code."""
        pairing = self._opened(code)
        if isinstance(pairing, Problem):
            return pairing
        from webauthn import generate_registration_options, options_to_json  # few start a browser's pairing
        from webauthn.helpers import structs
        from webauthn.helpers.cose import COSEAlgorithmIdentifier

        pairing.challenge = self._random(TOKEN_BYTES)
        options = generate_registration_options(
            rp_id=self._rp_id,
            rp_name="Stead",
            user_name=f"Stead ({pairing.name})",
            user_id=self._random(_NONCE_BYTES),
            challenge=pairing.challenge,
            timeout=_CHALLENGE_LIFE_S * 1000,
            attestation=structs.AttestationConveyancePreference.NONE,
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            supported_pub_key_algs=[COSEAlgorithmIdentifier(algorithm) for algorithm in _ALGORITHMS],
        )
        return options_to_json(options)

    def created(self, code: str, credential: str) -> PairDevice | Problem:
        """The device of a passkey that a browser made. The code is spent, whatever comes of it."""
        pairing = self._opened(code)
        if isinstance(pairing, Problem):
            return pairing
        self._pairing = None
        if not pairing.challenge:
            return _NOT_OURS
        from webauthn import verify_registration_response
        from webauthn.helpers import parse_attestation_object, parse_registration_credential_json
        from webauthn.helpers.cose import COSEAlgorithmIdentifier
        from webauthn.helpers.exceptions import WebAuthnException

        try:
            made = parse_registration_credential_json(credential)
            # What makers attest is not asked for, so their formats are not read; ``packed`` may be signed by itself.
            attested = parse_attestation_object(made.response.attestation_object)
            if attested.fmt not in ("none", "packed") or attested.att_stmt.x5c:
                return _NOT_OURS
            found = verify_registration_response(
                credential=made,
                expected_challenge=pairing.challenge,
                expected_rp_id=self._rp_id,
                expected_origin=self.origin,
                require_user_verification=True,
                supported_pub_key_algs=[COSEAlgorithmIdentifier(algorithm) for algorithm in _ALGORITHMS],
            )
        except (WebAuthnException, ValueError, TypeError, LookupError):
            return _NOT_OURS
        key = _encoded(found.credential_public_key)
        return PairDevice(pairing.name, _encoded(found.credential_id), key, found.sign_count)

    def request(self) -> str:
        """What a browser signs in by (``PublicKeyCredentialRequestOptions``, JSON). Nothing is kept of it.

        The challenge shows by its own MAC that it is ours and how old it is, so nobody can crowd out another's; and it
        names no passkey, so nobody learns which there are.
        """
        said = self._random(_NONCE_BYTES) + (self._clock.now_ms() + _CHALLENGE_LIFE_S * 1000).to_bytes(_TIME_BYTES)
        wish = {"challenge": _encoded(said + self._mac(said)), "rpId": self._rp_id, "userVerification": "required"}
        return msgspec.json.encode({**wish, "timeout": _CHALLENGE_LIFE_S * 1000, "allowCredentials": []}).decode()

    def signed_in(self, credential: str) -> SignInDevice | Problem:
        """The device that signed a challenge of ours. The challenge is spent, whatever comes of it."""
        try:
            shown = msgspec.json.decode(credential, type=_Assertion)
            said = msgspec.json.decode(_decoded(shown.response.client_data), type=_ClientData)
            challenge = _decoded(said.challenge)
        except (msgspec.MsgspecError, ValueError):
            return _NOT_OURS
        device = self._devices().get(shown.id)
        if device is None:  # before anything is counted: nobody but its holders knows the id of a passkey
            return _NOT_OURS
        if wait_s := self._rate.take():
            return Problem(429, "rate", "too many sign-ins were tried; wait, and try again", wait_s)
        if not self._spend(challenge):
            return _NOT_OURS
        from webauthn import verify_authentication_response
        from webauthn.helpers.exceptions import WebAuthnException

        try:
            found = verify_authentication_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._rp_id,
                expected_origin=self.origin,
                credential_public_key=_decoded(device.public_key),
                credential_current_sign_count=device.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError, TypeError, LookupError):
            return _NOT_OURS
        return SignInDevice(device.credential, found.new_sign_count)

    def _opened(self, code: str) -> _Pairing | Problem:
        """The pairing that a code is for. Every code but the right one counts as a try, and five end it."""
        pairing = self._pairing
        if pairing is None or pairing.expires_ms <= self._clock.now_ms():
            self._pairing = None
            return _NO_CODE
        if hmac.compare_digest(fingerprint(code), pairing.code):
            return pairing
        pairing.tries -= 1
        if pairing.tries <= 0:
            self._pairing = None
        return _NO_CODE

    def _spend(self, challenge: bytes) -> bool:
        """Whether a challenge is one of ours, in time, and was not used; it is now."""
        said, mac = challenge[:-_MAC_BYTES], challenge[-_MAC_BYTES:]
        now_ms = self._clock.now_ms()
        if len(said) != _NONCE_BYTES + _TIME_BYTES or not hmac.compare_digest(mac, self._mac(said)):
            return False
        expires_ms = int.from_bytes(said[_NONCE_BYTES:])
        self._spent = {key: at for key, at in self._spent.items() if at > now_ms}
        if expires_ms <= now_ms or said in self._spent:
            return False
        self._spent[said] = expires_ms
        return True

    def _mac(self, said: bytes) -> bytes:
        return hmac.digest(self._key, said, "sha256")


_NO_CODE = Problem(401, "auth", "this code is wrong, was used, or is too old; make another one: stead remote pair NAME")
_NOT_OURS = Problem(401, "auth", "this passkey is not one of Stead's, or did not sign what was asked; try again")


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
