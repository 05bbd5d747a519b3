"""Changes of sessions that wait for the person: looked at, and decided on.

Layer: a door. It must not know where they are kept; what is shown of them was written by a machine and is data.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query
from fastapi.responses import Response

from stead.domain.commands import Answer, ApplyTrial, DiscardTrial
from stead.domain.rows import ObjectiveRow
from stead.domain.trials import Choice, Stay, Trial
from stead.web.commands import Ask, Behind, CommandRouter, Session
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = CommandRouter(session=Session)


@router.get("/reviews", **operation(Page[ObjectiveRow]))
async def list_reviews(behind: Behind) -> Response:
    """Objectives and sessions with changes that wait for the person, the latest first; goals are left out."""
    return Json(Page(tuple(await asyncio.to_thread(behind.views.reviews))))


@router.get("/objectives/{session}/trial", **operation(Trial))
async def show_trial(session: Session, behind: Behind, path: Annotated[str, Query(max_length=4096)] = "") -> Response:
    """What of an objective or session waits, with diffs as far as there is room, or in full below a path; else 404."""
    return Json(await behind.service.trial(session, path))


@router.get("/objectives/{session}/stays", **operation(Page[Stay]))
async def list_stays(session: Session, behind: Behind) -> Response:
    """What tools made in the sandbox of an objective's or session's folder (packages, caches), and stays there."""
    return Json(Page(await behind.service.stays(session)))


@router.post("/objectives/{session}/trial/apply", **operation(Answer, takes=Choice))
async def apply_trial(session: Session, body: Annotated[Choice, body_of(Choice)], ask: Ask) -> Response:
    """Let changes into the folder. The event ``trial.applied`` names what was held back, and why."""
    return await ask(ApplyTrial(session, body))


router.command("/objectives/{session}/trial/discard", "discard_trial", DiscardTrial)
