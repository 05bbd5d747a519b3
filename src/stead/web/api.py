"""The API below ``/api/v1``: the table of routes, served.

Layer: a door. ``routes.py`` says what a row is; the rows are in ``commands.py``, ``queries.py`` and
``memory_queries.py``.
"""

from __future__ import annotations

import asyncio
import functools

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stead.web.attachments import ATTACHMENT_ROUTES
from stead.web.backend import Backend
from stead.web.commands import COMMANDS
from stead.web.errors import Json, Problem, answer
from stead.web.exports import EXPORT_ROUTES
from stead.web.live import Streams
from stead.web.memory_queries import DIRECTIVE_ROUTES, MEMORY_ROUTES
from stead.web.openapi import document
from stead.web.queries import HOME_ROUTES, SESSION_ROUTES
from stead.web.remote import REMOTE_ROUTES
from stead.web.routes import Carrier, Context, Route, get

ROUTES = (
    *ATTACHMENT_ROUTES,
    *EXPORT_ROUTES,
    *SESSION_ROUTES,
    *HOME_ROUTES,
    *MEMORY_ROUTES,
    *DIRECTIVE_ROUTES,
    *REMOTE_ROUTES,
    *COMMANDS,
)


@functools.lru_cache(maxsize=1)  # it takes a third of a second, and every tab of the page reads it
def describe(presets: tuple[str, ...]) -> bytes:
    """The OpenAPI document of a daemon that knows these providers by name, without one that runs."""
    return document(ROUTES, presets)


class Api:
    """An ASGI application of every row of the table.

    Args:
        backend: what is behind the door.
        streams: the live streams of the door.
    """

    def __init__(self, backend: Backend, streams: Streams) -> None:
        self._backend = backend
        self._streams = streams
        self._carrier = Carrier(backend.service, backend.pace.command_s)
        self._verifying = asyncio.Lock()
        rows = (get("/openapi.json", "show_document", self._show_document), *ROUTES)
        self._paths: dict[str, dict[str, Route]] = {}
        # Words stand above where an id could: /memories/state is no memory.
        for route in sorted(rows, key=lambda route: "{" in route.path):
            self._paths.setdefault(route.path, {})[route.method] = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path = request.scope["path"].removeprefix("/api/v1")
        for methods in self._paths.values():
            found = next(iter(methods.values())).pattern.fullmatch(path)
            if found is None:
                continue
            if route := methods.get(request.method):
                request.scope["state"]["route"] = route.path
                context = Context(request, self._backend, self._streams, self._carrier, self._verifying)
                return await route.answer(context, found.groupdict())
            allowed = ", ".join(sorted(methods))
            text = f"{request.method} is not possible on {request.url.path!r}; possible: {allowed}"
            refused = answer(Problem(405, "method", text))
            refused.headers["allow"] = allowed
            return refused
        raise HTTPException(404)

    def _show_document(self, context: Context) -> Response:
        return Json(describe(tuple(preset.name for preset in context.behind.presets)))
