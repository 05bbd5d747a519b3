"""Forgetting for good, through the door: what it would take away, that it be done, and proof that it was.

Layer: a door. It must not know where words stand; they go down, and come back up nowhere.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi.responses import Response

from stead.domain.events import Event
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import Preview
from stead.domain.memory import MEMORY
from stead.domain.memory_events import ForgetReceipt, MemoryForgotten
from stead.web.backend import Backend
from stead.web.commands import Behind, CommandRouter
from stead.web.errors import Json
from stead.web.openapi import body_of, operation

router = CommandRouter()


class WantedForgotten(Forget, frozen=True, tag=False, forbid_unknown_fields=True):
    """What is to be forgotten for good."""


class WantedGone(Forget, frozen=True, tag=False, forbid_unknown_fields=True):
    """Likewise, to be looked at first; ``nearly``: words that are nearly said, instead of all else."""

    nearly: str = ""


class ForgetReceiptRow(msgspec.Struct, frozen=True):
    """A receipt, and when it was signed."""

    ended_ms: int
    receipt: ForgetReceipt


class ForgetReceipts(msgspec.Struct, frozen=True):
    """All receipts, newest first, and the public key (Ed25519, hex) that they are signed with."""

    items: tuple[ForgetReceiptRow, ...]
    public_key: str


@router.get("/memories/receipts", **operation(ForgetReceipts))
async def list_forget_receipts(behind: Behind) -> Response:
    """Proof of everything that was forgotten, newest first, and the key by which it is verified."""
    receipts, key = await asyncio.to_thread(_receipts, behind)
    return Json(ForgetReceipts(receipts, key))


@router.post("/memories/forget/preview", **operation(Preview, takes=WantedGone))
async def preview_forgetting(body: Annotated[WantedGone, body_of(WantedGone)], behind: Behind) -> Response:
    """What would be forgotten, and where it stands; nothing is done."""
    forgetting = behind.service.memory.whole.forgetting
    if body.nearly:
        return Json(await forgetting.near(body.nearly))
    return Json(await forgetting.preview(Forget(body.memories, body.events, body.words, body.match)))


router.command("/memories/forget", "forget_memories", Forget, WantedForgotten)


def _receipts(behind: Backend) -> tuple[tuple[ForgetReceiptRow, ...], str]:
    rows = [
        ForgetReceiptRow(event.ts_ms, event.body.receipt)
        for event in behind.journal.events(session=MEMORY)
        if isinstance(event, Event) and isinstance(event.body, MemoryForgotten)
    ]
    return tuple(reversed(rows)), behind.service.memory.whole.forgetting.public_key()
