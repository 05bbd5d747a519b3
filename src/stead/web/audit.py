"""What an auditor reads, and the one thing that is done for one: a head is signed.

Layer: a door. Reading blocks, so it is done in threads; a check of the whole journal is done for one caller at a time.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from stead.domain.audit import AuditReport, Decision, Head
from stead.domain.ids import SessionId
from stead.web.commands import Behind, Nothing
from stead.web.errors import Json
from stead.web.live import SEQ_MAX
from stead.web.openapi import body_of, operation
from stead.web.views import Cursor, Limit, Page

router = APIRouter(generate_unique_id_function=lambda route: route.name)


@router.get("/audit", **operation(Page[Decision]))
async def list_decisions(
    behind: Behind,
    session: Annotated[str, Query(pattern=r"^(s_[0-9a-f]{16})?$")] = "",
    verdict: Literal["allow", "ask", "deny", ""] = "",
    call: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$", description="A call's key.")] = "",
    after: Cursor = "",
    limit: Limit = 50,
) -> Response:
    """Verdicts on calls, newest first: what, why, by which rule, who approved it, through which door."""
    rows, next_cursor = await asyncio.to_thread(
        behind.decisions.page,
        session=SessionId(session) if session else None,
        verdict=verdict,
        call=call,
        before=int(after or 0),
        limit=limit,
    )
    return Json(Page(tuple(rows), next_cursor))


@router.get("/audit/decisions/{seq}", **operation(Decision))
async def show_decision(seq: Annotated[int, Path(ge=1, lt=SEQ_MAX)], behind: Behind) -> Response:
    """The verdict that one event is."""
    return Json(await asyncio.to_thread(behind.decisions.decision, seq))


@router.get("/audit/head", **operation(Head))
async def show_head(behind: Behind) -> Response:
    """The newest signed head of the journal."""
    return Json(await asyncio.to_thread(behind.audit.last))


@router.post("/audit/head", **operation(Head, takes=Nothing))
async def sign_head(body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Sign a head over all events that there are now; without new ones, the newest head again."""
    return Json(await behind.audit.sign())


@router.get("/audit/verify", **operation(AuditReport))
async def verify_journal(request: Request, behind: Behind) -> Response:
    """Check the whole journal. A large one takes longer than a request may: stead audit verify has no such limit."""
    turn: asyncio.Lock = request.app.state.audit_turn
    async with turn:
        return Json(await asyncio.to_thread(behind.audit.verify))
