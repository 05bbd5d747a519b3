"""What the chats of a channel cost, and caps of a channel and of one chat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.client import ApiError
from tests.fakes.models import Turn
from tests.flows.chatting import GROUP, NAME, Bot, connect, pair, pair_group, telegram
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise


@pytest.fixture
def bot() -> Iterator[Bot]:
    """The fake."""
    with telegram() as served:
        yield served


def _usage(house: LivingHome, by: str) -> dict[str, int]:
    shown = house.cli("usage", "--json", "--by", by)
    assert shown.returncode == 0, shown.stderr
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    return {row["key"]: row["tokens_in"] + row["tokens_out"] for row in rows}


def _capped(house: LivingHome) -> dict[str, Json]:
    return {row["name"]: row for row in house.get("/cap")["channels"]}


@promise("LLM-5.channel")
def test_what_a_channel_may_spend_is_capped_and_its_chats_are_told_until_when_while_other_work_goes_on(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    with served(lambda _: Turn("It has three headings.", usage=(900, 100, 0, 0))) as model:
        use_model(house, model.openai)
        connect(house, bot)
        pair(house, bot, project)
        pair_group(house, bot, project)
        bot.writes("How many headings are there?")
        house.until(lambda: bot.sent().count("It has three headings.") == 1, "the reply", last=bot.sent)
        house.finish(house.give("Count the headings", project))
        assert _usage(house, "channel")[NAME] == _usage(house, "door")["chat:phone/42"] == 1000
        assert set(_usage(house, "channel")) == {NAME, ""}
        assert "CHANNEL" in house.cli("usage", "--by", "channel").stdout
        shown = house.cli("usage", "--by", "door").stdout
        assert "Ada" in shown and "chat:phone/42" not in shown

        asked = len(model.requests())
        set_ = house.cli("cap", "--channel", NAME, "--tokens", "1000")
        assert set_.returncode == 0 and "A day, phone: at most 1,000 tokens" in set_.stdout, set_
        assert _capped(house)[NAME]["spent_today"]["tokens"] == 1000
        bot.writes("And how many lines?")
        bot.writes("/new count the lines")
        bot.writes("@stead_test_bot And here?", chat=GROUP)
        for chat, times in ((42, 2), (GROUP, 1)):
            house.until(lambda c=chat, n=times: len(_refusals(bot, c)) == n, "the refusals", last=bot)  # type: ignore[misc]
        (told,) = _refusals(bot, GROUP)
        assert re.search(r"the channel phone's daily cap of 1,000 tokens .* go on the next day: \d{4}-\d\d-\d\d$", told)
        assert len(model.requests()) == asked
        house.finish(house.give("Count the headings again", project))

        house.cli("cap", "--channel", f"{NAME}/ada", "--month", "--usd", "0")
        assert house.cli("cap", "--channel", NAME, "--none").returncode == 0
        assert set(_capped(house)) == {"ada"} and _capped(house)["ada"]["channel"] == f"{NAME}/42"
        bot.writes("@stead_test_bot Again?", chat=GROUP)
        house.until(lambda: "It has three headings." in bot.sent(GROUP), "the group's reply", last=bot.sent)
        bot.writes("Again?")
        house.until(lambda: "the chat Ada's monthly cap is 0" in _refusals(bot, 42)[-1], "the refusal", last=bot)
        house.stop()
        house.start()
        assert set(_capped(house)) == {"ada"}
        house.cli("cap", "--channel", f"{NAME}/ada", "--month", "--none")
        house.until(lambda: house.get("/channels")["items"][0]["state"] == "connected", "the channel to connect")
        bot.writes("And now?")
        house.until(lambda: bot.sent().count("It has three headings.") >= 2, "the reply", last=bot.sent)
    wrong = house.cli("cap", "--channel", "fone", "--tokens", "5")
    assert wrong.returncode == 2 and "phone/ada" in wrong.stderr
    with pytest.raises(ApiError, match="no channel and no chat"):
        house.post("/cap", {"channel": "fone", "daily": {"tokens": 5, "usd_micros": "unlimited"}})


def _refusals(bot: Bot, chat: int) -> list[str]:
    return [text for text in bot.sent(chat) if text.startswith("It waits: the ch")]
