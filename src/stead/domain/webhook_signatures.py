"""Who sent a webhook: signatures of the vendors' forms, checked over the bytes as they came.

Layer: domain. Pure: what time it is is handed in. The secret is never in what is returned. All forms are HMAC-SHA256
with a constant-time comparison.

Sources: the specification of Standard Webhooks (headers webhook-id, -timestamp, -signature); GitHub, "Validating
webhook deliveries"; Stripe, "Verify webhook signatures"; Dropbox, "Webhooks"; Slack, "Verifying requests from Slack".
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import NamedTuple, assert_never

import msgspec

from stead.domain.triggers import Form

TOLERANCE_MS = 300_000
"""How far a signed time may be from ours."""
_ID = re.compile(r"[\x21-\x7e]{1,200}")
_TIME = re.compile(r"[0-9]{1,12}")
_CHALLENGE = re.compile(r"[A-Za-z0-9_.=-]{1,200}")
_SIGNED_BY: Mapping[Form, tuple[str, ...]] = {
    "standard": ("webhook-id", "webhook-timestamp", "webhook-signature"),
    "github": ("x-hub-signature-256",),
    "stripe": ("stripe-signature",),
    "dropbox": ("x-dropbox-signature",),
    "slack": ("x-slack-request-timestamp", "x-slack-signature"),
}
_NONE = b"\0" * 32
"""No key: it is counted with where there is none, so that a request takes as long, and it opens nothing."""


class Signed(NamedTuple):
    """A webhook that its sender signed.

    Args:
        delivery: tells it from others by what is signed, so that it cannot be sent again as another one; "" where
            nothing happened, and the sender only tries whether this works.
        challenge: to be answered with, where the sender only asks whether the address works; "" for a delivery.
    """

    delivery: str
    challenge: str = ""


class _Named(msgspec.Struct):
    id: str | int = ""
    zen: str = ""
    hook_id: int = 0
    event_id: str = ""
    type: str = ""
    challenge: str = ""


def verify(form: Form, key: str, headers: Mapping[str, Sequence[str]], body: bytes, now_ms: int) -> Signed | str:
    """What was signed, or why it counts as nobody's, in words that hold nothing of the request.

    Args:
        form: how it is signed.
        key: the secret as the vendor shows it; "" where there is none, which nothing passes.
        headers: by lower-case name, every value.
        body: as it came.
        now_ms: what time it is.
    """
    given: list[str] = []
    for name in _SIGNED_BY[form]:
        values = headers.get(name, ())
        if len(values) != 1:
            return "its signature is missing" if not values else "a header of its signature came twice"
        given.append(values[0])
    at = _time_of(form, given)
    said, signatures = _signed_part(form, given, at, body)
    made = _mac(form, key, said)
    known = [hmac.compare_digest(made.encode(), one.encode("utf-8", "replace")) for one in signatures[:10]]
    if not (key and any(known)):
        return "its signature is wrong"
    if at and abs(now_ms - int(at) * 1000) > TOLERANCE_MS:
        return "it was signed more than 5 minutes ago, or ahead"
    return _delivery(form, given, at or str(now_ms // 60_000), body)


def sign(form: Form, key: str, delivery: str, body: bytes, now_ms: int) -> dict[str, str]:
    """The headers with which a sender of this form signs a body."""
    at = str(now_ms // 1000)
    match form:
        case "standard":
            made = _mac(form, key, f"{delivery}.{at}.".encode() + body)
            return {"webhook-id": delivery, "webhook-timestamp": at, "webhook-signature": f"v1,{made}"}
        case "github":
            return {"x-hub-signature-256": f"sha256={_mac(form, key, body)}", "x-github-delivery": delivery}
        case "stripe":
            return {"stripe-signature": f"t={at},v1={_mac(form, key, f'{at}.'.encode() + body)}"}
        case "dropbox":
            return {"x-dropbox-signature": _mac(form, key, body)}
        case "slack":
            made = _mac(form, key, f"v0:{at}:".encode() + body)
            return {"x-slack-request-timestamp": at, "x-slack-signature": f"v0={made}"}
        case _:
            assert_never(form)


def asked(form: Form, query: Sequence[tuple[str, str]]) -> str:
    """What Dropbox asks with a GET, unsigned, before it sends anything; "" for what is no such question."""
    values = [value for name, value in query if name == "challenge"]
    return values[0] if form == "dropbox" and len(values) == 1 and _CHALLENGE.fullmatch(values[0]) else ""


def _time_of(form: Form, given: Sequence[str]) -> str:
    """The signed time, in seconds; "" for a form without one, and "0", which is long ago, for none."""
    match form:
        case "standard":
            found = given[1]
        case "slack":
            found = given[0]
        case "stripe":
            found = next((part[2:] for part in given[0].split(",")[:10] if part.startswith("t=")), "")
        case _:
            return ""
    return found if _TIME.fullmatch(found) else "0"


def _signed_part(form: Form, given: Sequence[str], at: str, body: bytes) -> tuple[bytes, list[str]]:
    """The bytes that are signed, and the signatures that are given."""
    match form:
        case "standard":
            parts = (one.partition(",") for one in given[2].split(" "))
            return f"{given[0]}.{at}.".encode() + body, [made for version, _, made in parts if version == "v1"]
        case "github":
            return body, [given[0].removeprefix("sha256=")] if given[0].startswith("sha256=") else []
        case "stripe":
            return f"{at}.".encode() + body, [part[3:] for part in given[0].split(",") if part.startswith("v1=")]
        case "dropbox":
            return body, [given[0]]
        case "slack":
            made = given[1].removeprefix("v0=") if given[1].startswith("v0=") else ""
            return f"v0:{at}:".encode() + body, [made]
        case _:
            assert_never(form)


def _mac(form: Form, key: str, said: bytes) -> str:
    secret = key.encode() or _NONE
    if form == "standard":
        try:
            secret = b64decode(key.removeprefix("whsec_"), validate=True) or _NONE
        except (binascii.Error, ValueError):
            secret = key.encode() or _NONE
        return b64encode(hmac.new(secret, said, hashlib.sha256).digest()).decode()
    return hmac.new(secret, said, hashlib.sha256).hexdigest()


def _delivery(form: Form, given: Sequence[str], at: str, body: bytes) -> Signed | str:
    digest = hashlib.sha256(body).hexdigest()[:32]
    try:
        named = msgspec.json.decode(body, type=_Named)
    except (msgspec.MsgspecError, RecursionError):
        named = _Named()  # a form, as of Slack's commands
    if form == "github" and named.zen and named.hook_id:
        return Signed("")
    if form == "slack" and named.type == "url_verification":
        if not _CHALLENGE.fullmatch(named.challenge):
            return "its challenge is none"
        return Signed("", named.challenge)
    id = {"standard": given[0], "stripe": str(named.id), "slack": named.event_id}.get(form, "")
    if _ID.fullmatch(id):
        return Signed(id)
    # GitHub signs no id, and the body has what changed; Slack's commands have none, but a signed time. Dropbox sends
    # the same few bytes each time: those of a minute are one.
    return Signed(digest if form == "github" else f"{digest}.{at}")
