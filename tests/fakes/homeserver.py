"""A real Matrix homeserver, Synapse, on loopback; ``scripts/setup.sh`` makes it an environment of its own.

People who write to the bot are plain requests of the client-server API here: nothing of its library judges itself.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

PYTHON = Path(__file__).parents[2] / ".setup/homeserver/bin/python"
NAME = "stead.example.com"
STARTS_WITHIN_S = 180.0
_numbers = count(1)


class Homeserver:
    """A running one. ``port``, ``url``: of its client-server API."""

    def __init__(self, port: int) -> None:
        self.port, self.url = port, f"http://127.0.0.1:{port}"

    @asynccontextmanager
    async def person(self, name: str) -> AsyncIterator[Member]:
        """Somebody new, whose name nobody else has."""
        async with aiohttp.ClientSession(self.url) as http:
            wanted = {"username": f"{name}{next(_numbers)}", "password": "pw", "auth": {"type": "m.login.dummy"}}
            async with http.post("/_matrix/client/v3/register", json=wanted) as answer:
                told = await answer.json()
            assert answer.status == 200, told
            yield Member(http, told["user_id"], told["access_token"])


class Member:
    """Somebody on the server."""

    def __init__(self, http: aiohttp.ClientSession, id: str, token: str) -> None:
        self._http, self.id, self.token = http, id, token

    async def call(self, method: str, path: str, content: Any = None, *, raw: bytes | None = None) -> Any:
        """One request, which has to go well; ``raw`` is sent as it is."""
        body: dict[str, Any] = (
            {"data": io.BytesIO(raw)} if raw is not None else {"json": {} if content is None else content}
        )
        headers = {"Authorization": f"Bearer {self.token}"}
        if method == "GET":
            body = {}
        async with self._http.request(method, f"/_matrix/{path}", headers=headers, **body) as answer:
            data = await answer.read()
            assert answer.status == 200, data
            return json.loads(data) if answer.content_type == "application/json" else data

    async def room(self, *invited: str, **wanted: Any) -> str:
        """A new room, and invitations to it."""
        made = await self.call(
            "POST", "client/v3/createRoom", {"preset": "private_chat", "invite": list(invited), **wanted}
        )
        return str(made["room_id"])

    async def say(self, room: str, text: str = "", **content: Any) -> str:
        """Send a message; gives its id."""
        return await self.put(room, "m.room.message", {"msgtype": "m.text", "body": text, **content})

    async def put(self, room: str, kind: str, content: dict[str, Any]) -> str:
        """Send any event; gives its id."""
        path = f"client/v3/rooms/{room}/send/{kind}/t{next(_numbers)}"
        return str((await self.call("PUT", path, content))["event_id"])

    async def state(self, room: str, kind: str, content: dict[str, Any], key: str = "") -> None:
        """Set a part of the room's state."""
        await self.call("PUT", f"client/v3/rooms/{room}/state/{kind}/{key}", content)

    async def messages(self, room: str) -> list[dict[str, Any]]:
        """The room's latest messages of others, in order; of edits what they made of it is in the message itself."""
        found = await self.call("GET", f"client/v3/rooms/{room}/messages?dir=b&limit=500")
        return [
            one
            for one in reversed(found["chunk"])
            if one["type"] == "m.room.message" and one["sender"] != self.id and "body" in one["content"]
        ]

    async def joined(self, room: str) -> set[str]:
        """Who is in the room."""
        return set((await self.call("GET", f"client/v3/rooms/{room}/joined_members"))["joined"])

    async def until_joined(self, room: str, who: str, there: bool = True) -> None:
        """Wait until somebody is in the room, or is not any more."""
        async with asyncio.timeout(60):
            since = ""
            while (who in await self.joined(room)) != there:
                told = await self.call("GET", f"client/v3/sync?timeout=5000{since}")
                since = f"&since={told['next_batch']}"


@contextmanager
def homeserver(folder: Path) -> Iterator[Homeserver]:
    """Start one that knows nobody, and end it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    config = folder / "homeserver.yaml"
    config.write_text(json.dumps(_config(folder, port)))  # JSON is YAML
    log = folder / "output"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [PYTHON, "-m", "synapse.app.homeserver", "--config-path", config], stdout=output, stderr=output, cwd=folder
        )
        try:
            asyncio.run(_answers(process, port, log))
            yield Homeserver(port)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@cache
def shared_homeserver() -> Homeserver:
    """One for all that is asked of it in this process: it takes long to start. It ends with the process."""
    held = ExitStack()
    atexit.register(held.close)
    folder = held.enter_context(tempfile.TemporaryDirectory(prefix="homeserver"))
    return held.enter_context(homeserver(Path(folder)))


async def _answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    async with asyncio.timeout(STARTS_WITHIN_S), aiohttp.ClientSession() as http:
        while True:
            assert process.poll() is None, log.read_text()[-3000:]
            try:
                async with http.get(f"http://127.0.0.1:{port}/health") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                await asyncio.sleep(0.2)  # nothing tells when it listens


def _config(folder: Path, port: int) -> dict[str, Any]:
    open_wide = {"per_second": 10_000, "burst_count": 10_000}
    limits = ("message", "registration", "joins", "joins_per_room", "invites", "login", "room_creation", "media_create")
    return {
        "server_name": NAME,
        "listeners": [
            {"port": port, "type": "http", "bind_addresses": ["127.0.0.1"], "resources": [{"names": ["client"]}]}
        ],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "db")}},
        "media_store_path": str(folder / "media"),
        "pid_file": str(folder / "pid"),
        "signing_key": f"ed25519 a_test {base64.b64encode(os.urandom(32)).decode().rstrip('=')}",
        "macaroon_secret_key": "only of this test",
        "form_secret": "only of this test",
        "trusted_key_servers": [],
        "suppress_key_server_warning": True,
        "federation_domain_whitelist": [],
        "report_stats": False,
        "enable_registration": True,
        "enable_registration_without_verification": True,
        "bcrypt_rounds": 4,
        "max_upload_size": "20M",
        "presence": {"enabled": False},
        "url_preview_enabled": False,
        **{f"rc_{name}": open_wide for name in limits if name not in ("joins", "invites", "login")},
        "rc_joins": {"local": open_wide, "remote": open_wide},
        "rc_invites": {"per_room": open_wide, "per_user": open_wide, "per_issuer": open_wide},
        "rc_login": {"address": open_wide, "account": open_wide, "failed_attempts": open_wide},
    }


if __name__ == "__main__":  # to try by hand: python -m tests.fakes.homeserver FOLDER
    with homeserver(Path(sys.argv[1])) as server:
        print(server.url, flush=True)
        signal.pause()
