"""Receivers that say nothing, or what is no answer: a message waits for none of them for ever."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from stead.domain.notifications import Mail, Message, NotificationTarget, OutgoingWebhook, Undelivered, Via
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer
from stead.notifiers.sending import Senders
from tests.fakes.receivers import SIGNING, mailbox

MESSAGE = Message("msg_1", "ended", "Answered: pears", (), "http://x.localhost:1/", 0)


class NoVault:
    """Keeps nothing."""

    async def put(self, name: str, value: str) -> int:
        raise AssertionError(name)

    def get(self, name: str) -> str | None:
        return None

    async def remove(self, name: str) -> bool:
        return False


@contextlib.asynccontextmanager
async def saying(words: bytes) -> AsyncIterator[int]:
    """A server that says this to whatever it is sent, and keeps the connection."""

    writers: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        writer.write(words)
        with contextlib.suppress(ConnectionError):
            await reader.read()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        yield server.sockets[0].getsockname()[1]
        for writer in writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


def via(kind: str, port: int) -> Via:
    if kind == "webhook":
        return OutgoingWebhook(f"http://127.0.0.1:{port}/", "signing")
    return Mail("127.0.0.1", "a@example.com", ("b@example.com",), port, "none")


@pytest.mark.parametrize("kind", ["webhook", "mail"])
@pytest.mark.parametrize("words", [b"", b"\x00\xff\r\n\r\n" * 3, b"250-" + b"x" * 100_000])
async def test_a_receiver_that_is_silent_or_talks_nonsense_is_left_in_time(kind: str, words: bytes) -> None:
    senders = Senders(Dialer(Reach()), lambda name, place: SIGNING, NoVault(), limit_s=1.0)
    async with saying(words) as port:
        began = asyncio.get_running_loop().time()
        with pytest.raises(Undelivered) as refused:
            await senders.send(NotificationTarget("t", via(kind, port)), MESSAGE)
        assert asyncio.get_running_loop().time() - began < 5
    assert not refused.value.final and refused.value.after_s == 0


@pytest.mark.parametrize("kind", ["webhook", "mail"])
async def test_a_public_name_that_leads_to_this_computer_is_not_followed(kind: str) -> None:
    async def near(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    senders = Senders(Dialer(Reach(), resolve=near), lambda name, place: SIGNING, NoVault())
    target: Via = Mail("mail.example.com", "a@example.com", ("b@example.com",))
    if kind == "webhook":
        target = OutgoingWebhook("https://hooks.example.com/x", "signing")
    with pytest.raises(Undelivered, match="not a public address"):
        await senders.send(NotificationTarget("t", target), MESSAGE)


async def test_a_mail_that_some_of_its_addresses_refuse_is_not_sent_again_and_is_not_taken_for_delivered() -> None:
    with mailbox() as box:
        box.refusals["c@example.com"] = "450 later"
        senders = Senders(Dialer(Reach()), lambda name, place: "", NoVault())
        to = Mail("127.0.0.1", "a@example.com", ("b@example.com", "c@example.com"), box.port, "none")
        with pytest.raises(Undelivered, match="1 of 2 addresses: it answers 450") as refused:
            await senders.send(NotificationTarget("post", to), MESSAGE)
        assert refused.value.final and box.envelopes == [("a@example.com", ("b@example.com",))]
