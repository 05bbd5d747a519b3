"""The Bot API of the tests is held against two clients that know nothing of each other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputFile
from telegram.error import BadRequest, Conflict, InvalidToken, RetryAfter
from telegram.request import HTTPXRequest

from tests.fakes.telegram import Json, Telegram, serve

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    async with serve(Telegram()) as served:
        yield served


def people(server: Telegram) -> Json:
    """A press, a message in a topic with a mention, and a file; and somebody else, who is written to at most once."""
    ada = server.person()
    server.person(43, "Bo")
    server.chats[43].paced_s = 600
    group = server.group(topics=(7,))["id"]
    server.writes(ada, "@stead_test_bot hello", chat=group, topic=7)
    server.sends(ada, b"the plan")
    markup = {"inline_keyboard": [[{"text": "Yes", "callback_data": "yes"}]]}
    asked = {"message_id": 900, "date": 1, "chat": server.chats[42].fields, "from": server.me, "text": "?"}
    server.messages[42, 900] = {**asked, "reply_markup": markup}
    server.presses(ada, server.messages[42, 900], "yes")
    return ada


async def test_aiogram_takes_it_for_telegram(server: Telegram) -> None:
    people(server)

    python = ROOT / ".setup/second/bin/python"
    assert python.exists(), "run: scripts/setup.sh test"
    program = await asyncio.create_subprocess_exec(
        *(str(python), "-P", str(ROOT / "tests/fakes/telegram_aiogram.py"), server.url, server.token),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={},
    )
    async with asyncio.timeout(60):
        told, complaint = await program.communicate()
    assert program.returncode == 0, complaint.decode()
    found = json.loads(told)
    assert found["refused"].pop().startswith("TelegramRetryAfter ")
    assert found == {
        "me": "stead_test_bot",
        "texts": ["@stead_test_bot hello", None],
        "threads": [7, None],
        "marks": ["mention"],
        "press": ["yes", 900],
        "answered": True,
        "edited": "Deleted.",
        "document": "plan.txt",
        "photo": 1,
        "typing": True,
        "brought": "the plan",
        "refused": ["TelegramBadRequest"] * 4 + [""],
    }
    assert server.waiting == 0


async def test_python_telegram_bot_takes_it_for_telegram(server: Telegram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    people(server)
    bot = Bot(server.token, f"{server.url}/bot", f"{server.url}/file/bot", request=HTTPXRequest(8))
    async with bot:
        assert bot.username == "stead_test_bot"
        updates = await bot.get_updates(timeout=1)
        message, sent, press = updates[0].message, updates[1].message, updates[2].callback_query
        assert message and list(message.parse_entities(["mention"]).values()) == ["@stead_test_bot"]
        assert sent and sent.document and press and press.data == "yes"
        assert await (await sent.document.get_file()).download_as_bytearray() == b"the plan"
        await press.answer("kept")
        markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="yes")]])
        asked = await bot.send_message(42, "Delete it?", reply_markup=markup)
        edited = await asked.edit_text("Deleted.")
        assert isinstance(edited, type(asked)) and edited.text == "Deleted." and not edited.reply_markup
        assert (await bot.send_document(42, InputFile(b"a plan", "plan.txt"))).document
        assert (await bot.send_photo(42, InputFile(b"png", "a.png"))).photo
        await bot.send_chat_action(42, "typing")
        with pytest.raises(BadRequest, match="too long"):
            await bot.send_message(42, "x" * 4097)
        with pytest.raises(BadRequest, match="Button_data_invalid"):
            markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="é" * 33)]])
            await bot.send_message(42, "?", reply_markup=markup)
        with pytest.raises(RetryAfter):
            for _ in range(2):
                await bot.send_message(43, "now")
        await bot.get_updates(offset=updates[-1].update_id + 1)
        first = asyncio.create_task(bot.get_updates(timeout=20, read_timeout=30))
        await asyncio.sleep(0)
        async with asyncio.timeout(20):
            while not server.polling:
                await asyncio.sleep(0.01)
        async with Bot(server.token, f"{server.url}/bot") as other:
            await other.get_updates(timeout=0)
        with pytest.raises(Conflict):
            await first
        server.revoke()
        with pytest.raises(InvalidToken):
            await bot.get_me()


@pytest.mark.parametrize(
    ("method", "values", "status", "said"),
    [
        ("sendmessage", {"chat_id": 42, "text": "a"}, 404, "Not Found"),
        ("sendMessage", {"chat_id": 42}, 400, "text is empty"),
        ("sendMessage", {"chat_id": 42, "text": "  "}, 400, "text is empty"),
        ("sendMessage", {"chat_id": 42, "text": 5}, 400, "must be a string"),
        ("sendMessage", {"chat_id": [42], "text": "a"}, 400, "must be a number"),
        ("sendMessage", {"chat_id": 42, "text": "a", "reply_markup": "{"}, 400, "can't parse reply_markup"),
        ("sendMessage", {"chat_id": 42, "text": "a", "colour": "red"}, 400, "unknown parameters"),
        ("sendMessage", {"chat_id": 42, "text": "a", "message_thread_id": 3}, 400, "thread not found"),
        ("sendDocument", {"chat_id": 42}, 400, "no document"),
        ("sendChatAction", {"chat_id": 42, "action": "dance"}, 400, "wrong parameter action"),
        ("getUpdates", {"timeout": "soon"}, 400, "timeout must be a number"),
        ("getFile", {"file_id": "none"}, 400, "invalid file_id"),
    ],
)
async def test_it_refuses(server: Telegram, method: str, values: dict[str, Any], status: int, said: str) -> None:
    server.person()
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{server.url}/bot{server.token}/{method}", json=values)
    assert (answer.status_code, answer.json()["ok"]) == (status, False)
    assert said in answer.json()["description"] and not server.accepted


async def test_it_takes_json_forms_and_parts_alike_and_no_wrong_token(server: Telegram) -> None:
    server.person()
    at = f"{server.url}/bot{server.token}/sendMessage"
    values = {"chat_id": "42", "text": "a"}
    async with httpx.AsyncClient() as client:
        parts = {name: (None, value) for name, value in values.items()}
        for answer in (
            await client.post(at, json=values),
            await client.post(at, data=values),
            await client.post(at, files=parts),
            await client.get(at, params=values),
        ):
            assert answer.status_code == 200, answer.text
        assert (await client.post(at, content=b"a", headers={"content-type": "text/plain"})).status_code == 400
        assert (await client.get(at.replace(server.token, "123456:wrong"), params=values)).status_code == 401
    assert len(server.accepted) == 4
