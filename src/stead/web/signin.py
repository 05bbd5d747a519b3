"""What a browser shows to be let in: the one-time code, then its session's cookie; and how often it may try.

Layer: a door, and part of the trusted base. Only hashes are kept, of codes in memory and of sessions in the vault. It
must not know HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable

import msgspec

from stead.domain.errors import StorageFault
from stead.domain.ports import Clock, Secrets
from stead.web.errors import Problem

_log = logging.getLogger(__name__)

TOKEN_BYTES = 32
CODE_LIFE_S = 600
SESSION_LIFE_S = 30 * 24 * 3600
IDLE_S = 7 * 24 * 3600
"""A device's session ends when it was not used for so long."""
_SEEN_S = 3600
STORED_AS = "web-sessions"
_CODES_HELD = 16
_SESSIONS_HELD = 64
_TRIES, _TRIES_PER_S = 5, 0.1
_FAILURES_ALLOWED = 10
_LOCK_S = 15 * 60


def fingerprint(secret: str) -> str:
    """What is kept of a secret of 256 random bits. It needs no salt and no slow hash: nobody can guess its source."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class TokenBucket:
    """A rate: ``burst`` at once, then ``per_s`` every second."""

    def __init__(self, clock: Clock, burst: int, per_s: float) -> None:
        self._clock = clock
        self._burst = burst
        self._per_s = per_s
        self._tokens = float(burst)
        self._at_ms = clock.now_ms()

    def take(self) -> float:
        """Take one; gives 0.0, or the seconds until there is one. A clock that jumps back gives nothing away."""
        now_ms = self._clock.now_ms()
        elapsed_s = max(0, now_ms - self._at_ms) / 1000
        self._at_ms = now_ms
        self._tokens = min(self._burst, self._tokens + elapsed_s * self._per_s)
        if self._tokens < 1:
            return (1 - self._tokens) / self._per_s
        self._tokens -= 1
        return 0.0


class SignInCodes:
    """One-time codes: 256 bits, ten minutes, one use.

    Few may be tried at once, and ten wrong ones in a row lock signing in for a quarter of an hour. A holder of the
    bearer ends both by asking for another code.
    """

    def __init__(self, clock: Clock, random: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._random = random
        self._expires_ms: dict[str, int] = {}
        self._rate = TokenBucket(clock, _TRIES, _TRIES_PER_S)
        self._failures = 0
        self._locked_until_ms = 0

    def make(self) -> str:
        """A new code. Of more than a few unused ones the oldest is dropped."""
        self._failures = self._locked_until_ms = 0
        self._rate = TokenBucket(self._clock, _TRIES, _TRIES_PER_S)
        code = _token(self._random)
        self._expires_ms[fingerprint(code)] = self._clock.now_ms() + CODE_LIFE_S * 1000
        while len(self._expires_ms) > _CODES_HELD:
            del self._expires_ms[next(iter(self._expires_ms))]
        return code

    def spend(self, code: str) -> Problem | None:
        """Use a code up; gives nothing when it was good, else why it was not."""
        now_ms = self._clock.now_ms()
        wait_s = max((self._locked_until_ms - now_ms) / 1000, 0.0) or self._rate.take()
        if wait_s:
            return Problem(429, "rate", "too many sign-ins were tried; wait, or run again: stead open", wait_s)
        found = _match(self._expires_ms, fingerprint(code))
        if found and self._expires_ms.pop(found) > now_ms:
            self._failures = 0
            return None
        self._failures += 1
        if self._failures >= _FAILURES_ALLOWED:
            self._locked_until_ms = now_ms + _LOCK_S * 1000
        return Problem(401, "auth", "this sign-in code is wrong, was used, or is too old; run again: stead open")


class BrowserSession(msgspec.Struct):
    """What is kept of one, by the hash of its token.

    Args:
        expires_ms: its end.
        device: the credential of the device that it is of; "" for a browser on this computer.
        seen_ms: when the device was last seen, give or take an hour.
    """

    expires_ms: int
    device: str = ""
    seen_ms: int = 0


class BrowserSessions:
    """Who is signed in. It outlives a restart: the vault has each session's hash and expiry, nothing else has more.

    Args:
        clock: for expiry.
        random: gives that many random bytes.
        secrets: where sessions are kept.
        name_of: names the device of a credential, "" where it is none of ours: with a device its sessions end.
    """

    life_s = SESSION_LIFE_S

    def __init__(
        self, clock: Clock, random: Callable[[int], bytes], secrets: Secrets, name_of: Callable[[str], str]
    ) -> None:
        self._clock = clock
        self._random = random
        self._secrets = secrets
        self._name_of = name_of
        self._held = _load(secrets)

    async def open(self, device: str = "") -> str:
        """A new session; gives the token of its cookie. Of very many the oldest one ends. ``device``: its credential.

        Raises:
            StorageFault: it cannot be kept, so it was not opened.
        """
        now_ms = self._clock.now_ms()
        for session in [session for session in self._held if not self.holds(session)]:
            del self._held[session]
        token = _token(self._random)
        self._held[fingerprint(token)] = BrowserSession(now_ms + SESSION_LIFE_S * 1000, device, now_ms)
        while len(self._held) > _SESSIONS_HELD:
            del self._held[next(iter(self._held))]
        try:
            await self._keep()
        except StorageFault:
            self._held.pop(fingerprint(token), None)
            raise
        return token

    def find(self, token: str) -> tuple[str, str]:
        """The session of a cookie's token, or "", and the name of its device, "" for a browser on this computer."""
        session = _match(self._held, fingerprint(token))
        return (session, self._name_of(self._held[session].device)) if self.holds(session) else ("", "")

    def holds(self, session: str) -> bool:
        """Whether the session is open: it has not run out, and its device is still one of ours."""
        known, now_ms = self._held.get(session), self._clock.now_ms()
        if known is None or known.expires_ms <= now_ms:
            return False
        return not known.device or (known.seen_ms + IDLE_S * 1000 > now_ms and self._name_of(known.device) != "")

    async def note_seen(self, session: str) -> None:
        """Note that a device uses its session; see ``Auth.note_seen``."""
        known, now_ms = self._held[session], self._clock.now_ms()
        if now_ms - known.seen_ms > _SEEN_S * 1000:
            known.seen_ms = now_ms
            await self._keep()

    async def end(self, session: str) -> None:
        """Close it; it is closed at once, even if that cannot be kept.

        Raises:
            StorageFault: a restart would open it again.
        """
        self._held.pop(session, None)
        await self._keep()

    async def _keep(self) -> None:
        await self._secrets.put(STORED_AS, msgspec.json.encode(self._held).decode())


def _load(secrets: Secrets) -> dict[str, BrowserSession]:
    stored = secrets.get(STORED_AS)
    if stored is None:
        return {}
    try:
        kept = msgspec.json.decode(stored, type=dict[str, BrowserSession | int])
    except msgspec.MsgspecError as error:
        _log.warning("the stored browser sessions do not decode (%s); browsers must sign in again", error)
        return {}
    # Before there were devices, only the expiry was kept.
    return {key: BrowserSession(one) if isinstance(one, int) else one for key, one in kept.items()}


def _match(held: Iterable[str], wanted: str) -> str:
    """The key equal to ``wanted``, or "", in a time that does not depend on which one it is."""
    found = ""
    for key in held:
        if hmac.compare_digest(key, wanted):
            found = key
    return found


def _token(random: Callable[[int], bytes]) -> str:
    return urlsafe_b64encode(random(TOKEN_BYTES)).rstrip(b"=").decode()
