"""What becomes of a notification that waits: its target is switched off, the daemon is killed, its file is damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stead.config import Home
from stead.storage.database import connect as connect_file
from stead.storage.keystore import open_keys
from tests.fakes.receivers import Receiver
from tests.flows.chatting import Bot, channel, connect, pair, telegram
from tests.flows.house import Json, LivingHome
from tests.flows.test_notifications import GOAL, Clocked, add_hook, clocked, hook, row_of
from tests.promises import promise

__all__ = ["clocked", "hook"]
HOUR_MS = 3_600_000


@pytest.fixture
def bot() -> Iterator[Bot]:
    """The fake."""
    with telegram() as served:
        yield served


def quiet_chat(clocked: Clocked, bot: Bot, project: Path) -> Json:
    """Pair a chat that has quiet hours for two hours from now on; gives its notification target."""
    connect(clocked.house, bot)
    pair(clocked.house, bot, project)
    times = [(datetime.now(UTC) + timedelta(hours=hours)).strftime("%H:%M") for hours in (-1, 2)]
    via = {"type": "chat", "channel": "phone", "chat": "42"}
    target = {"name": "ada", "via": via, "quiet_from": times[0], "quiet_to": times[1], "zone": "UTC"}
    clocked.house.post("/notifications", target)
    return target


def waiting(house: LivingHome) -> int:
    return int(channel(house)["chats"][0]["waiting"])


@contextmanager
def held(home: Home, name: str) -> Iterator[None]:
    """Into this file of the home nothing is written meanwhile."""
    other = connect_file(home.data / name, open_keys(home, "file", str).keys.views)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()


@promise("CH-3.quiet")
@pytest.mark.parametrize("meanwhile", ["", "off", "off and on", "removed", "removed and added"])
def test_what_waits_for_a_chat_is_sent_where_it_has_been_a_target_ever_since(
    clocked: Clocked, project: Path, bot: Bot, meanwhile: str
) -> None:
    house = clocked.house
    target = quiet_chat(clocked, bot, project)
    house.finish(house.give(GOAL, project, title="ended"))
    house.give(f"{GOAL} and write them to toc.md", project, title="asks")
    house.until(lambda: waiting(house) == 2, "both to wait", last=house.log_tail)
    sent = len(bot.sent())
    if meanwhile.startswith("off"):
        house.post("/notifications/ada/switch", {"on": False})
    elif meanwhile:
        house.client().command("DELETE", "/notifications/ada")
    if meanwhile == "off and on":
        house.post("/notifications/ada/switch", {"on": True})
    elif meanwhile == "removed and added":
        house.post("/notifications", target)
    clocked.ahead(3 * HOUR_MS)
    house.until(lambda: waiting(house) == 0, "nothing to wait", last=house.log_tail)
    if meanwhile:
        assert bot.sent()[sent:] == []
        return
    notice, question = sorted(bot.sent()[sent:], key=lambda text: "May I?" in text)
    assert notice.startswith("Answered: ended\nhttp") and "toc.md" in question
    bot.presses(bot.message("toc.md"), "Allow")
    house.until((project / "toc.md").exists, "the call to run", last=bot)


@promise("CH-3.quiet")
@pytest.mark.parametrize("when", ["as it is put with what waits", "a week after it was sent"])
def test_what_waited_for_a_chat_comes_once_where_the_daemon_is_killed(
    clocked: Clocked, project: Path, bot: Bot, when: str
) -> None:
    house = clocked.house
    quiet_chat(clocked, bot, project)
    house.get("/notifications")  # its file is open from here on
    if when == "a week after it was sent":
        house.finish(house.give(GOAL, project, title="first"))
        house.until(lambda: waiting(house) == 1, "it to wait", last=house.log_tail)
        clocked.ahead(3 * HOUR_MS)
        house.until(lambda: any("first" in text for text in bot.sent()), "it to be sent", last=bot)
        house.until(lambda: waiting(house) == 0, "that to be recorded", last=house.log_tail)
        clocked.ahead(8 * 24 * HOUR_MS + 3 * HOUR_MS)
        bot.writes("show README.md")  # as it is answered, what is older than a week is dropped from the file
        house.until(lambda: any("Quill" in text for text in bot.sent()), "the reply", last=bot)
        house.kill()
    else:
        with held(house.home, "outbox.db"):  # it is in the chats' file, and nothing says in the other that it is
            house.finish(house.give(GOAL, project, title="first"))
            house.until(lambda: waiting(house) == 1, "it to wait", timeout_s=75, last=house.log_tail)
            house.kill()
        clocked.set(3 * HOUR_MS)
    bot.run(bot.server.cut)  # the platform sees that the old connection is gone
    house.start()
    connected = lambda: channel(house)["state"] == "connected"  # noqa: E731
    house.until(connected, "the channel to connect", timeout_s=75, last=house.log_tail)
    house.until(lambda: any("first" in text for text in bot.sent()), "it to be sent", timeout_s=75, last=house.log_tail)
    house.finish(house.give(GOAL, project, title="second"))
    house.until(lambda: any("second" in text for text in bot.sent()), "the next", timeout_s=75, last=house.log_tail)
    assert [sum(title in text for text in bot.sent()) for title in ("first", "second")] == [1, 1]


@promise("SCH-3.out")
@pytest.mark.parametrize("kept_bytes", [0, 16])
def test_a_damaged_outbox_is_said_with_the_way_out_and_begun_again_by_the_person_alone(
    own_house: LivingHome, project: Path, hook: Receiver, kept_bytes: int
) -> None:
    house, box = own_house, own_house.home.data / "outbox.db"
    add_hook(house, hook, kinds=["ended"])
    house.finish(house.give(GOAL, project, title="before"))
    house.until(lambda: len(hook.taken) == 1, "it to arrive", last=hook)
    house.stop()
    for file in box.parent.glob("outbox.db*"):
        file.write_bytes(file.read_bytes()[:kept_bytes] + b"damaged" * 9000)
    damaged = box.read_bytes()
    house.start()
    house.finish(house.give(GOAL, project, title="meanwhile"))
    house.until(lambda: "damaged" in row_of(house, "hook")["error"], "it to be said", last=house.log_tail)
    (check,) = [
        one for one in json.loads(house.cli("doctor", "--json").stdout)["checks"] if one["name"] == "notifications"
    ]
    for needed in ("damaged", "move the file away"):
        assert needed in row_of(house, "hook")["error"] and needed in house.cli("notify", "list").stdout
        assert check["verdict"] == "fail" and needed in check["text"]
    assert "notifications fail" in house.cli("status").stdout
    house.post("/notifications/hook/switch", {"on": False})
    assert not row_of(house, "hook")["on"], "it is switched all the same"
    house.post("/notifications/hook/switch", {"on": True})
    assert box.read_bytes() == damaged
    house.stop()
    for file in box.parent.glob("outbox.db*"):
        file.rename(file.with_name(f"moved-{file.name}"))
    house.start()
    house.finish(house.give(GOAL, project, title="after"))
    house.until(lambda: any("after" in title for title in hook.titles), "what happens then", last=hook)
    assert row_of(house, "hook")["error"] == "" and len(hook.taken) == 2
