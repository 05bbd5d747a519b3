"""The work of a session: its queue of calls, its files and their checkpoints.

Layer: a door. Diffs and arguments are shown as they are; a model wrote them, so whoever shows them treats them as data.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import Path, Query
from fastapi.responses import Response

from stead.domain.checkpoints import FileChange
from stead.domain.commands import (
    CancelCall,
    EditCall,
    RestoreCheckpoint,
    RetryCall,
    TakeCheckpoint,
    UndoEdit,
)
from stead.domain.ids import CallKey, CheckpointId
from stead.domain.work_rows import CallRow, CheckpointRow, EditRow
from stead.web.commands import Behind, CommandRouter, Session
from stead.web.errors import Json
from stead.web.openapi import operation
from stead.web.views import Page

Key = Annotated[CallKey, Path(pattern=r"^call_[0-9]{1,18}_[0-9]{1,18}$")]
Checkpoint = Annotated[CheckpointId, Path(pattern=r"^k_[0-9a-f]{16}$")]
router = CommandRouter(call=Key, checkpoint=Checkpoint, session=Session)
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


router.command("/sessions/{session}/calls/{call}/edit", "edit_call", EditCall, OwnArguments)
router.command("/sessions/{session}/calls/{call}/cancel", "cancel_call", CancelCall, CancelReason)
router.command("/sessions/{session}/calls/{call}/retry", "retry_call", RetryCall)


# -- files ----------------------------------------------------------------------------------------------------------


@router.get("/sessions/{session}/checkpoints", **operation(Page[CheckpointRow]))
async def list_checkpoints(session: Session, behind: Behind) -> Response:
    """Its checkpoints, oldest first."""
    return Json(Page(await behind.service.work.checkpoints(session)))


router.command("/sessions/{session}/checkpoints", "take_checkpoint", TakeCheckpoint, Note)
router.command("/sessions/{session}/checkpoints/{checkpoint}/restore", "restore_checkpoint", RestoreCheckpoint, Restore)


@router.get("/sessions/{session}/diff", **operation(Page[FileChange]))
async def show_differences(session: Session, behind: Behind, old: Moment = "", new: Moment = "") -> Response:
    """What differs between two checkpoints: from the first one, and to the folder as it is now, where none is named."""
    return Json(Page(await behind.service.work.differences(session, old, new)))


@router.get("/sessions/{session}/changes", **operation(Page[EditRow]))
async def list_changes(session: Session, behind: Behind) -> Response:
    """The files that its calls changed by name, oldest first, each with its diff."""
    return Json(Page(await behind.service.work.edits(session)))


router.command("/sessions/{session}/changes/{call}/undo", "undo_edit", UndoEdit, Undo)
