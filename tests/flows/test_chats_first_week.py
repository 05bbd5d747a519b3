"""What goes wrong in a chat in its first week: wrong codes, commands as a phone types them, a bot that was shut out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.chatting import GROUP, NAME, Bot, channel, connect, pair, pair_group, telegram
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import Json, LivingHome


@pytest.fixture
def bot() -> Iterator[Bot]:
    """The fake."""
    with telegram() as served:
        yield served


def test_a_code_that_does_not_hold_is_said_a_few_times_and_the_next_one_pairs(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    for number, code in enumerate(("/start", "/start ABCDEFGH", "ABCD-EFGH", "abcdefgh")):
        bot.writes(code)
        house.until(lambda n=number: channel(house)["refused"] == n + 1, "it to be refused")  # type: ignore[misc]
    house.until(lambda: len(bot.sent()) == 4, "the answers", last=bot.sent)
    assert "this one is not" in bot.sent()[0]
    assert all("This code does not hold" in text for text in bot.sent()[1:])
    for letter in "JKMNPQRS":
        bot.writes(f"ABCD-EFG{letter}")
    house.until(lambda: channel(house)["refused"] == 12, "those to be refused")
    pair(house, bot, project)
    assert len(bot.sent()) == 7, "one word, five wrong codes, one pairing"


def test_a_command_is_one_before_a_new_line_too_and_a_file_with_it_is_said_to_be_left(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    bot.writes('/new\nwrite "hello" to greeting.txt')
    house.until(lambda: any("May I?" in text for text in bot.sent()), "the question", last=bot.sent)
    bot.run(bot.server.sends, bot.ada, b"a plan", caption="/status")
    house.until(lambda: any("a command takes no files" in text for text in bot.sent()), "that", last=bot.sent)
    house.until(lambda: any("Status: " in text for text in bot.sent()), "the command's answer", last=bot.sent)
    bot.writes("/resume")
    house.until(lambda: "Nothing is paused here; it is idle." in bot.sent(), "that", last=bot.sent)


def test_a_press_that_comes_after_the_work_ended_says_that_nothing_is_asked_any_more(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    bot.writes('/new write "hello" to greeting.txt')
    house.until(lambda: any("May I?" in text for text in bot.sent()), "the question", last=bot.sent)
    asked = dict(bot.message("May I?"))
    (objective,) = house.get("/objectives")["items"]
    house.post(f"/objectives/{objective['id']}/cancel")
    house.until(lambda: "it is void" in bot.message("path: greeting.txt")["text"], "it to be changed", last=bot)
    press = bot.presses(asked, "Allow")
    house.until(lambda: press in bot.server.answers, "the press to be answered", last=bot)
    assert bot.server.answers[press] == "It is void by now and takes no answer."
    assert not (project / "greeting.txt").exists()


def test_a_group_hears_how_the_bot_is_spoken_to_and_its_fault_is_gone_once_the_bot_may_write_again(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair_group(house, bot, project)
    assert "what names me or replies to me" in bot.sent(GROUP)[0]
    there = bot.run(lambda: bot.server.chats[GROUP])
    bot.run(setattr, there, "blocked", True)
    bot.writes("@stead_test_bot /status", chat=GROUP)
    house.until(lambda: "Forbidden" in channel(house)["chats"][0]["error"], "the fault", last=house.log_tail)
    bot.run(setattr, there, "blocked", False)
    bot.writes("@stead_test_bot /status", chat=GROUP)
    house.until(lambda: len(bot.sent(GROUP)) == 2, "the answer", last=bot.sent)
    house.until(lambda: not channel(house)["chats"][0]["error"], "the fault to be gone", last=house.log_tail)
    assert channel(house)["channel"]["name"] == NAME and channel(house)["chats"][0]["lost"] == 1


def test_a_group_that_became_a_supergroup_is_said_and_is_heard_once_it_was_paired_again(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair_group(house, bot, project)
    bot.run(setattr, bot.run(lambda: bot.server.chats[GROUP]), "moved", GROUP - 1)
    bot.writes("@stead_test_bot /status", chat=GROUP)
    house.until(lambda: "pair it again" in channel(house)["chats"][0]["error"], "the fault", last=house.log_tail)
    pair_group(house, bot, project, id=GROUP - 1)
    bot.writes("@stead_test_bot /status", chat=GROUP - 1)
    house.until(lambda: any("Status: " in text for text in bot.sent(GROUP - 1)), "the answer", last=bot.sent)


def test_what_waits_to_be_tried_again_waits_no_longer_where_the_clock_is_set_back(
    tmp_path: Path, project: Path, bot: Bot
) -> None:
    set_clock(clock := tmp_path / "clock", 3_600_000)
    home = LivingHome(tmp_path / "clocked", {"CLOCK": str(clock)}, "tests.flows.clocked_daemon", forked=True)
    try:
        home.start()
        connect(home, bot)
        pair(home, bot, project)
        bot.run(bot.server.fail, "sendMessage", "500")
        bot.writes("/help")
        home.until(lambda: "Server Error" in channel(home)["chats"][0]["error"], "it to fail", last=home.log_tail)
        set_clock(clock, 0)
        home.post("/secrets", {"name": "other", "value": "something else"})  # the clock is looked at as things happen
        home.until(lambda: any("/help  this" in text for text in bot.sent()), "the answer", last=home.log_tail)
    finally:
        home.stop()


def test_a_server_that_is_not_there_is_said_to_be_unreachable_on_each_platform_that_names_one(
    house: LivingHome,
) -> None:
    with socket.socket() as taken:  # bound and not listened at: nothing answers there
        taken.bind(("127.0.0.1", 0))
        there = f"127.0.0.1:{taken.getsockname()[1]}"
        secrets = {name: f"a-{name}" for name in ("token", "app_token", "password")}
        for name in secrets.values():
            house.post("/secrets", {"name": name, "value": "xoxb-1234-of-tests"})
        mail = {"user": "stead@example.com", "address": "stead@example.com", "proof": "mx.example.com"}
        kinds: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
            "discord": ({"api": f"https://{there}/api/v10"}, ("token",)),
            "email": ({"imap": f"imaps://{there}", "smtp": f"smtps://{there}", **mail}, ("password",)),
            "matrix": ({"homeserver": f"http://{there}", "user": "@stead:example.com"}, ("token",)),
            "signal": ({"url": f"http://{there}", "account": "+4915550100"}, ()),
            "slack": ({"api": f"https://{there}/api/"}, ("token", "app_token")),
            "telegram": ({"api": f"https://{there}"}, ("token",)),
        }
        for kind, (settings, tokens) in kinds.items():
            given = {"settings": settings, "secrets": {name: secrets[name] for name in tokens}}
            house.post("/channels", {"name": kind, "kind": kind, **given})

        def down() -> list[Json]:
            return [row for row in house.get("/channels")["items"] if row["state"] == "down"]

        house.until(lambda: len(down()) == len(kinds), "each to be down", last=down)
        said = {row["channel"]["name"]: row["error"] for row in down()}
    assert {kind: text for kind, text in said.items() if "no connection could be made" not in text} == {}


def test_a_chat_is_notified_once_and_again_after_it_was_removed_and_paired_again(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    again = house.cli("notify", "add", "night", "--chat", "ada", "--quiet", "22:00-07:00")
    assert again.returncode == 2 and "ada notifies that chat already" in again.stderr
    assert "next: change it: stead notify add ada --chat CHAT" in again.stderr
    assert house.cli("notify", "add", "ada", "--chat", "ada", "--quiet", "22:00-07:00", "--zone", "UTC").returncode == 0
    assert "quiet 22:00-07:00 UTC" in house.cli("notify").stdout

    assert house.cli("notify", "add", "ada", "--chat", "ada").returncode == 0  # whatever time it is, it comes at once
    assert house.cli("channel", "chat", "remove", NAME, "ada", "--yes").returncode == 0
    house.wait(house.give("show README.md", project), "verified", "answered", "unverified")
    house.until(lambda: not house.get("/notifications")["items"][0]["on"], "it to be switched off", last=house.log_tail)
    paired = len(bot.sent())
    code = house.post(f"/channels/{NAME}/pair", {"rights": {"directory": str(project)}, "name": "desk"})["code"]
    bot.writes(code)
    house.until(lambda: len(bot.sent()) > paired, "the chat to be paired", last=bot.sent)
    (target,) = house.get("/notifications")["items"]
    assert (target["target"]["name"], target["on"], target["why"]) == ("ada", True, "")
