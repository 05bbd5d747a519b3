"""What a session looks like from outside: its queue, its files, its context.

Layer: runtime. Reads the folded state, which is ahead of every read model, and changes nothing.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from stead.brain import measuring
from stead.domain.checkpoints import FileChange
from stead.domain.context_rows import ContextRow
from stead.domain.errors import NotFound
from stead.domain.ids import CheckpointId, SessionId
from stead.domain.sessions import Mark, Session, kept
from stead.domain.work_rows import CallRow, CheckpointRow, EditRow, WaitingRow
from stead.runtime.deps import Deps
from stead.runtime.registry import Sessions


@dataclass(frozen=True)
class Overview:
    """Implements ``service.Work``."""

    deps: Deps
    sessions: Sessions

    async def calls(self, session: SessionId) -> tuple[CallRow, ...]:
        """See ``service.Work``."""
        state = await self.sessions.actor(session).state()
        return tuple(
            CallRow(call.key, call.tool, call.arguments, call.step, call.approval, bool(call.edited))
            for call in state.calls.values()
        )

    async def waiting(self, session: SessionId) -> tuple[WaitingRow, ...]:
        """See ``service.Work``."""
        state = await self.sessions.actor(session).state()
        return tuple(WaitingRow(number, message.text) for number, message in sorted(state.waiting.items()))

    async def checkpoints(self, session: SessionId) -> tuple[CheckpointRow, ...]:
        """See ``service.Work``."""
        state = await self.sessions.actor(session).state()
        return tuple(_row(session, mark) for mark in state.marks)

    async def edits(self, session: SessionId) -> tuple[EditRow, ...]:
        """See ``service.Work``."""
        state = await self.sessions.actor(session).state()
        return tuple(
            EditRow(edit.key, edit.turn, edit.seq, edit.ts_ms, edit.undone, edit.change) for edit in state.edits
        )

    async def differences(self, session: SessionId, old: str, new: str) -> tuple[FileChange, ...]:
        """See ``service.Work``."""
        state = await self.sessions.actor(session).state()
        roots = [_root(state, old), _root(state, new) if new else ""]
        return await self.deps.checkpoints.differences(state.spec.directory, state.spec.ignore, *roots)

    async def context(self, session: SessionId) -> ContextRow:
        """See ``service.Work``."""
        state = await self.sessions.actor(session).state()
        models = []
        for ref in state.spec.chain:
            with suppress(NotFound):  # its provider was removed
                models.append(await asyncio.to_thread(self.deps.models.info, ref))
        return measuring.context(state, self.deps.gate.offered(state.spec.tools), models)


def _root(state: Session, id: str) -> str:
    mark = kept(state, CheckpointId(id)) if id else next(iter(state.marks), None)
    if mark is None:
        named = f"there is no checkpoint {id!r}" if id else "nothing has changed yet, so there is no checkpoint"
        raise NotFound(f"{named}; see `stead session checkpoint --list`")
    return mark.root


def _row(session: SessionId, mark: Mark) -> CheckpointRow:
    taken = mark.taken
    return CheckpointRow(
        id=mark.id,
        session=session,
        turn=mark.turn,
        at=mark.at,
        seq=mark.seq,
        ts_ms=mark.ts_ms,
        why=taken.why,
        note=taken.note,
        files=taken.files,
        size_bytes=taken.size_bytes,
        changed=taken.changed,
        left_out_count=taken.left_out_count,
    )
