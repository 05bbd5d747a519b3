"""Where notifications arrive: a receiver of signed webhooks, a mail server, and a push service.

Real servers on loopback. The receiver verifies by the library of Standard Webhooks, the push service decrypts by
``http_ece`` and refuses what its protocol does not allow; both keep what they took and what they refused.
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import http_ece  # type: ignore[import-untyped]
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.fakes.http import Exchange, Request, serve

Json = dict[str, Any]
SIGNING = "whsec_" + base64.b64encode(b"an invented key of 32 bytes here").decode()


@dataclass
class Receiver:
    """Takes webhooks, and answers what ``answers`` has next, else 204.

    An answer is a status with headers, ``garbage`` (bytes that are no HTTP) or ``silence``.
    """

    url: str = ""
    taken: list[Json] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]] | str] = field(default_factory=list)
    always: tuple[int, dict[str, str]] | str | None = None

    async def answer(self, request: Request, exchange: Exchange) -> None:
        headers = dict(request.headers)
        try:
            body = Webhook(SIGNING).verify(request.body, headers)
        except WebhookVerificationError as error:
            self.refused.append(str(error))
            await exchange.send(401, b"{}")
            return
        self.ids.append(headers["webhook-id"])
        given = self.answers.pop(0) if self.answers else self.always or (204, {})
        if given == "garbage":
            exchange.writer.write(b"\x00\xff no HTTP at all\r\n\r\n")
            exchange.writer.close()
            return
        if given == "silence":
            await exchange.left_within(60)
            return
        assert not isinstance(given, str)
        if given[0] < 300:
            self.taken.append(body)
        await exchange.send(given[0], b"", given[1])

    @property
    def titles(self) -> list[str]:
        return [one["data"]["title"] for one in self.taken]


@contextlib.asynccontextmanager
async def receiver(port: int = 0) -> AsyncIterator[Receiver]:
    """A receiver at a port of its own."""
    there = Receiver()
    async with serve(there.answer, port) as at:
        there.url = f"http://127.0.0.1:{at}/hook"
        yield there


ADA = LoginPassword(b"ada", b"an invented password")


class Mailbox:
    """Takes mail; says to each recipient what ``refusals`` has for it. Signs in one user, over TLS alone."""

    def __init__(self, login: LoginPassword) -> None:
        self.login = login
        self.mails: list[EmailMessage] = []
        self.envelopes: list[tuple[str, tuple[str, ...]]] = []
        self.refusals: dict[str, str] = {}
        self.port = 0

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, EmailMessage, policy=policy.default))
        self.envelopes.append((envelope.mail_from or "", tuple(envelope.rcpt_tos)))
        return "250 taken"

    def authenticate(self, *args: Any) -> AuthResult:
        given = args[-1]
        right = isinstance(given, LoginPassword) and given == self.login
        return AuthResult(success=right, handled=False)


@contextlib.contextmanager
def mailbox(
    tls: ssl.SSLContext | None = None, *, starttls: bool = False, login: LoginPassword = ADA
) -> Iterator[Mailbox]:
    """A mail server on loopback: with a certificate it speaks TLS, at once or by STARTTLS, and wants a password."""
    box = Mailbox(login)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        box.port = probe.getsockname()[1]
    more: Json = {"authenticator": box.authenticate} if tls else {}
    more |= {"tls_context": tls, "require_starttls": True, "auth_required": True} if starttls else {}
    more |= {} if starttls else {"auth_require_tls": False}
    server = Controller(box, hostname="127.0.0.1", port=box.port, ssl_context=None if starttls else tls, **more)
    server.start()
    try:
        yield box
    finally:
        server.stop()


@dataclass
class PushService:
    """One browser's push service: decrypts as that browser would, after it has checked all that its protocol asks."""

    endpoint: str = ""
    port: int = 0
    answers: list[int] = field(default_factory=list)
    taken: list[Json] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    application_key: str = ""

    def __post_init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = b"sixteen bytes 16"

    @property
    def subscription(self) -> Json:
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": self.endpoint, "p256dh": _encoded(point), "auth": _encoded(self._auth)}

    async def answer(self, request: Request, exchange: Exchange) -> None:
        try:
            self._check(request)
        except (AssertionError, KeyError, ValueError) as fault:
            self.faults.append(repr(fault))
            await exchange.send(400, b"")
            return
        status = self.answers.pop(0) if self.answers else 201
        if status == 201:
            text = http_ece.decrypt(request.body, private_key=self._key, auth_secret=self._auth, version="aes128gcm")
            self.taken.append(json.loads(text))
        await exchange.send(status, b"")

    def _check(self, request: Request) -> None:
        headers = request.headers
        assert headers["content-encoding"] == "aes128gcm" and int(headers["ttl"]) > 0, headers
        assert headers["urgency"] in ("very-low", "low", "normal", "high") and len(headers["topic"]) <= 32, headers
        scheme, _, rest = headers["authorization"].partition(" ")
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        assert scheme == "vapid" and parts["k"] == self.application_key, headers
        signed, _, signature = parts["t"].rpartition(".")
        raw = _decoded(signature)
        der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), _decoded(parts["k"]))
        key.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
        claims = json.loads(_decoded(signed.split(".")[1]))
        assert self.endpoint.startswith(claims["aud"] + "/") and claims["sub"].startswith(("mailto:", "https:")), claims


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
