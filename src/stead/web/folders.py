"""Folders of this computer, to choose a workspace from, and what is in the workspace of a session.

Layer: a door. Names and texts are shown as they are; a model may have written them, so whoever shows them treats them
as data.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from stead.domain.folders import FileContent, FileListing, FolderListing
from stead.web.commands import Behind, Session
from stead.web.errors import Json
from stead.web.openapi import operation

router = APIRouter(generate_unique_id_function=lambda route: route.name)

_LONGEST = 4_096
Absolute = Annotated[str, Query(max_length=_LONGEST, pattern="^(/.*)?$", description="Absolute; empty for your home.")]
File = Annotated[
    str, Query(min_length=1, max_length=_LONGEST, description="From the workspace on, as a listing has it.")
]
Inside = Annotated[str, Query(max_length=_LONGEST, description="From the workspace on, as a listing has it.")]


@router.get("/folders", **operation(FolderListing))
async def list_folders(behind: Behind, path: Absolute = "") -> Response:
    """The folders in a folder of this computer, and which of them a session may work in."""
    return Json(await behind.service.looks.folders(path))


@router.get("/sessions/{session}/files", **operation(FileListing))
async def list_files(session: Session, behind: Behind, path: Inside = "") -> Response:
    """One level of a session's folder, as it is now. Changes on trial are not in it; see show_trial."""
    return Json(await behind.service.looks.files(session, path))


@router.get("/sessions/{session}/file", **operation(FileContent))
async def show_file(session: Session, behind: Behind, path: File) -> Response:
    """The text of a file of a session's folder, at most two megabytes of it; secrets are taken out."""
    return Json(await behind.service.looks.content(session, path))
