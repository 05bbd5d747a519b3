"""Every page of the app, as a person's address line has it, with something to see on each."""

from __future__ import annotations

import re
from pathlib import Path

from tests.browser.stage import Stage

_PAGES = Path(__file__).parents[2] / "frontend" / "src" / "app" / "pages.ts"

ROUTES: dict[str, tuple[str, ...]] = {
    "/": ("/",),
    "/setup": ("/setup",),
    "/objectives": ("/objectives",),
    "/objectives/new": ("/objectives/new",),
    "/objectives/$id": ("/objectives/{done}", "/objectives/{waiting}", "/objectives/{paused}"),
    "/sessions": ("/sessions",),
    "/sessions/new": ("/sessions/new",),
    "/sessions/$id": ("/sessions/{desk}", "/sessions/{asking}"),
    "/approvals": ("/approvals",),
    "/approvals/$id": ("/approvals/{approval}",),
    "/audit": ("/audit",),
    "/audit/$seq": ("/audit/{decision}",),
    "/usage": ("/usage",),
    "/secrets": ("/secrets",),
    "/network": ("/network",),
    "/rules": ("/rules",),
    "/memories": (
        "/memories",
        "/memories?q=ferry",
        "/memories?view=told&q=ferry",
        "/memories?view=figures",
        "/memories?view=journal",
        "/memories?view=runs",
        "/memories?view=forgotten",
    ),
    "/directives": ("/directives",),
    "/schedules": ("/schedules",),
    "/channels": ("/channels",),
    "/settings": ("/settings",),
    "/search": ("/search?q=tides",),
    "/more/$name": ("/more/skills",),
}
"""Each route of the app with the addresses under which it is looked at; names in braces are those of ``seeds.some``."""

ADDRESSES = [(route, address) for route, addresses in ROUTES.items() for address in addresses]


def of_the_app() -> list[str]:
    """The routes that the app says it has."""
    return re.findall(r'^    path: "(.+)",$', _PAGES.read_text("utf-8"), re.MULTILINE)


def path(address: str, stage: Stage) -> str:
    """The address in this home."""
    return address.format(**stage.ids)
