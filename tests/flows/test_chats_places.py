"""Threads, several bots and media: what a chat is made of beyond its words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.fakes.pictures import png
from tests.flows.chatting import Bot, channel, connect, pair, telegram
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import LivingHome
from tests.promises import promise

GROUP = -1001


@pytest.fixture
def bot() -> Iterator[Bot]:
    """The fake."""
    with telegram() as served:
        yield served


@promise("CH-4.threads")
def test_each_thread_of_a_group_has_a_session_of_its_own(house: LivingHome, project: Path, bot: Bot) -> None:
    connect(house, bot)
    bot.run(bot.server.group, GROUP, topics=(7, 8))
    code = house.post("/channels/phone/pair", {"rights": {"directory": str(project), "profile": "ask"}})["code"]
    bot.writes(f"/pair@{bot.server.me['username']} {code}", chat=GROUP, topic=7)
    house.until(lambda: any("Paired" in text for text in bot.sent(GROUP)), "the group to be paired", last=bot)
    for topic in (7, 8):
        bot.writes(f"@{bot.server.me['username']} show README.md", chat=GROUP, topic=topic)
    house.until(lambda: sum("Quill" in text for text in bot.sent(GROUP)) == 2, "both replies", last=bot)
    answers = [one.values for one in bot.done("sendMessage") if "Quill" in one.values["text"]]
    assert {str(one["message_thread_id"]) for one in answers} == {"7", "8"}
    sessions = [row["id"] for row in house.get("/sessions")["items"]]
    assert [len(house.bodies(session, "message.received")) for session in sessions] == [1, 1]


@promise("CH-1.several")
def test_two_bots_of_a_kind_are_added_while_stead_runs_and_each_answers_in_its_own_chats(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    with telegram("654321:token-of-the-other") as other:
        connect(house, bot)
        connect(house, other, "other")
        pair(house, bot, project)
        other.writes("show README.md")
        house.until(lambda: channel(house, "other")["refused"] == 1, "the stranger to be refused")
        bot.writes("show README.md")
        house.until(lambda: any("Quill" in text for text in bot.sent()), "the reply", last=bot)
        assert not any("Quill" in text for text in other.sent())
    assert [row["channel"]["name"] for row in house.get("/channels")["items"]] == ["other", "phone"]


@promise("CH-3.media")
def test_a_picture_from_a_chat_is_shown_to_the_model_with_the_words(house: LivingHome, project: Path, bot: Bot) -> None:
    connect(house, bot)
    pair(house, bot, project)
    photo = bot.run(bot.server.file, png(40, 30), width=40, height=30)
    bot.writes("", photo=[photo], caption="show README.md")
    house.until(lambda: any("Quill" in text for text in bot.sent()), "the reply", last=bot)
    (session,) = [row["id"] for row in house.get("/sessions")["items"]]
    (message,) = house.bodies(session, "message.received")
    assert message["text"] == "show README.md"
    assert [(one["media_type"], one["width"]) for one in message["attachments"]] == [("image/png", 40)]


def test_another_bot_under_the_name_of_a_channel_is_read_from_its_own_beginning(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    for n in range(3):
        bot.writes("/help")
        house.until(lambda n=n: sum("goes to this chat" in text for text in bot.sent()) == n + 1, "help", last=bot)  # type: ignore[misc]
    with telegram("654321:token-of-the-other") as other:
        house.post("/secrets", {"name": "phone-token", "value": other.server.token, "replace": True})
        settings, secrets = {"api": other.server.url}, {"token": "phone-token"}
        other.writes("/help")
        house.post("/channels", {"name": "phone", "kind": "telegram", "settings": settings, "secrets": secrets})
        house.until(lambda: any("goes to this chat" in text for text in other.sent()), "its reply", last=other)


def test_a_token_that_is_set_under_its_old_name_counts_at_once(house: LivingHome, project: Path, bot: Bot) -> None:
    connect(house, bot)
    pair(house, bot, project)
    bot.run(bot.server.revoke)
    house.until(lambda: channel(house)["state"] == "down", "the token to be refused", last=house.log_tail)
    house.post("/secrets", {"name": "phone-token", "value": bot.server.token, "replace": True})
    bot.writes("show README.md")
    house.until(lambda: any("Quill" in text for text in bot.sent()), "the reply", last=house.log_tail)
    assert channel(house)["state"] == "connected"
    house.client().command("DELETE", "/secrets/phone-token")
    house.until(lambda: "is gone" in channel(house)["error"], "the bot to be left", last=house.log_tail)


@pytest.mark.parametrize("how", [pytest.param("removed", marks=pytest.mark.long), "switched off"])
def test_a_second_channel_of_a_bot_is_served_once_the_first_is_not(
    house: LivingHome, project: Path, bot: Bot, how: str
) -> None:
    connect(house, bot)
    settings, secrets = {"api": bot.server.url}, {"token": "phone-token"}
    house.post("/channels", {"name": "again", "kind": "telegram", "settings": settings, "secrets": secrets})
    house.until(lambda: "same bot" in channel(house, "again")["error"], "the second to be refused", last=house.log_tail)
    if how == "removed":
        house.client().command("DELETE", "/channels/phone")
    else:
        house.post("/channels/phone/switch", {"on": False})
    # Telegram refuses a second reader for as long as it holds the first one's request open.
    served = lambda: channel(house, "again")["state"] == "connected"  # noqa: E731
    house.until(served, "the second to be served", timeout_s=75, last=house.log_tail)
    assert channel(house, "again")["error"] == ""
    if how == "switched off":
        house.post("/channels/phone/switch", {"on": True})
        house.until(lambda: "same bot" in channel(house, "again")["error"], "the first to be served again")


def test_a_channel_whose_token_was_refused_for_good_holds_its_bot_no_more(house: LivingHome, bot: Bot) -> None:
    connect(house, bot)
    settings, secrets = {"api": bot.server.url}, {"token": "phone-token"}
    house.post("/channels", {"name": "again", "kind": "telegram", "settings": settings, "secrets": secrets})
    house.until(lambda: "same bot" in channel(house, "again")["error"], "the second to be refused", last=house.log_tail)
    bot.run(bot.server.revoke)
    tried = lambda: "same bot" not in channel(house, "again")["error"]  # noqa: E731
    house.until(tried, "it to be tried", timeout_s=90, last=house.log_tail)  # half a minute after both polled at once
    house.post("/secrets", {"name": "again-token", "value": bot.server.token})
    secrets = {"token": "again-token"}
    house.post("/channels", {"name": "again", "kind": "telegram", "settings": settings, "secrets": secrets})
    served = lambda: channel(house, "again")["state"] == "connected"  # noqa: E731
    house.until(served, "the second to be served", timeout_s=75, last=house.log_tail)
    assert channel(house)["state"] == "down" and "same bot" not in channel(house)["error"]

    house.post("/secrets", {"name": "phone-token", "value": bot.server.token, "replace": True})
    house.until(lambda: "same bot" in channel(house, "again")["error"], "the first to be served", last=house.log_tail)
    house.until(lambda: channel(house)["state"] == "connected", "the first to be up", timeout_s=75)


@promise("CH-1.several")
def test_an_owner_gets_the_link_to_the_form_for_another_channel_and_no_token_is_taken_in_the_chat(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    page = house.client().address
    link = f"http://{page.name}.localhost:{page.port}/channels?connect=matrix"
    bot.writes("/connect Matrix")
    house.until(lambda: any(link in text for text in bot.sent()), "the link", last=bot.sent)
    token = "8123456789:" + "AAbCdEfGhIjKlMnOpQ" * 2
    for text in (f"/connect telegram {token}", f"/connect {token}", "/connect", "/connect icq"):
        bot.writes(text)
    house.until(lambda: len(bot.sent()) == 6, "the answers", last=bot.sent)
    assert all("one of discord, email" in text for text in bot.sent()[2:])
    assert token not in "".join(bot.sent()) and token not in json.dumps(house.events())
    assert len(house.get("/channels")["items"]) == 1


@promise("CH-3.quiet")
def test_what_a_chats_own_work_has_to_say_waits_for_the_end_of_the_quiet_hours_and_comes_together(
    tmp_path: Path, project: Path, bot: Bot
) -> None:
    for n in range(2):
        (project / f"note{n}.txt").write_text("one\ntwo\n", "utf-8")
    clock = tmp_path / "clock"
    set_clock(clock, 0)
    home = LivingHome(tmp_path / "clocked", {"CLOCK": str(clock)}, "tests.flows.clocked_daemon", forked=True)
    try:
        home.start()
        connect(home, bot)
        pair(home, bot, project)
        times = [(datetime.now(UTC) + timedelta(hours=hours)).strftime("%H:%M") for hours in (-1, 2)]
        via = {"type": "chat", "channel": "phone", "chat": "42"}
        quiet = {"name": "ada", "via": via, "quiet_from": times[0], "quiet_to": times[1], "zone": "UTC"}
        home.post("/notifications", quiet)
        for goal in ("count the lines of note0.txt", "count the lines of note1.txt", 'write "hello" to greeting.txt'):
            bot.writes(f"/new {goal}")
        home.until(lambda: len(home.get("/approvals")["items"]) == 1, "the question", last=bot.sent)
        home.finish(home.give("show README.md", project))
        home.until(lambda: channel(home)["chats"][0]["waiting"] == 4, "all to wait", last=bot.sent)
        bot.writes("show README.md")
        home.until(lambda: any("Quill" in text for text in bot.sent()), "the reply, at once", last=bot.sent)
        assert not [text for text in bot.sent() if "Done" in text or "May I?" in text]

        home.post("/notifications", {**quiet, "urgent": True})
        bot.writes('/new write "again" to again.txt')
        home.until(
            lambda: any("again.txt" in text and "May I?" in text for text in bot.sent()), "it, at once", last=bot
        )
        sent = len(bot.sent())
        set_clock(clock, 3 * 3_600_000)
        home.post("/secrets", {"name": "other", "value": "something else"})  # the clock is looked at as things happen
        home.until(lambda: any("Done: count" in text for text in bot.sent()), "the digest", last=bot.sent)
        home.until(
            lambda: any("greeting.txt" in text and "May I?" in text for text in bot.sent()), "the question", last=bot
        )
        (digest,) = [text for text in bot.sent()[sent:] if "Done" in text]
        assert digest.startswith("3 things happened") and "note0.txt" in digest and "note1.txt" in digest
        assert "Answered: show README.md\nhttp" in digest
        assert sum("Answered: show" in text for text in bot.sent()) == 1
        assert [one["waiting"] for one in home.get("/notifications")["items"]] == [0]
        bot.presses(bot.message("greeting.txt"), "Allow")
        home.until((project / "greeting.txt").exists, "the call to run", last=bot)
        home.until(
            lambda: any('the goal: write "hello"' in text for text in bot.sent()), "its end, at once", last=bot.sent
        )
    finally:
        home.stop()


@pytest.mark.parametrize(
    ("kept_bytes", "running", "first"),
    [(0, False, "/help"), (16, False, "/help"), (16, True, "count the lines of README.md")],
)
def test_a_damaged_box_of_chats_is_said_with_the_way_out_and_what_was_written_meanwhile_is_answered_then(
    own_house: LivingHome, project: Path, bot: Bot, kept_bytes: int, running: bool, first: str
) -> None:
    house, box = own_house, own_house.home.data / "chats.db"
    connect(house, bot)
    pair(house, bot, project)
    if not running:
        house.stop()
    for file in box.parent.glob("chats.db*"):
        if not file.name.endswith("-shm"):
            file.write_bytes(file.read_bytes()[:kept_bytes] + b"damaged" * 9000)
    if not running:
        house.start()
    bot.writes(first)
    house.until(lambda: "damaged" in channel(house)["error"], "it to be said", last=house.log_tail)
    bot.writes("show README.md")
    for needed in ("damaged", "move the file away"):
        assert needed in channel(house)["error"] and needed in house.cli("channel", "list").stdout
        checks = json.loads(house.cli("doctor", "--json").stdout)["checks"]
        (check,) = [one for one in checks if one["name"] == "channels"]
        assert check["verdict"] == "warn" and needed in check["text"] and check["fix"] == "stead channel test phone"
    assert len(bot.sent()) == 1
    house.stop()
    for file in box.parent.glob("chats.db*"):
        file.rename(file.with_name(f"moved-{file.name}"))
    house.start()
    house.until(lambda: any("Quill" in text for text in bot.sent()), "the reply", timeout_s=75, last=house.log_tail)
    assert channel(house)["error"] == "" and (first != "/help" or any("goes to this chat" in one for one in bot.sent()))
