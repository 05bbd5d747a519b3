"""The person's terminals: listed, opened, resized and closed. What is typed and printed goes over a WebSocket.

Layer: a door. ``terminal_sockets.py`` has the WebSocket.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Path
from fastapi.responses import Response

from stead.domain.commands import CloseTerminal, OpenTerminal
from stead.domain.terminals import MOST_COLUMNS, MOST_ROWS, TerminalRow
from stead.web.commands import Behind, CommandRouter, Session
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

TerminalId = Annotated[str, Path(pattern=r"^t_[0-9a-f]{16}$")]
router = CommandRouter(session=Session, terminal=TerminalId)
Rows = Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
Columns = Annotated[int, msgspec.Meta(ge=1, le=MOST_COLUMNS)]


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How large a terminal is."""

    rows: Rows
    columns: Columns


@router.get("/sessions/{session}/terminals", **operation(Page[TerminalRow]))
async def list_terminals(session: Session, behind: Behind) -> Response:
    """The person's terminals that are open in a session, oldest first."""
    return Json(Page(await behind.service.terminals.rows(session)))


router.command("/sessions/{session}/terminals", "open_terminal", OpenTerminal, Size, status=201)
router.command("/sessions/{session}/terminals/{terminal}/close", "close_terminal", CloseTerminal)


@router.post("/sessions/{session}/terminals/{terminal}/resize", **operation(TerminalRow, takes=Size))
async def resize_terminal(
    session: Session, terminal: TerminalId, body: Annotated[Size, body_of(Size)], behind: Behind
) -> Response:
    """Tell a terminal how large it is now; it is as large as the last page said."""
    found = await behind.service.terminals.terminal(session, terminal)
    await found.resize(body.rows, body.columns)
    return Json(found.row)
