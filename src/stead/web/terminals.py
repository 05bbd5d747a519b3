"""The person's terminals: listed, opened, resized and closed. What is typed and printed goes over a WebSocket.

Layer: a door. ``terminal_sockets.py`` has the WebSocket.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path
from fastapi.responses import Response

from stead.domain.commands import Answer, CloseTerminal, OpenTerminal
from stead.domain.terminals import MOST_COLUMNS, MOST_ROWS, TerminalRow
from stead.web.commands import Ask, Behind, Nothing, Session
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = APIRouter(generate_unique_id_function=lambda route: route.name)

TerminalId = Annotated[str, Path(pattern=r"^t_[0-9a-f]{16}$")]
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


@router.post("/sessions/{session}/terminals", **operation(Answer, takes=Size, status=201))
async def open_terminal(session: Session, body: Annotated[Size, body_of(Size)], ask: Ask) -> Response:
    """Open a terminal in a session's folder, in a sandbox like the session's; the answer's text is its id."""
    return await ask(OpenTerminal(session, body.rows, body.columns), 201)


@router.post("/sessions/{session}/terminals/{terminal}/close", **operation(Answer, takes=Nothing))
async def close_terminal(
    session: Session, terminal: TerminalId, body: Annotated[Nothing, body_of(Nothing)], ask: Ask
) -> Response:
    """End a terminal, with everything that runs in it."""
    return await ask(CloseTerminal(session, terminal))


@router.post("/sessions/{session}/terminals/{terminal}/resize", **operation(TerminalRow, takes=Size))
async def resize_terminal(
    session: Session, terminal: TerminalId, body: Annotated[Size, body_of(Size)], behind: Behind
) -> Response:
    """Tell a terminal how large it is now; it is as large as the last page said."""
    found = await behind.service.terminals.terminal(session, terminal)
    await found.resize(body.rows, body.columns)
    return Json(found.row)
