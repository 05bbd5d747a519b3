"""``stead channel`` with a real daemon and a strict Telegram: added, paired, changed, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.chatting import Bot, channel, telegram
from tests.flows.house import LivingHome

CODE = re.compile(r"[A-Z0-9]{4}-[A-Z0-9]{4}")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivingHome]:
    living = LivingHome(tmp_path_factory.mktemp("channels") / "home", forked=True)
    try:
        living.start()
        yield living
    finally:
        living.stop()


@pytest.fixture(scope="module")
def bot() -> Iterator[Bot]:
    with telegram() as served:
        yield served


@pytest.fixture
def quill(house: LivingHome, bot: Bot) -> Iterator[str]:
    """A channel that is connected, and gone afterwards."""
    added = house.cli(
        *("channel", "add", "quill", "telegram", "--set", f"api={bot.server.url}", "--secret", "token=-"),
        stdin=f"{bot.server.token}\n",
    )
    assert added.returncode == 0, added.stderr
    assert "quill is a channel of Telegram" in added.stdout
    assert "stead channel pair quill --dir FOLDER" in added.stdout
    connected(house, "quill")
    yield "quill"
    assert house.cli("channel", "remove", "quill", "--yes").returncode == 0


def refused(done: subprocess.CompletedProcess[str], *words: str, code: int = 2) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def connected(house: LivingHome, name: str) -> None:
    house.until(lambda: channel(house, name)["state"] == "connected", "the channel to connect", last=house.log_tail)


def pair(house: LivingHome, bot: Bot, *options: str) -> list[str]:
    """Pair a chat as a person does: the code is printed, sent, and the command leaves. Gives what it printed."""
    words = [house.python, "-m", "stead", "channel", "pair", "quill", "--dir", str(house.root.parent), *options]
    with subprocess.Popen(
        words, env=house.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        lines: list[str] = []
        try:
            while not lines or not lines[-1].startswith("Send the code"):  # the last that is said of it
                lines.append(process.stdout.readline())
                assert lines[-1], process.communicate()
            found = CODE.search(lines[0])
            assert found
            bot.writes(found[0])
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 0, out + err
    assert "waiting for it" in err
    return [*lines, *out.splitlines()]


def test_a_bot_is_added_with_a_token_that_goes_nowhere_but_into_the_vault(
    house: LivingHome, bot: Bot, quill: str
) -> None:
    token = bot.server.token
    shown = [house.cli("channel", *words) for words in (("list",), ("list", "--json"), ("test", quill))]
    assert all(one.returncode == 0 for one in shown)
    assert f"@{bot.server.me['username']}" in shown[0].stdout
    assert "connected" in shown[0].stdout and "Telegram" in shown[0].stdout
    assert json.loads(shown[1].stdout)["channel"]["secrets"] == {"token": "quill-token"}
    assert [row["name"] for row in house.get("/secrets")["items"]] == ["quill-token"]
    everything = [*(one.stdout + one.stderr for one in shown), json.dumps(house.events()), house.log_tail()]
    assert not any(token in text for text in everything)
    kinds = house.cli("channel", "kinds").stdout
    assert "telegram" in kinds and "token (a token)" in kinds and "stead channel add NAME KIND" in kinds


def test_a_chat_is_paired_by_the_code_that_the_command_prints_and_its_rights_are_changed_and_taken(
    house: LivingHome, bot: Bot, quill: str, tmp_path: Path
) -> None:
    lines = pair(house, bot, "--profile", "ask", "--name", "desk", "--budget-usd", "2")
    assert any(line.startswith("link: https://t.me/") for line in lines), lines
    assert lines[-1] == "Ada is paired, and is called desk. See: stead channel chats quill"
    row = channel(house, quill)["chats"][0]["chat"]
    assert (row["name"], row["private"], row["rights"]["profile"]) == ("desk", True, "ask")
    assert row["rights"]["budget"]["usd_micros"] == 2_000_000
    assert row["people"] == [{"id": "42", "role": "owner", "name": "Ada"}]
    chats = house.cli("channel", "chats", quill).stdout
    assert "desk" in chats and "Ada (owner)" in chats and "one person" in chats

    changed = house.cli(
        *("channel", "chat", "set", quill, "desk", "--rename", "office", "--dir", str(tmp_path), "--profile", "work"),
        *("--person", "77=guest"),
    )
    assert changed.returncode == 0, changed.stderr
    assert "office: one person" in changed.stdout and "77 (guest)" in changed.stdout
    row = channel(house, quill)["chats"][0]["chat"]
    assert (row["name"], row["rights"]["directory"], row["rights"]["profile"]) == ("office", str(tmp_path), "work")
    assert row["rights"]["budget"]["usd_micros"] == 2_000_000, "what is not given stays"
    assert house.cli("channel", "chat", "set", quill, "office", "--person", "77=none").returncode == 0
    assert [one["id"] for one in channel(house, quill)["chats"][0]["chat"]["people"]] == ["42"]
    refused(house.cli("channel", "chat", "set", quill, "office", "--person", "42=none"), "owner")
    refused(house.cli("channel", "chat", "remove", quill, "office"), "no terminal to ask at", code=3)
    assert house.cli("channel", "chat", "remove", quill, "office", "--yes").returncode == 0
    assert channel(house, quill)["chats"] == []


def test_a_code_can_be_made_without_waiting_and_as_json(house: LivingHome, quill: str) -> None:
    done = house.cli("channel", "pair", quill, "--dir", str(house.root.parent), "--no-wait", "--json")
    made = json.loads(done.stdout)
    assert CODE.fullmatch(made["code"]) and made["expires_ms"] > 0


def test_a_channel_is_off_and_on_and_what_comes_meanwhile_is_read_then(house: LivingHome, bot: Bot, quill: str) -> None:
    assert "On again: stead channel enable quill" in house.cli("channel", "disable", quill).stdout
    assert channel(house, quill)["state"] == "off"
    refused(house.cli("channel", "disable", quill), "off already", "next: see: stead channel list")
    refused(house.cli("channel", "pair", quill, "--dir", "/"), "stead channel enable")
    bo = bot.run(bot.server.person, 43, "Bo")
    bot.writes("hello there", person=bo)
    assert house.cli("channel", "enable", quill).returncode == 0
    connected(house, quill)
    house.until(lambda: channel(house, quill)["refused"] == 1, "the stranger's words to be read, and refused")


def test_adding_again_changes_what_is_given_and_keeps_the_rest(house: LivingHome, bot: Bot, quill: str) -> None:
    ca = house.root.parent / "own.pem"
    ca.write_text("-----BEGIN CERTIFICATE-----\n", "ascii")
    assert house.cli("channel", "add", quill, "--ca-file", str(ca)).returncode == 0
    row = channel(house, quill)["channel"]
    assert (row["settings"], row["secrets"], row["ca_file"]) == (
        {"api": bot.server.url},
        {"token": "quill-token"},
        str(ca),
    )
    refused(house.cli("channel", "add", quill, "--ca-file", "none.pem"), "there is no file")


def test_what_cannot_be_is_refused_with_the_next_command(house: LivingHome, tmp_path: Path) -> None:
    add = ("channel", "add", "nova")
    assert "stead channel kinds" in house.cli("channel", "list").stdout
    refused(house.cli(*add, "smoke"), "no kind of channel 'smoke'", "telegram")
    refused(house.cli(*add), "which platform", "stead channel kinds")
    refused(house.cli(*add, "telegram"), "needs token", "stead secret add nova-token")
    refused(house.cli(*add, "telegram", "--secret", "token=gone"), "no secret 'gone'", "stead secret add gone")
    refused(house.cli(*add, "telegram", "--set", "token=1"), "'token' of Telegram is a token", "--secret token=")
    refused(house.cli(*add, "telegram", "--set", "colour=red"), "no setting 'colour'", "--set takes: api")
    refused(house.cli(*add, "telegram", "--set", "api"), "is not NAME=VALUE")
    refused(house.cli("channel", "pair", "nova", "--dir", "."), "no channel 'nova'", "stead channel add nova KIND")
    refused(house.cli("channel", "pair", "nova"), "which folder", "stead channel pair nova --dir FOLDER")
    refused(house.cli("channel", "chats", "nova"), "no channel 'nova'")
    refused(house.cli("channel", "chat", "set", "nova", "desk"), "no channel 'nova'")
    refused(house.cli("channel", "test", "nova"), "no channel 'nova'")
    assert house.get("/channels")["items"] == []


def test_a_token_that_is_refused_is_told_where_the_channels_are_listed(house: LivingHome, bot: Bot) -> None:
    house.cli("secret", "add", "worn-token", stdin="123456:worn-out")
    done = house.cli("channel", "add", "worn", "telegram", "--set", f"api={bot.server.url}")
    assert done.returncode == 0, "the secret is found by its name"
    house.until(lambda: channel(house, "worn")["state"] in ("down", "off"), "the token to be refused")
    listed = house.cli("channel", "list").stdout
    assert "Unauthorized" in listed or "token" in listed
    refused(house.cli("channel", "test", "worn"), code=1)
    assert house.cli("channel", "remove", "worn", "--yes").returncode == 0


def test_names_are_completed(house: LivingHome, quill: str) -> None:
    def words(*typed: str) -> list[str]:
        return house.cli("completion", "words", "--", *typed).stdout.split()

    assert words("channel", "te") == ["test"]
    assert words("channel", "test", "q") == [quill]
    assert words("channel", "add", "nova", "tele") == ["telegram"]
    assert words("channel", "pair", quill, "--role", "me") == ["member"]


def test_a_token_that_the_platform_refuses_is_said_with_the_secret_to_replace_and_before_a_code_is_sent_in_vain(
    house: LivingHome, bot: Bot, tmp_path: Path
) -> None:
    words = ("channel", "add", "wrong", "telegram", "--set", f"api={bot.server.url}", "--secret", "token=-")
    assert house.cli(*words, stdin="123456:of-another-bot\n").returncode == 0
    house.until(lambda: channel(house, "wrong")["state"] == "down", "the token to be refused", last=house.log_tail)
    tested = house.cli("channel", "test", "wrong")
    assert tested.returncode == 1 and "stead secret add wrong-token --replace" in tested.stdout
    code = house.cli("channel", "pair", "wrong", "--dir", str(tmp_path), "--no-wait").stdout
    assert "The code is not heard before wrong is connected; it is down: Telegram refuses the token" in code
    assert house.cli("secret", "add", "wrong-token", "--replace", stdin=f"{bot.server.token}\n").returncode == 0
    connected(house, "wrong")
    assert "not heard" not in house.cli("channel", "pair", "wrong", "--dir", str(tmp_path), "--no-wait").stdout
    assert house.cli("channel", "remove", "wrong", "--yes").returncode == 0


def test_names_that_cannot_be_are_refused_before_a_token_is_kept_or_a_code_is_made(
    house: LivingHome, bot: Bot, quill: str, tmp_path: Path
) -> None:
    added = house.cli("channel", "add", "Ada's", "telegram", "--secret", "token=-", stdin=f"{bot.server.token}\n")
    refused(added, "no channel can be called", "next: take a small letter")
    for option, value in (("--name", "A B"), ("--name", "Desk")):
        made = house.cli("channel", "pair", quill, "--dir", str(tmp_path), "--no-wait", option, value)
        refused(made, "no chat can be called", "next: take a small letter")
    refused(house.cli("channel", "add", quill, "--set", "api=ftp://x"), "cannot be 'ftp://x'", "next: give: ")


def test_a_chat_without_an_owner_is_changed_and_its_person_gets_another_role(
    house: LivingHome, bot: Bot, quill: str
) -> None:
    pair(house, bot, "--role", "guest", "--name", "visitor")
    changed = house.cli("channel", "chat", "set", quill, "visitor", "--profile", "readonly")
    assert changed.returncode == 0, changed.stderr
    pair(house, bot, "--role", "member")
    chat = channel(house, quill)["chats"][0]["chat"]
    assert (chat["people"][0]["role"], chat["rights"]["profile"]) == ("member", "readonly")
