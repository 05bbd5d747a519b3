"""Which hosts machines may reach: the reads and the commands of it.

Layer: a door. It must not know what follows from the list.
"""

from __future__ import annotations

import asyncio

import msgspec
from fastapi.responses import Response

from stead.domain.commands import AllowHost, DisallowHost
from stead.domain.events import Event, HostAllowed, HostDisallowed
from stead.domain.ids import HOME
from stead.domain.ports import Journal
from stead.domain.registries import spelled_out
from stead.web.commands import Behind, CommandRouter
from stead.web.errors import Json
from stead.web.openapi import operation
from stead.web.views import Page

router = CommandRouter()


class AllowedHost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of hosts, and the folder whose machines may reach them."""

    host: str
    directory: str


class HostToAllow(AllowedHost, frozen=True, forbid_unknown_fields=True):
    """The same, and for ``registries`` whether grants outlast reading from them."""

    grants_last: bool = False


class AllowedRow(HostToAllow, frozen=True):
    """The same, and the hosts that it stands for."""

    hosts: tuple[str, ...] = ()


@router.get("/egress/hosts", **operation(Page[AllowedRow]))
async def list_allowed_hosts(behind: Behind) -> Response:
    """Which hosts are allowed, by folder."""
    return Json(Page(await asyncio.to_thread(_allowed, behind.journal)))


router.command("/egress/hosts", "allow_host", AllowHost, HostToAllow)
router.command("/egress/hosts/remove", "disallow_host", DisallowHost, AllowedHost)


def _allowed(journal: Journal) -> tuple[AllowedRow, ...]:
    allowed: dict[tuple[str, str], AllowedRow] = {}
    for event in journal.events(session=HOME):
        match event:
            case Event(body=HostAllowed(host=host, directory=directory, grants_last=lasts)):
                allowed[directory, host] = AllowedRow(host, directory, lasts, spelled_out([host]))
            case Event(body=HostDisallowed(host=host, directory=directory)):
                allowed.pop((directory, host), None)
            case _:
                continue
    return tuple(allowed[key] for key in sorted(allowed))
