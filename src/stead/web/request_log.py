"""The door's request log: one line of JSON for each request, without anything that was asked or answered.

Layer: a door. It says which route was asked for, never the path itself: ids, names and queries are in those.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import time
from pathlib import Path

from starlette.types import Message, Receive, Scope, Send

from stead.web.auth import Caller, is_api
from stead.web.server import Served

BYTES = 5_000_000
_LIVE = ("/api/v1/status", "/api/v1/events/stream", "/api/v1/live")


class RequestLog:
    """An application with a log of what it is asked; wraps the whole door.

    Args:
        app: the door.
        path: the file; three older ones of ``BYTES`` are kept.
    """

    def __init__(self, app: Served, path: Path) -> None:
        self._app = app
        self._log = logging.Logger("requests")
        self._log.addHandler(
            logging.handlers.RotatingFileHandler(path, maxBytes=BYTES, backupCount=3, encoding="utf-8")
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or WebSocket; its line is written when it has ended."""
        began, status, size_bytes = time.monotonic(), 0, 0

        async def counted(message: Message) -> None:
            nonlocal status, size_bytes
            status = message.get("status", 101 if message["type"] == "websocket.accept" else status)
            size_bytes += len(message.get("body") or message.get("bytes") or message.get("text") or b"")
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            state = scope.get("state", {})
            caller = state.get("caller")
            line = {
                "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "method": scope.get("method", "WS")[:10],
                "route": state.get("route") or _route(scope["path"]),
                "status": status,
                "ms": round(1000 * (time.monotonic() - began), 1),
                "bytes": size_bytes,
                "door": caller.name if isinstance(caller, Caller) else "",
            }
            self._log.info(json.dumps(line))

    async def close_streams(self) -> None:
        """As of the door."""
        await self._app.close_streams()


def _route(path: str) -> str:
    """What is asked for outside the table of routes, as one of a few words."""
    if path in _LIVE:
        return path.removeprefix("/api/v1")
    return "unknown" if is_api(path) else "page"
