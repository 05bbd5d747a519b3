"""The door as one ASGI application: the live routes, the page, and the API, behind the guard.

Layer: a door. The outer application is plain Starlette, so that a daemon is ready before FastAPI is imported; the API
joins it at its first request, or when ``warm`` is called.
"""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from stead.web.backend import Backend
from stead.web.envelopes import Encoded
from stead.web.errors import HANDLERS, Json, Problem, answer
from stead.web.guard import Guard
from stead.web.live import Streams
from stead.web.presence import Watchers

STATIC = Path(__file__).parent / "static"
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def create_app(backend: Backend) -> WebApp:
    """The door to this backend."""
    return WebApp(backend)


class WebApp:
    """An ASGI application that can be warmed up and told to end its streams.

    Args:
        backend: what is behind the door.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._streams = Streams(
            backend.journal,
            backend.service.bus,
            backend.auth,
            Encoded(backend.clock),
            backend.identity,
            backend.pace,
            Watchers(backend.service.bus, backend.clock),
        )
        self._api: ASGIApp | None = None
        self._making = asyncio.Lock()
        routes: list[BaseRoute] = [
            Route("/api/v1/status", self._status),
            Route("/api/v1/events/stream", self._streams.events),
            WebSocketRoute("/api/v1/live", self._streams.live),
            WebSocketRoute("/{path:path}", _no_socket),
            Mount("/api/v1", self._serve_api),
            *_page_routes(),
        ]
        outer = Starlette(routes=routes, exception_handlers=HANDLERS)
        outer.router.redirect_slashes = False
        self._guarded = Guard(outer, backend.auth, backend.pace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        await self._guarded(scope, receive, send)

    async def warm(self) -> None:
        """Import the API now, in a thread, so that nobody waits for it later."""
        async with self._making:
            if self._api is None:
                self._api = await asyncio.to_thread(self._import_api)

    async def close_streams(self) -> None:
        """End every live stream; the first step of leaving."""
        await self._streams.close()

    def _import_api(self) -> ASGIApp:
        from stead.web.api import build_api

        return build_api(self._backend, self._streams)

    async def _serve_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._api is None:
            await self.warm()
        assert self._api is not None
        await self._api(scope, receive, send)

    async def _status(self, request: Request) -> Response:
        return Json(await self._backend.service.readiness())


async def _no_socket(socket: WebSocket) -> None:
    told = Problem(404, "not_found", f"there is no WebSocket at {socket.url.path!r}; it is at /api/v1/live")
    await socket.send_denial_response(answer(told))


def _page_routes() -> list[BaseRoute]:
    """A route for each file of the page. They are few and small, and only what was there at the start is served."""
    routes: list[BaseRoute] = []
    for file in sorted(STATIC.rglob("*")):
        if file.is_file():
            name = file.relative_to(STATIC).as_posix()
            page = _Page(file.read_bytes(), _MEDIA_TYPES[file.suffix])
            routes.append(Route("/" if name == "index.html" else f"/{name}", page.serve))
    return routes


class _Page:
    """One file of the page; browsers keep it as long as it is the same."""

    def __init__(self, content: bytes, media_type: str) -> None:
        self._content = content
        self._media_type = media_type
        self._etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    async def serve(self, request: Request) -> Response:
        """The file, or that it has not changed."""
        headers = {"etag": self._etag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == self._etag:
            return Response(status_code=304, headers=headers)
        return Response(self._content, headers=headers, media_type=self._media_type)
