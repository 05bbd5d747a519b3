"""The work of a session: its queue of calls, its files and their checkpoints.

Layer: a door. Diffs and arguments are shown as they are; a model wrote them, so whoever shows them treats them as data.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from stead.domain.checkpoints import FileChange
from stead.domain.commands import (
    Answer,
    CancelCall,
    EditCall,
    RestoreCheckpoint,
    RetryCall,
    TakeCheckpoint,
    UndoEdit,
)
from stead.domain.ids import CallKey, CheckpointId
from stead.domain.work_rows import CallRow, CheckpointRow, EditRow
from stead.web.commands import Ask, Behind, Nothing, Session
from stead.web.errors import Json
from stead.web.openapi import body_of, operation
from stead.web.views import Page

router = APIRouter(generate_unique_id_function=lambda route: route.name)

Key = Annotated[CallKey, Path(pattern=r"^call_[0-9]{1,18}_[0-9]{1,18}$")]
Checkpoint = Annotated[CheckpointId, Path(pattern=r"^k_[0-9a-f]{16}$")]
Moment = Annotated[str, Query(pattern=r"^(k_[0-9a-f]{16})?$", description="A checkpoint.")]


# -- bodies ---------------------------------------------------------------------------------------------------------


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to remember a checkpoint by."""

    note: str = ""


class Restore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What goes back: files, conversation or both; with ``paths``, these files alone."""

    files: bool = True
    conversation: bool = True
    paths: tuple[str, ...] = ()


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which file, if the call changed several; ``again`` has the change back."""

    path: str = ""
    again: bool = False


class OwnArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a call is to run with: the text of a JSON object."""

    arguments: str


class CancelReason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why; the model reads it."""

    reason: str = ""


# -- the queue ------------------------------------------------------------------------------------------------------


@router.get("/sessions/{session}/calls", **operation(Page[CallRow]))
async def list_calls(session: Session, behind: Behind) -> Response:
    """The calls of the reply that is being worked off, in the model's order; none between replies."""
    return Json(Page(await behind.service.work.calls(session)))


@router.post("/sessions/{session}/calls/{call}/edit", **operation(Answer, takes=OwnArguments))
async def edit_call(
    session: Session, call: Key, body: Annotated[OwnArguments, body_of(OwnArguments)], ask: Ask
) -> Response:
    """Have a call run with other arguments: they are the person's, and so is the yes to them."""
    return await ask(EditCall(session, call, body.arguments))


@router.post("/sessions/{session}/calls/{call}/cancel", **operation(Answer, takes=CancelReason))
async def cancel_call(
    session: Session, call: Key, body: Annotated[CancelReason, body_of(CancelReason)], ask: Ask
) -> Response:
    """Take one call out of the queue, or stop it; the others go on."""
    return await ask(CancelCall(session, call, body.reason))


@router.post("/sessions/{session}/calls/{call}/retry", **operation(Answer, takes=Nothing))
async def retry_call(session: Session, call: Key, body: Annotated[Nothing, body_of(Nothing)], ask: Ask) -> Response:
    """Have a finished call run again."""
    return await ask(RetryCall(session, call))


# -- files ----------------------------------------------------------------------------------------------------------


@router.get("/sessions/{session}/checkpoints", **operation(Page[CheckpointRow]))
async def list_checkpoints(session: Session, behind: Behind) -> Response:
    """Its checkpoints, oldest first."""
    return Json(Page(await behind.service.work.checkpoints(session)))


@router.post("/sessions/{session}/checkpoints", **operation(Answer, takes=Note))
async def take_checkpoint(session: Session, body: Annotated[Note, body_of(Note)], ask: Ask) -> Response:
    """Keep files and conversation as they are now."""
    return await ask(TakeCheckpoint(session, body.note))


@router.post("/sessions/{session}/checkpoints/{checkpoint}/restore", **operation(Answer, takes=Restore))
async def restore_checkpoint(
    session: Session, checkpoint: Checkpoint, body: Annotated[Restore, body_of(Restore)], ask: Ask
) -> Response:
    """Go back; how things are now is kept first, so that restoring that undoes it."""
    return await ask(RestoreCheckpoint(session, checkpoint, body.files, body.conversation, body.paths))


@router.get("/sessions/{session}/diff", **operation(Page[FileChange]))
async def show_differences(session: Session, behind: Behind, old: Moment = "", new: Moment = "") -> Response:
    """What differs between two checkpoints: from the first one, and to the folder as it is now, where none is named."""
    return Json(Page(await behind.service.work.differences(session, old, new)))


@router.get("/sessions/{session}/changes", **operation(Page[EditRow]))
async def list_changes(session: Session, behind: Behind) -> Response:
    """The files that its calls changed by name, oldest first, each with its diff."""
    return Json(Page(await behind.service.work.edits(session)))


@router.post("/sessions/{session}/changes/{call}/undo", **operation(Answer, takes=Undo))
async def undo_edit(session: Session, call: Key, body: Annotated[Undo, body_of(Undo)], ask: Ask) -> Response:
    """Put a file back to what it was before a call changed it, or have the change back."""
    return await ask(UndoEdit(session, call, body.path, body.again))
