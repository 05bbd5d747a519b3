"""Files in and out of the door: what a message is to show, what a session showed, and any file of a session's folder.

Layer: a door. What is given out was made by strangers, a model or its programs: no answer here can run as a page. Only
pictures by their bytes are given out to be shown; SVG, which can hold scripts, is none. Everything else is a download.
"""

from __future__ import annotations

import asyncio
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta
from starlette.responses import Response

from stead.domain.attachments import MOST_UPLOAD_BYTES, media_type
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ids import SessionId
from stead.domain.messages import PDF, Attachment
from stead.web.routes import Content, Context, get, post

_NAME = Annotated[str, Meta(min_length=1, max_length=255)]
_DATA = Annotated[bytes, Meta(min_length=1, max_length=MOST_UPLOAD_BYTES)]
_PATH = Annotated[str, Meta(min_length=1, max_length=4096)]
_ANY = "application/octet-stream"
_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # the browser's own of a lone picture


async def upload_attachment(context: Context, name: _NAME, data: _DATA) -> Attachment:
    """Check and store a picture (PNG, JPEG, GIF, WebP) or a PDF document for a message to come.

    A message names it by ``content``, within a day. Large pictures are made smaller, and metadata are taken out.
    """
    return await context.behind.service.attachments.give(name, data)


async def show_attachment(context: Context, attachment: str) -> Response:
    """A picture to be shown, or a document to be saved, as a model got it."""
    data = await asyncio.to_thread(context.behind.service.attachments.load, attachment)
    kind = media_type(data)
    if not kind:
        raise NotFound(f"{attachment[:12]!r} is neither a picture nor a document")
    return _file(data, "document.pdf" if kind == PDF else "", kind)


async def download_file(context: Context, session: SessionId, path: _PATH, preview: bool = False) -> Response:
    """Any file of a session's folder, byte for byte; with ``preview`` to be shown, if it is a picture.

    Unlike the text of a file, it is not searched for secrets.
    """
    data = await context.behind.service.looks.whole(session, path)
    if not preview:
        return _file(data, path.rpartition("/")[2], _ANY)
    kind = media_type(data)
    if kind in ("", PDF):
        raise InvalidRequest(f"{path!r} is no picture that can be shown; download it")
    return _file(data, "", kind)


def _file(data: bytes, name: str, kind: str) -> Response:
    """``name``: of a download; "" for what is to be shown."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}" if name else "inline"
    headers = {"content-disposition": disposition, "content-security-policy": _NO_SCRIPT}
    return Response(data, media_type=kind, headers=headers)


ATTACHMENT_ROUTES = (
    post(
        "/attachments",
        "upload_attachment",
        upload_attachment,
        "NewAttachment",
        status=201,
        leads_to="$response.body#/content",
    ),
    get("/attachments/{attachment}", "show_attachment", show_attachment, gives=Content(str, _ANY)),
    get("/sessions/{session}/raw", "download_file", download_file, gives=Content(str, _ANY)),
)
