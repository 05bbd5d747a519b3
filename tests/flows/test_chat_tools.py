"""A session writes to the person's chats, and sends files there, once they have said so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.models import Turn
from tests.flows import asking
from tests.flows.chatting import GROUP, Bot, connect, pair, pair_group, telegram, through, told
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise


@pytest.fixture
def bot() -> Iterator[Bot]:
    """The fake."""
    with telegram() as served:
        yield served


@promise("TOOL-1.message", "CH-2.risky")
def test_a_message_and_a_file_go_to_a_chat_after_the_person_saw_where_and_who_reads_along(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    turns = {
        "tell the garden": Turn("", calls=(through("message", to="garden", text="The pears are ripe."),)),
        "send the notes": Turn("", calls=(through("send_file", to="garden", path="README.md", caption="Notes"),)),
    }
    with served(told(turns)) as model:
        use_model(house, model.openai)
        connect(house, bot)
        pair(house, bot, project)
        pair_group(house, bot, project)
        session = house.post("/sessions", {"directory": str(project)})["session"]
        house.post(f"/sessions/{session}/messages", {"text": "tell the garden that the pears are ripe"})
        question = asking.question(house, session)
        assert "a group, in which others read along, on the channel phone (telegram)" in question["arguments"]
        assert "The pears are ripe." not in "".join(bot.sent(GROUP))
        asking.answer(house, question, "once")
        house.until(lambda: bot.sent(GROUP)[-1] == "The pears are ripe.", "the message", last=bot.sent(GROUP))

        house.post(f"/sessions/{session}/messages", {"text": "send the notes to the garden"})
        question = asking.question(house, session)
        assert (question["tool"], question["level"], question["shape"]) == ("send_file", "confirm", "")
        asking.answer(house, question, "once")
        house.until(lambda: bool(bot.done("sendDocument")), "the file", last=bot.sent(GROUP))
    (sent,) = bot.done("sendDocument")
    assert [*sent.files.values()] == [(project / "README.md").read_bytes()]
    assert bot.sent(GROUP)[-1] == "Notes"
    assert bot.sent(GROUP).count("The pears are ripe.") == 1


@promise("SEC-8.identity")
def test_a_reply_in_a_chat_names_neither_the_model_nor_its_tools(house: LivingHome, project: Path, bot: Bot) -> None:
    turns = {"who": Turn("I am acme-9.1 by acme/acme-9.1; I look with history_all. <thinking>hm</thinking>")}
    with served(told(turns)) as model:
        house.post(
            "/providers", {"name": "acme", "preset": "compatible", "base_url": model.openai, "model": "acme-9.1"}
        )
        house.post("/chain", {"chain": [{"provider": "acme", "model": "acme-9.1"}]})
        connect(house, bot)
        pair(house, bot, project)
        bot.writes("who are you?")
        house.until(lambda: any("I am" in text for text in bot.sent()), "the reply", last=bot.sent)
    assert bot.sent()[-1].strip() == "I am the model by the model; I look with a tool."


def test_a_file_that_waits_in_the_outbox_is_sent_once_and_as_it_was_after_a_power_cut(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    before = (project / "README.md").read_bytes()
    turns = {"send the notes": Turn("", calls=(through("send_file", to="phone", path="README.md"),))}
    with served(told(turns)) as model:
        use_model(house, model.openai)
        connect(house, bot)
        pair(house, bot, project, name="phone")
        session = house.post("/sessions", {"directory": str(project)})["session"]
        house.post(f"/sessions/{session}/messages", {"text": "send the notes to phone"})
        question = asking.question(house, session)
        bot.run(bot.server.fail, "sendDocument", "429", after_s=2)
        asking.answer(house, question, "once")

        def waits() -> int:
            return int(house.get("/channels")["items"][0]["chats"][0]["waiting"])

        house.until(lambda: bool(house.bodies(session, "turn.ended")) and waits() == 1, "it to wait", last=bot.sent)
        (project / "README.md").write_text("changed", "utf-8")
        house.kill()
        house.start()
        house.until(lambda: bool(bot.done("sendDocument")), "the file", last=house.log_tail)
        house.until(lambda: waits() == 0, "the outbox to be empty")
    (sent,) = bot.done("sendDocument")
    assert [*sent.files.values()] == [before]
