"""Senders of webhooks, written from the vendors' pages alone: each signs as its vendor says, over a real socket."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import time
from collections.abc import Mapping, Sequence

KEYS = {
    "standard": "whsec_" + base64.b64encode(b"a key of Standard Webhooks 32 by").decode(),
    "github": "a key that only GitHub and we know",
    "stripe": "whsec_thisisataken4stripe",
    "dropbox": "theappsecret15x",
    "slack": "8f742231b10e8888abcd99yyyzzz85a5",
}
Headers = Sequence[tuple[str, str]]


def hexed(key: str, text: bytes) -> str:
    return hmac.new(key.encode("ascii"), text, hashlib.sha256).hexdigest()


def standard(body: bytes, id: str, at: int, key: str = KEYS["standard"]) -> Headers:
    secret = base64.b64decode(key[len("whsec_") :])
    made = base64.b64encode(hmac.new(secret, b"%s.%d.%s" % (id.encode(), at, body), hashlib.sha256).digest())
    other = base64.b64encode(b"x" * 32).decode()  # of a key that was rotated out
    return [
        ("webhook-id", id),
        ("webhook-timestamp", str(at)),
        ("webhook-signature", f"v1a,{other} v1,{other} v1,{made.decode()}"),
    ]


def github(body: bytes, id: str, at: int, key: str = KEYS["github"]) -> Headers:
    return [
        ("X-GitHub-Delivery", id),
        ("X-GitHub-Event", "issues"),
        ("X-Hub-Signature", "sha1=" + hmac.new(key.encode(), body, hashlib.sha1).hexdigest()),
        ("X-Hub-Signature-256", "sha256=" + hexed(key, body)),
    ]


def stripe(body: bytes, id: str, at: int, key: str = KEYS["stripe"]) -> Headers:
    return [("Stripe-Signature", f"t={at},v1={'0' * 64},v1={hexed(key, b'%d.%s' % (at, body))},v0={'1' * 64}")]


def dropbox(body: bytes, id: str, at: int, key: str = KEYS["dropbox"]) -> Headers:
    return [("X-Dropbox-Signature", hexed(key, body))]


def slack(body: bytes, id: str, at: int, key: str = KEYS["slack"]) -> Headers:
    return [
        ("X-Slack-Request-Timestamp", str(at)),
        ("X-Slack-Signature", "v0=" + hexed(key, b"v0:%d:%s" % (at, body))),
    ]


SIGNERS = {"standard": standard, "github": github, "stripe": stripe, "dropbox": dropbox, "slack": slack}
TIMED = ("standard", "stripe", "slack")
"""Those that sign a time."""


def delivery(id: str, said: str = "The build broke.") -> bytes:
    """A body that has an id wherever a vendor puts one."""
    return json.dumps({"id": id, "event_id": id, "type": "event_callback", "delivery": id, "text": said}).encode()


def signed(form: str, body: bytes, id: str, at: int | None = None, key: str = "") -> Headers:
    """The headers by which a vendor signs."""
    return SIGNERS[form](body, id, int(time.time()) if at is None else at, key or KEYS[form])


def send(
    url: str,
    body: bytes,
    headers: Headers | Mapping[str, str] = (),
    *,
    method: str = "POST",
    host: str = "",
    target: str = "",
    chunked: bool = False,
) -> tuple[int, bytes]:
    """One request as it is given, doubled headers too; gives status and body of the answer."""
    address, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(address, timeout=20)
    try:
        connection.putrequest(method, target or f"/{path}", skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or address)
        for name, value in headers.items() if isinstance(headers, Mapping) else headers:
            connection.putheader(name, value)
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            for start in range(0, len(body), 7):
                piece = body[start : start + 7]
                connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            connection.send(b"0\r\n\r\n")
        else:
            connection.putheader("Content-Length", str(len(body)))
            with contextlib.suppress(BrokenPipeError):  # it may have answered before it had all
                connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
