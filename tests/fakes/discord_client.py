"""discord.py at a Discord on loopback: answers a message with a button, a press by changing it.

``python discord_client.py BASE TOKEN`` prints a line of JSON for what it met, and ends with stdin.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from typing import Any

import yarl

sys.path.pop(0)  # beside this file stands a discord.py of ours
import discord
import discord.gateway
import discord.http


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


class Client(discord.Client):
    async def on_ready(self) -> None:
        assert self.user
        tell(me=str(self.user.id))

    async def on_resumed(self) -> None:
        tell(resumed=True)

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot:
            return
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Yes", custom_id="y1"))
        file = discord.File(io.BytesIO(b"abc"), "a.txt")
        sent = await message.channel.send(f"heard {message.content}", view=view, file=file)
        refused = 0
        try:
            await message.channel.send("x" * 2001)
        except discord.HTTPException as error:
            refused = error.code
        tell(message=message.content, id=str(sent.id), refused=refused)

    async def on_interaction(self, press: discord.Interaction) -> None:
        assert press.message and press.data
        await press.response.defer()
        await press.message.edit(content="done", view=None)
        await press.followup.send("thanks", ephemeral=True)
        tell(pressed=press.data.get("custom_id"), by=str(press.user.id))


async def main() -> None:
    base, token = sys.argv[1:]
    discord.http.Route.BASE = f"{base}/api/v10"
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"{base.replace('http', 'ws', 1)}/gateway")
    client = Client(intents=discord.Intents(guild_messages=True, dm_messages=True))
    running = asyncio.create_task(client.start(token))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await client.close()
    await running


asyncio.run(main())
