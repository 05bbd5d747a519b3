"""Strangers at a channel's listener, over the real wire: forged, old, copied, doubled, reordered, and at random."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from stead.domain.channel_wire import Request
from tests.channels.test_webhook import OTHER, signed
from tests.fakes.program import SECRET, Program, program
from tests.fakes.webhook_senders import send
from tests.flows.chatting import channel
from tests.flows.house import LivingHome
from tests.flows.places import aside
from tests.web.test_channel_requests import PATHS, STATUSES, request, spoiled

T = TypeVar("T")
HERE, THERE = "quill", "plum"
"""Two channels, each with a program and a secret of its own."""


class Hook(NamedTuple):
    """A channel's program, and where it sends requests to."""

    program: Program
    url: str

    def said(self) -> list[str]:
        """What it was sent."""
        return [one["text"] for one in list(self.program.taken) if one["type"] == "message"]


@contextmanager
def hooked(house: LivingHome, name: str, secret: str) -> Iterator[Hook]:
    """A channel of signed webhooks."""
    with aside(lambda: program(secret)) as served:
        there = served.server
        house.post("/secrets", {"name": f"{name}-key", "value": secret})
        settings, secrets = {"url": there.url}, {"secret": f"{name}-key"}
        house.post("/channels", {"name": name, "kind": "webhook", "settings": settings, "secrets": secrets})
        house.until(lambda: channel(house, name)["state"] == "connected", "it to connect", last=house.log_tail)
        yield Hook(there, channel(house, name)["url"])


@pytest.fixture
def hook(house: LivingHome) -> Iterator[Hook]:
    """The first of them."""
    with hooked(house, HERE, SECRET) as there:
        yield there


def wrote(text: str, id: str, secret: str = SECRET, ago: timedelta = timedelta()) -> Request:
    """A signed message in Pia's own chat."""
    return signed({"chat": "pia", "person": "u1", "private": True, "text": text}, id, secret, ago)


def post(hook: Hook, sent: Request, target: str = "") -> int:
    """The status of its answer."""
    return send(hook.url, sent.body, sent.headers, target=target)[0]


def pair(house: LivingHome, hook: Hook, project: Path) -> None:
    """Pair Pia's chat."""
    rights = {"directory": str(project), "profile": "ask"}
    code = house.post(f"/channels/{HERE}/pair", {"rights": rights})["code"]
    assert post(hook, wrote(code, "msg_pair")) == 200
    house.until(lambda: any("Paired" in one for one in hook.said()), "it to be paired", last=hook.said)


def heard(house: LivingHome) -> list[str]:
    """What every session was told, in the order of the record."""
    return [one["body"]["text"] for one in house.events() if one["body"]["type"] == "message.received"]


def test_what_is_forged_old_copied_doubled_or_out_of_order_is_one_turn_or_none(
    house: LivingHome, project: Path, hook: Hook
) -> None:
    pair(house, hook, project)
    real = wrote("one", "msg_1")
    forged = [
        wrote("forged", "msg_2", OTHER),
        wrote("old", "msg_3", ago=timedelta(minutes=6)),
        wrote("early", "msg_4", ago=timedelta(minutes=-6)),
        Request(0, "POST", "", real.headers | {"webhook-id": "msg_5"}, real.body),
        Request(0, "POST", "", real.headers, real.body.replace(b"one", b"two")),
        Request(0, "POST", "", {}, real.body),
    ]
    assert [post(hook, one) for one in forged] == [401] * len(forged)
    with hooked(house, THERE, OTHER) as other:
        assert post(other, real) == 401, "what was signed for one channel is nothing at another"
        assert post(other, real, target="/hooks/quill") == post(other, real, target="/channels/nobody") == 404
    assert heard(house) == []

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: post(hook, real), range(8))) == [200] * 8
    later = [wrote(f"number {number}", f"msg_1{number}") for number in (3, 1, 2)]
    for one in (*later, real, *reversed(later)):
        assert post(hook, one) == 200
    house.kill()
    house.start()
    house.until(lambda: channel(house, HERE)["state"] == "connected", "it to connect", last=house.log_tail)
    again = Hook(hook.program, channel(house, HERE)["url"])
    assert again.url == hook.url
    for one in (real, *later):
        assert post(again, one) == 200
    assert heard(house) == ["one", "number 3", "number 1", "number 2"]


def fuzz(house: LivingHome, hook: Hook, count: int) -> None:
    """Send so many requests, of which half are signed rightly and say what cannot be; nothing comes of any."""
    chance = random.Random(28)
    port = int(hook.url.split(":")[2].split("/")[0])
    head, log = house.get("/status")["head"], house.log_tail()
    whole = json.dumps({"chat": "room", "person": "u2", "text": "Sort the pears.", "files": []}).encode()
    for number in range(count):
        if number % 2:
            paths = [path(chance).replace(b"/channels/bot", b"/channels/quill") for path in PATHS]
            data = spoiled(chance, request(chance.choice(paths), spoiled(chance, whole)))
            with socket.create_connection(("127.0.0.1", port), timeout=20) as raw:
                raw.sendall(data)
                raw.shutdown(socket.SHUT_WR)
                answer = b""
                with suppress(ConnectionError):
                    answer = raw.recv(4096)
            assert answer[9:12] in (b"", *STATUSES), (data, answer)
        else:
            body = spoiled(chance, whole).decode("latin-1")
            assert post(hook, signed(body, f"fuzz_{number}")) in (200, 400, 413, 429), body
    since = [one["body"]["type"] for one in house.events() if one["seq"] > head]
    assert not [one for one in since if one.startswith(("chat.", "channel.", "message.", "session."))], since
    assert "ERROR" not in house.log_tail().removeprefix(log)
    assert channel(house, HERE)["state"] == "connected"


def test_requests_at_random_reach_nothing_and_the_channel_goes_on(house: LivingHome, project: Path, hook: Hook) -> None:
    pair(house, hook, project)
    fuzz(house, hook, 300)
    assert post(hook, wrote("show README.md", "msg_after")) == 200
    house.until(lambda: any("Quill" in one for one in hook.said()), "the reply", last=hook.said)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_ten_thousand_requests_at_random_reach_nothing_and_the_channel_goes_on(
    house: LivingHome, project: Path, hook: Hook
) -> None:
    pair(house, hook, project)
    fuzz(house, hook, 10_000)
    assert post(hook, wrote("show README.md", "msg_after")) == 200
    house.until(lambda: any("Quill" in one for one in hook.said()), "the reply", last=hook.said)
