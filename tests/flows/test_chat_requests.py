"""Requests of a platform that cannot be taken in: it hears a status, the owner hears why."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.fakes.slack import SECRET, TOKEN, FakeSlack, slack
from tests.fakes.webhook_senders import send
from tests.flows.asleep import tree
from tests.flows.chatting import channel
from tests.flows.house import LivingHome
from tests.flows.served import in_thread

NAME = "office"


def posted(house: LivingHome, fake: FakeSlack) -> tuple[int, bytes]:
    """What a request of Slack is answered."""
    body = json.dumps({"type": "url_verification", "token": "t", "challenge": "c4a11enge"}).encode()
    return send(channel(house, NAME)["url"], body, fake.signed(body))


def workers(house: LivingHome) -> list[int]:
    """The processes of channels."""
    assert house.process
    found = tree(house.process.pid)
    return [pid for pid in found if b"stead.channels.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.long  # a platform hears after 9 s that nobody took it in
def test_a_request_that_is_not_taken_in_says_why_to_the_owner_alone_until_one_is(house: LivingHome) -> None:
    with in_thread(slack()) as fake:
        for field, value in (("token", TOKEN), ("signing-secret", SECRET)):
            house.post("/secrets", {"name": f"{NAME}-{field}", "value": value})
        secrets = {"token": f"{NAME}-token", "signing_secret": f"{NAME}-signing-secret"}
        settings = {"api": f"{fake.base}/api/"}
        house.post("/channels", {"name": NAME, "kind": "slack", "settings": settings, "secrets": secrets})
        house.until(lambda: channel(house, NAME)["state"] == "connected", "Slack", last=house.log_tail)
        assert posted(house, fake)[0] == 200

        stopped = workers(house)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            assert posted(house, fake) == (503, b"")
            row = channel(house, NAME)
            assert row["state"] == "connected"
            assert "was not taken in: no answer within 9 s" in row["error"]
            assert row["error"] in house.log_tail()
            assert "was not taken in" in house.cli("channel", "list").stdout
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        assert posted(house, fake)[0] == 200
        assert channel(house, NAME)["error"] == ""
