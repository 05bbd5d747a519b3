"""Brings a message to a target of any kind.

Layer: notifiers. What a kind needs is imported when it is used: most homes use none or one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from stead.domain.errors import InvalidRequest
from stead.domain.notifications import (
    ChatTarget,
    Desktop,
    Mail,
    Message,
    NotificationTarget,
    OutgoingWebhook,
    Push,
    SubscribePush,
    Undelivered,
)
from stead.domain.ports import Secrets
from stead.net.dialing import Dialer

LIMIT_S = 30.0
_KEY = "notify/vapid"


class Senders:
    """Implements ``domain.notifications.Sender``.

    Args:
        dialer: reaches hosts.
        secret: the value of a person's secret, by its name and what it is for; None where there is none.
        vault: keeps the home's key for push services, and what browsers gave.
        limit_s: for one message.
    """

    def __init__(
        self, dialer: Dialer, secret: Callable[[str, str], str | None], vault: Secrets, *, limit_s: float = LIMIT_S
    ) -> None:
        self.to_chat: Callable[[ChatTarget, Message], Awaitable[None]]
        """Sends a message to a chat."""
        self.has_chat: Callable[[ChatTarget], bool]
        self._limit_s = limit_s
        self._dialer = dialer
        self._secret = secret
        self._vault = vault

    def check(self, target: NotificationTarget) -> None:
        """See ``Sender``."""
        match target.via:
            case Mail() as mail:
                from stead.notifiers.mail import check

                check(mail)
                if mail.secret:
                    self._value(target.name, mail.secret)
            case OutgoingWebhook(url=url, secret=secret):
                from stead.notifiers.posting import place_of, signing_key

                place_of(self._dialer, url)
                signing_key(self._value(target.name, secret))
            case ChatTarget(channel=channel) as chat if not self.has_chat(chat):
                raise InvalidRequest(f"no such chat was paired; see: stead channel chats {channel}")
            case _:
                return

    def _value(self, name: str, secret: str) -> str:
        if (value := self._secret(secret, f"notify/{name}")) is None:
            raise InvalidRequest(f"there is no secret {secret[:64]!r}; add it first: stead secret add {secret[:64]}")
        return value

    async def send(self, target: NotificationTarget, message: Message) -> None:
        """See ``Sender``."""
        try:
            async with asyncio.timeout(self._limit_s):
                await self._send(target, message)
        except TimeoutError as error:
            raise Undelivered(f"no answer within {self._limit_s:g} s") from error
        except InvalidRequest as error:
            raise Undelivered(str(error)) from error

    async def _send(self, target: NotificationTarget, message: Message) -> None:
        match target.via:
            case ChatTarget() as chat:
                await self.to_chat(chat, message)
            case Desktop():
                from stead.notifiers.desktop import show

                await show(message)
            case Mail() as mail:
                from stead.notifiers.mail import send_mail

                password = self._value(target.name, mail.secret) if mail.secret else ""
                await send_mail(self._dialer, mail, password, message)
            case OutgoingWebhook() as hook:
                from stead.notifiers.posting import post_signed

                await post_signed(self._dialer, hook, self._value(target.name, hook.secret), message)
            case Push():
                from stead.notifiers.push import Subscription, push

                key, kept = self._vault.get(_KEY), self._vault.get(f"notify/push/{target.name}")
                if key is None or kept is None:
                    raise Undelivered("what the browser gave is not in the vault; subscribe again", gone=True)
                await push(self._dialer, msgspec.json.decode(kept, type=Subscription), key, message)

    async def subscribe(self, command: SubscribePush) -> Push:
        """See ``Sender``."""
        from stead.notifiers.push import subscription

        given, target = subscription(self._dialer, command)
        await self._vault.put(f"notify/push/{command.name}", msgspec.json.encode(given).decode())
        return Push(target.host)

    async def forget(self, name: str) -> None:
        """See ``Sender``."""
        await self._vault.remove(f"notify/push/{name}")

    async def push_key(self) -> str:
        """See ``Sender``."""
        from stead.notifiers.push import new_key, public_key

        key = self._vault.get(_KEY)
        if key is None:
            await self._vault.put(_KEY, key := new_key())
        return public_key(key)
