"""Ada's room with a bot on Matrix: a real homeserver, behind a port whose connections can be dropped for the bot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import quote

from tests.fakes.gate import Gate, gate
from tests.fakes.homeserver import Member, shared_homeserver
from tests.flows.places import Aside, Place, aside

_FILTER = quote(json.dumps({"room": {"timeline": {"limit": 1000}}}))


class _Room:
    """What Ada sees in her room: she syncs as any client does."""

    def __init__(self, ada: Member, bot: Member, room: str, port: Gate) -> None:
        self.ada, self.bot, self.room, self.gate = ada, bot, room, port
        self.said: dict[str, dict[str, Any]] = {}
        """The content of what others sent by its id, as it stands."""

    async def watch(self) -> None:
        since = ""
        while True:
            told = await self.ada.call("GET", f"client/v3/sync?timeout=30000&filter={_FILTER}{since}")
            since = f"&since={told['next_batch']}"
            timeline = told.get("rooms", {}).get("join", {}).get(self.room, {}).get("timeline", {"events": ()})
            assert not (since and timeline.get("limited")), "more came at once than is asked for"
            for event in timeline["events"]:
                if event["type"] == "m.room.message" and event["sender"] != self.ada.id:
                    content = event["content"]
                    relation = content.get("m.relates_to", {})
                    if relation.get("rel_type") == "m.replace":
                        self.said[relation["event_id"]] = content["m.new_content"]
                    else:
                        self.said[event["event_id"]] = content

    async def writes(self, content: dict[str, Any]) -> None:
        await self.ada.until_joined(self.room, self.bot.id)
        await self.ada.say(self.room, **content)

    async def sends(self, name: str, data: bytes, words: str) -> None:
        made = await self.ada.call("POST", f"media/v3/upload?filename={name}", raw=data)
        about = {"url": made["content_uri"], "filename": name, "info": {"mimetype": "text/plain", "size": len(data)}}
        await self.writes({"text": words, "msgtype": "m.file", **about})

    async def download(self, address: str) -> bytes:
        data: bytes = await self.ada.call("GET", f"client/v1/media/download/{address.removeprefix('mxc://')}")
        return data


class MatrixPlace(Place):
    """See ``Place``."""

    def __init__(self, served: Aside[_Room]) -> None:
        room = served.server
        settings = {"homeserver": f"http://127.0.0.1:{room.gate.port}", "user": room.bot.id}
        super().__init__("matrix", {"token": room.bot.token}, settings, answering="code", gates=[room.gate])
        self._served, self._room = served, room

    def writes(self, text: str) -> None:
        self._served.wait(self._room.writes({"text": text}))

    def sends(self, name: str, data: bytes, words: str) -> None:
        self._served.wait(self._room.sends(name, data, words))

    def _said(self) -> list[dict[str, Any]]:
        return self._served.run(lambda: list(self._room.said.values()))

    def sent(self) -> list[str]:
        return [one["body"] for one in self._said() if one["msgtype"] == "m.text"]

    def files(self) -> list[bytes]:
        return [self._served.wait(self._room.download(one["url"])) for one in self._said() if "url" in one]

    def cut(self) -> None:
        self._served.run(self._room.gate.cut)

    def revokes(self) -> None:
        self._served.wait(self._room.bot.call("POST", "client/v3/logout"))

    def renews(self) -> Mapping[str, str]:
        wanted = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": self._room.bot.id}}
        given = self._served.wait(self._room.bot.call("POST", "client/v3/login", wanted | {"password": "pw"}))
        return {"token": given["access_token"]}


@asynccontextmanager
async def _served() -> AsyncIterator[_Room]:
    server = shared_homeserver()
    async with server.person("bot") as bot, server.person("ada") as ada, gate(server.port) as port:
        room = _Room(ada, bot, await ada.room(bot.id, is_direct=True), port)
        watching = asyncio.create_task(room.watch())
        try:
            yield room
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching


@contextmanager
def place() -> Iterator[Place]:
    """A room of its own on a homeserver that is started once."""
    shared_homeserver()
    with aside(_served) as served:
        yield MatrixPlace(served)
