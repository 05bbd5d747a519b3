"""What a person changed in the files of memory, as facts.

Layer: runtime. Used with the lock of the stream ``memory`` held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from stead.brain.ahead import Ahead
from stead.brain.memory_merging import Change, heir_of, new_memory
from stead.brain.remembering import as_begun, corrected, normal, take_in
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
        self._ahead = Ahead()
        self._edited: set[MemoryId] = set()
        """Whose own line has other words now: what they said is said by nobody any more."""
        self._made: set[MemoryId] = set()
        """What edits of this sync made, of which none takes another one's place."""

    async def take(self, changes: Sequence[Change]) -> list[str]:
        """Record what was changed, and settle each bullet; gives what a person should know."""
        notices: list[str] = []
        new: list[Change] = []
        edits: list[tuple[Change, MemoryRow, Memory]] = []
        for change in changes:
            row = None if change.edited is None else await asyncio.to_thread(self._row, change.edited.memory.id)
            if row is None:
                new.append(change)
            elif row.status != "live":
                if await self._outlived(change, row, notices):
                    new.append(change)
            elif (words := self._savable(change, self._reworded(row.memory, change.bullet.text), notices)) is not None:
                edits.append((change, row, words))
        self._edited = {row.memory.id for _, row, _ in edits}
        for change, row, words in edits:
            await self._edit(change, row, words)
            if len(self._facts) >= _CHUNK:
                await self._record()
        await self._record()
        for at in range(0, len(new), _ADDED):
            await self._add(new[at : at + _ADDED], notices)
        return notices

    async def _outlived(self, change: Change, row: MemoryRow, notices: list[str]) -> bool:
        """Settle an edit of what holds no longer; true when the words have to be taken in as new ones."""
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

    async def _edit(self, change: Change, row: MemoryRow, new: Memory) -> None:
        """Have a line's new words in place of its memory's, as if all lines of the file had changed at one moment."""
        alike = await asyncio.to_thread(self._memories.remembered.alike, self._scope, new.text, new.key)
        others = [
            as_begun(other, new.valid_from_ms)
            for other in self._ahead.amid(alike, new)
            if other.memory.id not in self._edited
        ]
        old = as_begun(row, new.valid_from_ms).memory
        said = take_in(new, [other for other in others if normal(other.memory.text) == normal(new.text)], DOOR)
        if said.change == "same":  # another memory has these words: this line's makes way for it
            until = max(new.valid_from_ms, old.valid_from_ms)
            retired = ev.MemoryRetired(old.id, "superseded", said.memory.id, until, DOOR)
            facts: tuple[MemoryFact, ...] = (*said.facts, retired)
        else:
            rivals = [other for other in others if other.memory.id not in self._made]
            facts = corrected(old, new, False, DOOR, rivals)
            self._made.add(new.id)
        self._facts += facts
        self._ahead.take(facts)
        change.bullet.become(said.memory.id, said.memory.text)

    def _reworded(self, old: Memory, text: str) -> Memory:
        return replace(
            old,
            id=MemoryId(self._memories.new_id("m")),
            text=text,
            value="",
            origin="file_edit",
            label=PERSON,
            valid_from_ms=self._memories.stream.now_ms(),
            valid_to_ms=0,
            evidence=(),
            confidence=1.0,
            source="",
        )

    def _savable(self, change: Change, new: Memory, notices: list[str]) -> Memory | None:
        """The memory in its one spelling; nothing where it may not be kept, which the line then says."""
        try:
            return self._memories.require_savable(new)
        except CallerError as refused:
            change.bullet.refuse(str(refused))
            notices.append(f"a line of {self._scope.level}/{change.path} was not taken in; it says why")
            return None

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
            if change.stale and self._memories.is_forgotten(change.bullet.text):
                change.bullet.gone = True  # an editor had it open while it was forgotten
                continue
            new = self._savable(change, new_memory(change.path, change.bullet, blank), notices)
            if new is not None:
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
