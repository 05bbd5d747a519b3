"""The engine that searches the web, through the door: a key comes in with one request and goes out with none.

Layer: a door. It must not know what an engine is asked.
"""

from __future__ import annotations

from typing import Annotated

from fastapi.responses import Response

from stead.domain.commands import RemoveSearch, SetSearch
from stead.runtime.searching import SearchCheck, SearchSetup
from stead.web.commands import Behind, CommandRouter, Nothing
from stead.web.errors import Json
from stead.web.openapi import body_of, operation

router = CommandRouter()


class NewSearch(SetSearch, frozen=True, tag=False, forbid_unknown_fields=True):
    """An engine, where it is ("" for its own address), and its key on the way into the vault ("" keeps it)."""


@router.get("/web-search", **operation(SearchSetup))
async def show_web_search(behind: Behind) -> Response:
    """Which engine searches the web; "" when none does."""
    return Json(await behind.service.search_setup())


router.command("/web-search", "set_web_search", SetSearch, NewSearch)
router.command("/web-search", "remove_web_search", RemoveSearch, None, method="DELETE")


@router.post("/web-search/test", **operation(SearchCheck, takes=Nothing))
async def check_web_search(body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Send the engine one real search."""
    return Json(await behind.service.check_search())
