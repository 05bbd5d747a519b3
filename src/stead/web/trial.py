"""Changes on trial and things under quarantine: looked at, and decided on.

Layer: a door. It must not know where they are kept; what is shown of them was written by a machine and is data.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import Response

from stead.domain.commands import Answer, ApplyTrial, DiscardTrial, SettleQuarantined
from stead.domain.trials import Choice, Quarantined, Trial
from stead.web.commands import Ask, Behind, CommandRouter, Nothing, Session
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = CommandRouter(session=Session)

Item = Annotated[str, Path(pattern=r"^q_[0-9a-f]{16}$")]


@router.get("/objectives/{session}/trial", **operation(Trial))
async def show_trial(session: Session, behind: Behind, path: Annotated[str, Query(max_length=4096)] = "") -> Response:
    """What the objective changed, with diffs as far as there is room, or in full below a path; 404 for nothing."""
    return Json(await behind.service.trial(session, path))


@router.post("/objectives/{session}/trial/apply", **operation(Answer, takes=Choice))
async def apply_trial(session: Session, body: Annotated[Choice, body_of(Choice)], ask: Ask) -> Response:
    """Let changes into the folder. The event ``trial.applied`` names what was held back, and why."""
    return await ask(ApplyTrial(session, body))


router.command("/objectives/{session}/trial/discard", "discard_trial", DiscardTrial)


@router.get("/quarantine", **operation(Page[Quarantined]))
async def list_quarantined(behind: Behind) -> Response:
    """What was moved out of folders, oldest first."""
    return Json(Page(await behind.service.quarantined()))


@router.post("/quarantine/{item}/restore", **operation(Answer, takes=Nothing))
async def restore_quarantined(item: Item, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Put it back where it was; 409 when something else is there."""
    return await ask(SettleQuarantined(item, restore=True))


@router.delete("/quarantine/{item}", **operation(Answer))
async def remove_quarantined(item: Item, ask: Ask) -> Response:
    """Remove it for good."""
    return await ask(SettleQuarantined(item, restore=False))
