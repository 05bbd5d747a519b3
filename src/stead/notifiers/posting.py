"""One POST to a receiver, what its answer means, and webhooks signed by the form of Standard Webhooks.

Layer: notifiers. A host of this computer or its networks is reached where the person named that very host; a public
name never leads there. Redirects are not followed: a receiver is where the person said.

Source: Standard Webhooks 1.0; RFC 9110 section 10.2.3 (Retry-After).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

from stead.domain.errors import AddressRefused, FetchFault, InvalidRequest
from stead.domain.hosts import is_address, is_local, may_lead, parse_allowed
from stead.domain.notifications import Message, OutgoingWebhook, Undelivered
from stead.guardian.reach import Target, Unreachable, read_url
from stead.net.dialing import Dialer, Judge
from stead.net.exchange import Request, send

LONGEST_WAIT_S = 24 * 3600.0
_PREFIX = "whsec_"


def place_of(dialer: Dialer, url: str) -> Target:
    """Where a URL leads, if a person may name it; raises ``InvalidRequest``."""
    found = read_url(url)
    if isinstance(found, Target) and is_local(found.host):
        require_local(found.host, found.port)
        return found
    found = dialer.reach.check_url(url)
    if isinstance(found, Unreachable):
        raise InvalidRequest(found.text)
    return found


def require_local(host: str, port: int) -> None:
    """Refuse a host of this computer or its networks that nobody may name, such as where a cloud hands out keys."""
    parse_allowed(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    if is_address(host) and not may_lead("localhost", host) and not may_lead("", host):
        raise InvalidRequest(f"{host!r} is no address of this computer or of a private network; name a public host")


def judge_of(host: str) -> Judge | None:
    """What a host may lead to: a local one to where such a name may stand, another to public addresses."""
    return _judge_local if is_local(host) else None


def _judge_local(target: Target, address: str) -> None:
    if not target.address and not may_lead(target.host, address):
        raise AddressRefused("{!r}: it leads to {}", target.host, address)


async def post(dialer: Dialer, url: str, headers: dict[str, str], body: bytes) -> None:
    """Send it; raises ``Undelivered`` with what the answer means."""
    try:
        target = place_of(dialer, url)
        request = Request(target, "POST", tuple(headers.items()), body)
        async with send(dialer, request, judge_of(target.host)) as answer:
            status, after = answer.status, answer.fields.get("retry-after", "")
    except InvalidRequest as error:
        raise Undelivered(str(error), final=True) from error
    except FetchFault as error:
        raise Undelivered(str(error)) from error
    if not 200 <= status < 300:
        raise Undelivered(f"it answers {status}", after_s=_seconds(after), gone=status == 410)


def _seconds(after: str) -> float:
    """What ``Retry-After`` says, in seconds; 0 where it says nothing."""
    if after.isascii() and after.isdigit():
        return min(float(after[:9]), LONGEST_WAIT_S)
    try:
        wanted = parsedate_to_datetime(after) - datetime.now(UTC)
    except (ValueError, TypeError):
        return 0
    return min(max(wanted.total_seconds(), 0), LONGEST_WAIT_S)


def signing_key(secret: str) -> bytes:
    """The bytes that a secret stands for; raises ``InvalidRequest``."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not 24 <= len(key) <= 64:
        raise InvalidRequest("the secret signs nothing: it is whsec_ and 24 to 64 bytes in base64")
    return key


async def post_signed(dialer: Dialer, hook: OutgoingWebhook, secret: str, message: Message) -> None:
    """Send a message to a webhook; raises ``Undelivered``."""
    at = datetime.fromtimestamp(message.at_ms / 1000, UTC).isoformat()
    data = {name: value for name, value in msgspec.to_builtins(message).items() if name != "at_ms"}
    body = msgspec.json.encode({"type": f"stead.{message.kind}", "timestamp": at, "data": data})
    now_s = str(int(time.time()))
    signed = hmac.digest(signing_key(secret), f"{message.id}.{now_s}.".encode() + body, hashlib.sha256)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": now_s,
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }
    await post(dialer, hook.url, headers, body)
