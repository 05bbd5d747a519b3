"""The services of sessions: listed, read, stopped and previewed.

Layer: a door. What a machine says of them, and what they print, is data. The preview itself is no part of this door: it
is served at a name of its own, which no cookie of the page reaches (``machines.previews``).
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Path
from fastapi.responses import Response

from stead.domain.services import NAME, ServiceLog, ServicePreview, ServiceRow
from stead.web.commands import Behind, CommandRouter, Nothing, Session
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

Name = Annotated[str, Path(pattern=NAME)]
router = CommandRouter(session=Session, service=Name)


class PreviewOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which port of a service; 0 for its lowest."""

    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 0


@router.get("/sessions/{session}/services", **operation(Page[ServiceRow]))
async def list_services(session: Session, behind: Behind) -> Response:
    """The services of a session's machine, in the order in which they were first started."""
    return Json(Page(await (await behind.service.services(session)).rows(session)))


@router.get("/sessions/{session}/services/{service}", **operation(ServiceLog))
async def show_service(session: Session, service: Name, behind: Behind) -> Response:
    """One service, and the last 64 KiB that it printed."""
    return Json(await (await behind.service.services(session)).log(session, service))


@router.post("/sessions/{session}/services/{service}/stop", **operation(ServiceLog, takes=Nothing))
async def stop_service(
    session: Session, service: Name, body: Annotated[Nothing, body_of(Nothing)], behind: Behind
) -> Response:
    """Kill all processes of a service; gives it as it ended. What it changed lands."""
    stopped, _ = await (await behind.service.services(session)).stop(session, service)
    return Json(stopped)


@router.post("/sessions/{session}/services/{service}/preview", **operation(ServicePreview, takes=PreviewOf))
async def preview_service(
    session: Session, service: Name, body: Annotated[PreviewOf, body_of(PreviewOf)], behind: Behind
) -> Response:
    """The URL at which a browser on this computer reaches a port of a service, until that ends. It is a secret."""
    return Json(await (await behind.service.services(session)).preview(session, service, body.port))
