"""Sessions that people work in: opened, spoken to, held, forked, and looked at.

Layer: a door. What is asked for is decided below; ``session_work.py`` has the queue of calls and the files. Every route
takes the id of an objective too, where that means anything.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
from fastapi import Query, Request
from fastapi.responses import Response

from stead.domain.commands import (
    Answer,
    CloseSession,
    Delete,
    ForkSession,
    OpenSession,
    Pause,
    RaiseBudget,
    Resume,
    Revoke,
    SendMessage,
    SetPlan,
    Stop,
)
from stead.domain.context_rows import ContextRow
from stead.domain.events import Budget, Event, PlanStep
from stead.domain.rows import ObjectiveRow, ObjectiveStatus, StepRow
from stead.domain.work_rows import Watcher
from stead.runtime.story import told
from stead.web.commands import Ask, Behind, CommandRouter, Session, ToolName, Why
from stead.web.errors import Json
from stead.web.live import Streams
from stead.web.openapi import body_of, operation
from stead.web.views import Cursor, Limit, Page, Place, list_kind, list_steps

router = CommandRouter(session=Session)


# -- bodies ---------------------------------------------------------------------------------------------------------


class NewSession(OpenSession, frozen=True, tag=False, forbid_unknown_fields=True):
    """The folder to work in, and under which limits."""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person says. ``interrupt``: what is under way ends, and calls that have not begun do not run."""

    text: str
    interrupt: bool = False


class Fork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From where a fork goes on (0: from now), and in which folder ("": the same). See ``ForkSession``."""

    at: Annotated[int, msgspec.Meta(ge=0)] = 0
    directory: str = ""
    title: str = ""


class WantedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the plan."""

    title: str
    status: Literal["todo", "doing", "done", "skipped"] = "todo"


class WantedPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole plan as it is to be."""

    steps: tuple[WantedStep, ...]


class WantedBudget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the session may spend in all."""

    tokens: int | Literal["unlimited"]
    usd_micros: int | Literal["unlimited"]


_OF_SESSION = dict.fromkeys(
    (
        *("show_session", "list_session_steps", "send_session_message", "pause_session", "stop_session"),
        *("close_session", "fork_session", "set_plan", "raise_budget", "show_context", "list_watchers"),
        *("export_session", "list_checkpoints", "list_changes", "list_calls", "take_checkpoint"),
    ),
    "session=$response.body#/session",
)


# -- reading --------------------------------------------------------------------------------------------------------


@router.get("/sessions", **operation(Page[ObjectiveRow]))
async def list_sessions(
    behind: Behind, status: ObjectiveStatus | Literal[""] = "", after: Cursor = "", limit: Limit = 50
) -> Response:
    """Sessions that people work in, newest first."""
    return await list_kind(behind, "session", status, after, limit)


@router.get("/sessions/{session}", **operation(ObjectiveRow))
async def show_session(session: Session, behind: Behind) -> Response:
    """One session."""
    return Json(await asyncio.to_thread(behind.views.objective, session))


@router.get("/sessions/{session}/steps", **operation(Page[StepRow]))
async def list_session_steps(session: Session, behind: Behind, after: Place = 0, limit: Limit = 50) -> Response:
    """Its steps past an index, in order."""
    return await list_steps(session, behind, after, limit)


@router.get("/sessions/{session}/context", **operation(ContextRow))
async def show_context(session: Session, behind: Behind) -> Response:
    """What its next request would carry, part by part, and what that costs."""
    return Json(await behind.service.work.context(session))


@router.get("/sessions/{session}/watchers", **operation(Page[Watcher]))
async def list_watchers(session: Session, behind: Behind, request: Request) -> Response:
    """Who has it before their eyes, the longest first."""
    await asyncio.to_thread(behind.views.objective, session)
    live: Streams = request.app.state.streams
    return Json(Page(live.watchers.of(session)))


@router.get("/sessions/{session}/export", **operation({"type": "string"}, media_type="text/markdown"))
async def export_session(
    session: Session,
    behind: Behind,
    format: Annotated[Literal["markdown"], Query(description="The only one there is.")] = "markdown",
) -> Response:
    """The session as a story for people: who said what, which calls with what outcome, what changed."""
    await asyncio.to_thread(behind.views.objective, session)

    def render() -> bytes:
        events = behind.journal.events(session=session)
        return "".join(told(event for event in events if isinstance(event, Event))).encode()

    return Response(await asyncio.to_thread(render), media_type="text/markdown; charset=utf-8")


# -- commands -------------------------------------------------------------------------------------------------------


router.command("/sessions", "open_session", OpenSession, NewSession, status=201, leads_to=_OF_SESSION)
router.command("/sessions/{session}/messages", "send_session_message", SendMessage, Said)
router.command("/sessions/{session}/pause", "pause_session", Pause)
router.command("/sessions/{session}/resume", "resume_session", Resume)
router.command("/sessions/{session}/stop", "stop_session", Stop, Why)
router.command("/sessions/{session}/close", "close_session", CloseSession)
router.command("/sessions/{session}/delete", "delete_session", Delete)
router.command("/sessions/{session}/revoke", "revoke_in_session", Revoke, ToolName)
router.command("/sessions/{session}/fork", "fork_session", ForkSession, Fork, status=201)


@router.put("/sessions/{session}/plan", **operation(Answer, takes=WantedPlan))
async def set_plan(session: Session, body: Annotated[WantedPlan, body_of(WantedPlan)], ask: Ask) -> Response:
    """Put another plan in place of the one there is; the model is told."""
    return await ask(SetPlan(session, tuple(PlanStep(step.title, step.status) for step in body.steps)))


@router.post("/sessions/{session}/budget", **operation(Answer, takes=WantedBudget))
async def raise_budget(session: Session, body: Annotated[WantedBudget, body_of(WantedBudget)], ask: Ask) -> Response:
    """Let it spend this much in all from now on."""
    return await ask(RaiseBudget(session, Budget(body.tokens, body.usd_micros)))
