"""What a person changed in the files of memory, as facts.

Layer: runtime. Used with the lock of the stream ``memory`` held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from stead.brain.memory_merging import Change, heir_of, new_memory
from stead.brain.remembering import corrected, normal
from stead.domain import events as ev
from stead.domain.errors import CallerError, NotFound
from stead.domain.memory import Memory, MemoryId, MemoryRow, Scope
from stead.domain.memory_events import MemoryFact
from stead.domain.sessions import PERSON
from stead.runtime.memories import Memories

DOOR = "mirror"
BOTH = "> Changed here and in Stead at once; both are kept. Delete the one that is wrong, and this line."
TAKEN_BACK = "> Changed here and taken back in Stead at once; your words are kept. Delete this line, or both."
_CHUNK = 500
_ADDED = 50
"""New bullets of one transaction; each is compared with those before it."""


class TakingIn:
    """Takes the changes of one scope's files in.

    Args:
        memories: see there.
        scope: whose files.
    """

    def __init__(self, memories: Memories, scope: Scope) -> None:
        self._memories = memories
        self._scope = scope
        self._facts: list[MemoryFact] = []
        self._said: dict[str, Memory] = {}
        """What edits of this sync say, by their words."""

    async def take(self, changes: Sequence[Change]) -> list[str]:
        """Record what was changed, and settle each bullet; gives what a person should know."""
        notices: list[str] = []
        new: list[Change] = []
        for change in changes:
            if change.edited is None or await self._as_new(change, change.edited.memory.id, notices):
                new.append(change)
            if len(self._facts) >= _CHUNK:
                await self._record()
        await self._record()
        for at in range(0, len(new), _ADDED):
            await self._add(new[at : at + _ADDED], notices)
        return notices

    async def _as_new(self, change: Change, id: MemoryId, notices: list[str]) -> bool:
        """Settle an edit; true when the words have to be taken in as new ones."""
        row = await asyncio.to_thread(self._row, id)
        if row is None:
            return True
        if row.status == "live":
            await self._edit(change, row.memory, notices)
            return False
        rows = await asyncio.to_thread(self._line_of, row)
        heir = heir_of(row, rows.get)
        if heir is not None and normal(heir.text) == normal(change.bullet.text):
            change.bullet.become(heir.id, heir.text)
            return False
        change.bullet.notes.append(TAKEN_BACK if heir is None else BOTH)
        notices.append(
            f"a line of {self._scope.level}/{change.path} and its memory were changed at once; both are kept"
        )
        return True

    async def _edit(self, change: Change, old: Memory, notices: list[str]) -> None:
        now_ms = self._memories.stream.now_ms()
        text = change.bullet.text
        alike = await asyncio.to_thread(self._memories.remembered.alike, self._scope, text, "")
        same = next((row.memory for row in alike if row.memory.id != old.id), self._said.get(normal(text)))
        if same is not None and normal(same.text) == normal(text):
            self._facts.append(ev.MemoryRetired(old.id, "superseded", same.id, now_ms, DOOR))
            change.bullet.become(same.id, same.text)
            return
        try:
            new = self._memories.require_savable(
                replace(
                    old,
                    id=MemoryId(self._memories.new_id("m")),
                    text=text,
                    value="",
                    origin="file_edit",
                    label=PERSON,
                    valid_from_ms=now_ms,
                    valid_to_ms=0,
                    evidence=(),
                    confidence=1.0,
                    source="",
                )
            )
        except CallerError as refused:
            change.bullet.refuse(str(refused))
            notices.append(f"a line of {self._scope.level}/{change.path} was not taken in; it says why")
            return
        self._facts += corrected(old, new, False, DOOR)
        self._said[normal(new.text)] = new
        change.bullet.become(new.id, new.text)

    async def _add(self, changes: Sequence[Change], notices: list[str]) -> None:
        now_ms = self._memories.stream.now_ms()
        fit: list[tuple[Change, Memory]] = []
        for change in changes:
            blank = Memory(
                id=MemoryId(self._memories.new_id("m")),
                kind="knowledge",
                text="",
                scope=self._scope,
                origin="user_said",
                label=PERSON,
                valid_from_ms=now_ms,
            )
            try:
                new = self._memories.require_savable(new_memory(change.path, change.bullet, blank))
            except CallerError as refused:
                change.bullet.refuse(str(refused))
                notices.append(f"a line of {self._scope.level}/{change.path} was not taken in; it says why")
                continue
            fit.append((change, new))
        taken = await self._memories.take_in([new for _, new in fit], DOOR)
        self._facts += [fact for one in taken for fact in one.facts]
        await self._record()
        for (change, _), one in zip(fit, taken, strict=True):
            change.bullet.become(one.memory.id, one.memory.text)

    async def _record(self) -> None:
        if self._facts:
            await self._memories.stream.record(self._facts, by="person")
            self._facts = []

    def _row(self, id: MemoryId) -> MemoryRow | None:
        try:
            return self._memories.remembered.row(id)
        except NotFound:
            return None

    def _line_of(self, row: MemoryRow) -> dict[str, MemoryRow]:
        """The memories that took this one's place, one after the other."""
        found: dict[str, MemoryRow] = {row.memory.id: row}
        at: MemoryRow | None = row
        while at is not None and at.superseded_by and at.superseded_by not in found:
            at = self._row(at.superseded_by)
            if at is not None:
                found[at.memory.id] = at
        return found
