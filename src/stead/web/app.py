"""The door as one ASGI application: the live routes, the page, and the API, behind the guard.

Layer: a door.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from stead.web.api import Api
from stead.web.backend import Backend
from stead.web.envelopes import Identity
from stead.web.errors import HANDLERS, Json, Problem, answer
from stead.web.guard import Guard
from stead.web.live import Streams
from stead.web.pages import STATIC, Pages
from stead.web.terminal_sockets import TerminalSockets


def create_app(backend: Backend, page: Path = STATIC) -> WebApp:
    """The door to this backend. ``page``: the folder of the built page."""
    return WebApp(backend, Pages(page))


class WebApp:
    """An ASGI application that can be asked to end its streams.

    Args:
        backend: what is behind the door.
        pages: the page's files.
    """

    def __init__(self, backend: Backend, pages: Pages) -> None:
        self._backend = backend
        self._pages = pages
        self._streams = Streams(backend, self._identity)
        terminals = TerminalSockets(backend.service.terminals, self._streams)
        routes: list[BaseRoute] = [
            Route("/api/v1/status", self._status),
            Route("/api/v1/events/stream", self._streams.events),
            WebSocketRoute("/api/v1/live", self._streams.live),
            WebSocketRoute("/api/v1/sessions/{session}/terminals/{terminal}", terminals.serve),
            WebSocketRoute("/{path:path}", _no_socket),
            Route("/api/v1/{path:path}", Api(backend, self._streams)),
            Route("/{path:path}", pages),
        ]
        outer = Starlette(routes=routes, exception_handlers=HANDLERS)
        outer.router.redirect_slashes = False
        self._guarded = Guard(outer, backend.auth, backend.pace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        await self._guarded(scope, receive, send)

    async def close_streams(self) -> None:
        """End every live stream; the first step of leaving."""
        await self._streams.close()

    async def _status(self, request: Request) -> Response:
        readiness = await self._backend.service.readiness()
        return Json(msgspec.structs.replace(readiness, build=self._identity().build))

    def _identity(self) -> Identity:
        """Who is speaking; its build names the code and the page as they are now."""
        identity, page = self._backend.identity, self._pages.build()
        return msgspec.structs.replace(identity, build=f"{identity.build}+{page}") if page else identity


async def _no_socket(socket: WebSocket) -> None:
    problem = Problem(404, "not_found", f"there is no WebSocket at {socket.url.path!r}; it is at /api/v1/live")
    await socket.send_denial_response(answer(problem))
