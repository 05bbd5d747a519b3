"""A person's edits in the files of memory, as facts.

Layer: memory. Used with the lock of the stream ``memory`` held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec.structs import replace

from stead.brain.ahead import Ahead
from stead.brain.remembering import TakenIn, as_begun, corrected, normal, take_in
from stead.domain import events as ev
from stead.domain.errors import CallerError
from stead.domain.memory import Memory, MemoryId, MemoryRow, ProposalId, Scope
from stead.domain.memory_events import MemoryFact
from stead.domain.memory_ports import Remembered
from stead.domain.sessions import PERSON
from stead.memory.files.merge import Edit, Rows, heir_of, new_memory

DOOR = "mirror"
BOTH = "> Changed here and in Stead at once; both are kept. Delete the one that is wrong, and this line."
TAKEN_BACK = "> Changed here and taken back in Stead at once; your words are kept. Delete this line, or both."
_CHUNK = 500
_ADDED = 50
"""New bullets of one transaction; each is compared with those before it."""
_MOST_IDS = 1_000
"""Of one proposal."""
_ALONE = 20
"""Deleted bullets that are proposed one by one; more at once are one proposal."""


class Stream(Protocol):
    """The stream ``memory``, as of ``runtime.memories``."""

    @property
    def lock(self) -> asyncio.Lock:
        """Held by the one who appends."""

    def now_ms(self) -> int:
        """By the clock that dates the facts."""

    async def record(self, facts: Sequence[MemoryFact], *, by: Literal["person"]) -> int:
        """Append facts and publish them."""


class Statements(Protocol):
    """What the files need of ``runtime.memories.Memories``; documented there."""

    new_id: Callable[[str], str]

    @property
    def stream(self) -> Stream:
        """Where facts are recorded."""

    @property
    def remembered(self) -> Remembered:
        """What is remembered."""

    async def take_in(self, news: Sequence[Memory], door: str) -> tuple[TakenIn, ...]:
        """Decide about statements, each knowing of those before it."""

    def require_savable(self, memory: Memory) -> Memory:
        """The memory in its one spelling, or ``CallerError``."""

    def is_forgotten(self, said: str) -> bool:
        """Whether words say what was forgotten for good."""


class Edits:
    """Takes in the edits of one scope's files.

    Args:
        statements: where they are taken in.
        scope: whose files.
        rows: the memories of which the files speak.
    """

    def __init__(self, statements: Statements, scope: Scope, rows: Rows) -> None:
        self.notices: list[str] = []
        """What a person should know of it."""
        self._statements = statements
        self._scope = scope
        self._rows = rows
        self._facts: list[MemoryFact] = []
        self._ahead = Ahead()
        self._edited: set[MemoryId] = set()
        """Whose own line has other words now: their old words are no longer said by anyone."""
        self._made: set[MemoryId] = set()
        """What the edits of this sync made, of which none takes another one's place."""

    async def take(self, edits: Sequence[Edit]) -> None:
        """Record what was changed, and let each bullet stand for its memory."""
        new: list[Edit] = []
        changed: list[tuple[Edit, MemoryRow, Memory]] = []
        for edit in edits:
            if edit.old is None or (edit.old.status != "live" and self._outlived(edit, edit.old)):
                new.append(edit)
            elif edit.old.status == "live" and (words := self._savable(edit, self._reworded(edit, edit.old.memory))):
                changed.append((edit, edit.old, words))
        self._edited = {row.memory.id for _, row, _ in changed}
        for edit, row, words in changed:
            await self._replace(edit, row, words)
            if len(self._facts) >= _CHUNK:
                await self._record()
        await self._record()
        for at in range(0, len(new), _ADDED):
            await self._add(new[at : at + _ADDED])

    async def propose(self, deleted: Sequence[tuple[str, MemoryId]]) -> None:
        """Ask the person whether memories whose bullets were deleted are to be forgotten.

        Args:
            deleted: the file of each, and its id.
        """
        groups: list[tuple[str, tuple[MemoryId, ...]]] = [(path, (id,)) for path, id in deleted]
        if len(deleted) > _ALONE:
            ids = tuple(id for _, id in deleted)
            groups = [("the files", ids[at : at + _MOST_IDS]) for at in range(0, len(ids), _MOST_IDS)]
        for path, ids in groups:
            what = "Its line was" if len(ids) == 1 else f"{len(ids)} lines were"
            id = ProposalId(self._statements.new_id("p"))
            self._facts.append(ev.MemoryProposed(id, "forget", ids, "", f"{what} deleted from {path}.", PERSON))
        await self._record()

    def _outlived(self, edit: Edit, row: MemoryRow) -> bool:
        """Settle an edit of what holds no longer; True when the words have to be taken in as new ones."""
        heir = heir_of(row, self._rows)
        if heir is not None and normal(heir.text) == normal(edit.bullet.text):
            edit.bullet.become(heir.id, heir.text)
            return False
        edit.bullet.notes.append(TAKEN_BACK if heir is None else BOTH)
        where = f"{self._scope.level}/{edit.path}"
        self.notices.append(f"a line of {where} and its memory were changed at once; both are kept")
        return True

    async def _replace(self, edit: Edit, row: MemoryRow, new: Memory) -> None:
        """Put a line's new words in place of its memory's, as if all lines of the file had changed at one moment."""
        alike = await asyncio.to_thread(self._statements.remembered.alike, self._scope, new.text, new.key)
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
        edit.bullet.become(said.memory.id, said.memory.text)

    async def _add(self, edits: Sequence[Edit]) -> None:
        fit: list[tuple[Edit, Memory]] = []
        for edit in edits:
            if edit.stale and self._statements.is_forgotten(edit.bullet.text):
                edit.bullet.gone = True  # an editor had it open while it was forgotten
            elif new := self._savable(edit, new_memory(edit.path, edit.bullet, self._blank())):
                fit.append((edit, new))
        taken = await self._statements.take_in([new for _, new in fit], DOOR)
        self._facts += [fact for one in taken for fact in one.facts]
        await self._record()
        for (edit, _), one in zip(fit, taken, strict=True):
            edit.bullet.become(one.memory.id, one.memory.text)

    def _reworded(self, edit: Edit, old: Memory) -> Memory:
        marks = replace(old, text=edit.bullet.text, value="", origin="file_edit", valid_to_ms=0, evidence=(), source="")
        blank = self._blank()
        return replace(marks, id=blank.id, label=PERSON, valid_from_ms=blank.valid_from_ms, confidence=1.0)

    def _blank(self) -> Memory:
        return Memory(
            id=MemoryId(self._statements.new_id("m")),
            kind="knowledge",
            text="",
            scope=self._scope,
            origin="user_said",
            label=PERSON,
            valid_from_ms=self._statements.stream.now_ms(),
        )

    def _savable(self, edit: Edit, new: Memory) -> Memory | None:
        """The memory in its one spelling; None where it may not be kept, which the line then says."""
        try:
            return self._statements.require_savable(new)
        except CallerError as refused:
            edit.bullet.refuse(str(refused))
            self.notices.append(f"a line of {self._scope.level}/{edit.path} was not taken in; it says why")
            return None

    async def _record(self) -> None:
        if self._facts:
            await self._statements.stream.record(self._facts, by="person")
            self._facts = []
