"""Being told elsewhere: over the real wire to receivers that check what they are given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.receivers import SIGNING, Receiver, mailbox, receiver
from tests.flows.house import Json, LivingHome
from tests.flows.served import in_thread
from tests.promises import promise

GOAL = "List the headings of README.md"


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with in_thread(receiver()) as there:
        yield there


def add_hook(house: LivingHome, hook: Receiver, name: str = "hook", **given: object) -> None:
    house.post("/secrets", {"name": "signing", "value": SIGNING, "replace": True})
    via = {"type": "webhook", "url": hook.url, "secret": "signing"}
    house.post("/notifications", {"name": name, "via": via, **given})


def row_of(house: LivingHome, name: str) -> Json:
    return next(row for row in house.get("/notifications")["items"] if row["target"]["name"] == name)


@promise("SCH-3.out")
def test_a_signed_webhook_tells_of_a_question_and_of_how_it_ended_with_links_into_the_page(
    house: LivingHome, project: Path, hook: Receiver
) -> None:
    house.cli("secret", "add", "signing", stdin=SIGNING)
    added = house.cli("notify", "add", "hook", "--webhook", hook.url, "--secret", "signing")
    assert added.returncode == 0, added.stderr
    tried = house.cli("notify", "test", "hook")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    id = house.give(f"{GOAL} and write them to toc.md", project)
    house.until(lambda: len(hook.taken) == 2, "the question to be told", last=hook)
    house.finish(id)
    house.until(lambda: len(hook.taken) == 3, "the end to be told", last=hook)
    page = house.client().address
    base = f"http://{page.name}.localhost:{page.port}"
    test, question, ended = (one["data"] for one in hook.taken)
    assert (test["kind"], question["kind"], ended["kind"]) == ("test", "question", "ended")
    assert re.fullmatch(re.escape(base) + r"/approvals/a_[0-9a-f]{16}", question["link"])
    assert ended["link"] == f"{base}/objectives/{id}" and GOAL in ended["title"]
    assert not hook.refused and len(set(hook.ids)) == 3
    assert row_of(house, "hook")["waiting"] == 0 and SIGNING not in json.dumps(house.events())


@promise("SCH-3.out")
def test_mail_tells_the_same_on_a_server_of_this_computer(house: LivingHome, project: Path) -> None:
    with mailbox() as box:
        mail = (
            "--mail",
            "ada@example.com",
            "--mail",
            "bob@example.com",
            "--host",
            "localhost",
            "--port",
            str(box.port),
        )
        added = house.cli("notify", "add", "mail", *mail, "--security", "none", "--from", "stead@example.com")
        assert added.returncode == 0, added.stderr
        id = house.give(GOAL, project)
        house.finish(id)
        house.until(lambda: len(box.mails) == 1, "the mail", last=row_of(house, "mail"))
    (mail_,) = box.mails
    assert box.envelopes == [("stead@example.com", ("ada@example.com", "bob@example.com"))]
    assert GOAL in mail_["subject"] and mail_["auto-submitted"] == "auto-generated"
    assert f"/objectives/{id}" in mail_.get_content()
