"""Which hosts machines may reach: the reads and the commands of it.

Layer: a door. It must not know what follows from the list.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter
from fastapi.responses import Response

from stead.domain.commands import AllowHost, Answer, DisallowHost
from stead.domain.events import Event, HostAllowed, HostDisallowed
from stead.domain.ids import HOME
from stead.domain.ports import Journal
from stead.web.commands import Ask, Behind
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = APIRouter(generate_unique_id_function=lambda route: route.name)


class AllowedHost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of hosts, and the folder whose machines may reach them."""

    host: str
    directory: str


@router.get("/egress/hosts", **operation(Page[AllowedHost]))
async def list_allowed_hosts(behind: Behind) -> Response:
    """Which hosts are allowed, by folder."""
    return Json(Page(await asyncio.to_thread(_allowed, behind.journal)))


@router.post("/egress/hosts", **operation(Answer, takes=AllowedHost))
async def allow_host(body: Annotated[AllowedHost, body_of(AllowedHost)], ask: Ask) -> Response:
    """Let machines that show a folder reach a host."""
    return await ask(AllowHost(body.host, body.directory))


@router.post("/egress/hosts/remove", **operation(Answer, takes=AllowedHost))
async def disallow_host(body: Annotated[AllowedHost, body_of(AllowedHost)], ask: Ask) -> Response:
    """Take that back; open connections are cut."""
    return await ask(DisallowHost(body.host, body.directory))


def _allowed(journal: Journal) -> tuple[AllowedHost, ...]:
    allowed: dict[AllowedHost, None] = {}
    for event in journal.events(session=HOME):
        match event:
            case Event(body=HostAllowed(host=host, directory=directory)):
                allowed[AllowedHost(host, directory)] = None
            case Event(body=HostDisallowed(host=host, directory=directory)):
                allowed.pop(AllowedHost(host, directory), None)
            case _:
                continue
    return tuple(sorted(allowed, key=lambda pair: (pair.directory, pair.host)))
