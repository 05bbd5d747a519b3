"""The commands and reads as one FastAPI application, with its OpenAPI document.

Layer: a door. Importing FastAPI costs more CPU than the rest of the daemon's start together, so ``app.py`` imports this
module when it is first needed, and nothing else does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from stead import __version__
from stead.web import (
    audit,
    commands,
    directives,
    egress,
    folders,
    forgetting,
    memories,
    rules,
    search,
    secrets,
    services,
    session_work,
    sessions,
    terminals,
    trial,
    views,
)
from stead.web.backend import Backend
from stead.web.errors import HANDLERS, Json, Problem, answer
from stead.web.live import Streams
from stead.web.openapi import document


def build_api(backend: Backend, streams: Streams) -> FastAPI:
    """The application below ``/api/v1``."""
    api = _routes()
    api.state.backend = backend
    api.state.streams = streams
    api.state.carrier = commands.Carrier(backend.service, backend.pace.command_s)
    api.state.audit_turn = asyncio.Lock()
    text = document(api, [preset.name for preset in backend.presets])

    @api.get("/openapi.json", include_in_schema=False)
    async def show_document() -> Response:
        return Json(text)

    return api


def describe(presets: Sequence[str]) -> bytes:
    """The OpenAPI document of a daemon that knows these providers by name, without one that runs."""
    return document(_routes(), presets)


def _routes() -> FastAPI:
    api = FastAPI(
        title="Stead",
        version=__version__,
        description="One self-hosted agent: give it goals, watch it work, answer what it asks.",
        servers=[{"url": "/api/v1"}],
        root_path_in_servers=False,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        exception_handlers={**HANDLERS, RequestValidationError: _on_parameters},
    )
    work = (sessions, session_work, folders, terminals, services)
    parts = (views, audit, commands, *work, secrets, trial, egress, rules, search, directives, forgetting, memories)
    api.router.routes += [route for part in parts for route in part.router.routes]
    return api


async def _on_parameters(request: Request, error: Exception) -> Response:
    """Answer for a path, a query or a header that does not fit; a path that cannot exist is simply not there."""
    assert isinstance(error, RequestValidationError)
    flaw = error.errors()[0]
    where, name = flaw["loc"][0], flaw["loc"][-1]
    if where == "path":
        return answer(Problem(404, "not_found", f"there is no {name} {flaw['input']!r}; list what there is"))
    return answer(Problem(400, "invalid", f"{where} {name!r}: {flaw['msg']}; see /api/v1/openapi.json"))
