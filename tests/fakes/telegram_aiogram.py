"""A second client of the Bot API: aiogram, which types every answer; run by a Python that has it.

``telegram_aiogram.py ADDRESS TOKEN`` does what a bot does and prints what it got as a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiogram import Bot  # type: ignore[import-not-found]  # it is in an environment of its own
from aiogram.client.session.aiohttp import AiohttpSession  # type: ignore[import-not-found]
from aiogram.client.telegram import TelegramAPIServer  # type: ignore[import-not-found]
from aiogram.exceptions import TelegramAPIError  # type: ignore[import-not-found]
from aiogram.types import (  # type: ignore[import-not-found]
    BufferedInputFile,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
)


async def main(address: str, token: str) -> dict[str, Any]:
    """Ask for updates, answer them in every way, and do what is refused."""
    session = AiohttpSession(api=TelegramAPIServer.from_base(address))
    async with Bot(token, session=session) as bot:
        me = await bot.get_me()
        updates = await bot.get_updates(offset=None, timeout=1, allowed_updates=["message", "callback_query"])
        await bot.get_updates(offset=updates[-1].update_id + 1, timeout=0)
        (document,) = [one.message.document for one in updates if one.message and one.message.document]
        buttons = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="Yes", callback_data="yes")]])
        sent = await bot.send_message(
            42, "Delete it?", reply_markup=buttons, link_preview_options=LinkPreviewOptions(is_disabled=True)
        )
        file = await bot.get_file(document.file_id)
        brought = await bot.download_file(file.file_path)
        (press,) = [one.callback_query for one in updates if one.callback_query]
        found = {
            "me": me.username,
            "texts": [one.message.text for one in updates if one.message],
            "threads": [one.message.message_thread_id for one in updates if one.message],
            "marks": [one.message.entities[0].type for one in updates if one.message and one.message.entities],
            "press": [press.data, press.message.message_id],
            "answered": await bot.answer_callback_query(press.id, text="kept"),
            "edited": (await bot.edit_message_text("Deleted.", chat_id=42, message_id=sent.message_id)).text,
            "document": (await bot.send_document(42, BufferedInputFile(b"a plan", "plan.txt"))).document.file_name,
            "photo": len((await bot.send_photo(42, BufferedInputFile(b"png", "a.png"), caption="see")).photo),
            "typing": await bot.send_chat_action(42, "typing"),
            "brought": brought.read().decode(),
        }
        found["refused"] = [
            await _refusal(bot.send_message(42, "x" * 4097)),
            await _refusal(bot.send_message(77, "hello")),
            await _refusal(bot.answer_callback_query(press.id)),
            await _refusal(bot.send_message(42, "fails", message_thread_id=9)),
        ]
        for _ in range(2):
            found["refused"].append(await _refusal(bot.send_message(43, "now")))
    return found


async def _refusal(request: Any) -> str:
    try:
        await request
    except TelegramAPIError as error:
        return f"{type(error).__name__} {getattr(error, 'retry_after', '')}".strip()
    return ""


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
