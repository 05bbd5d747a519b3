"""The import of files of memories: other agents' Markdown, mem0's JSON, Stead's own export.

Layer: runtime. What comes from elsewhere is data of strangers: unpinned, with little confidence, and never given to a
model unasked. Only what this home exported itself, unchanged, is restored as it was. The lock of the stream ``memory``
is held for a few statements at a time, so that remembering goes on during a long import; a crash leaves what was taken
in, and the same file again adds the rest.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TypeVar, assert_never

from stead.brain.remembering import clean, without_hidden
from stead.domain import events as ev
from stead.domain.commands import Answer
from stead.domain.directives import TEXT_CHARS as SOUL_CHARS
from stead.domain.errors import CallerError, InvalidRequest
from stead.domain.memory import Memory, MemoryId, MemoryRow, ProposalId, Scope
from stead.domain.memory_commands import ImportMemories
from stead.domain.memory_events import MemoryFact
from stead.domain.policies import Integrity, Label
from stead.domain.ports import Claimed
from stead.memory.files.export import MemoryExport
from stead.memory.files.foreign import Statement, from_markdown, from_mem0, kind_of, parts_of
from stead.memory.files.merge import FOREIGN
from stead.memory.files.rows import row_of
from stead.runtime.memories import Memories, scope_of

DOOR = "import"
_CHUNK = 50
"""Statements of one transaction; each is compared with those before it."""
_REASONS = 10
_SOURCE_CHARS = 200
_STRANGER = Label(Integrity.UNTRUSTED)

log = logging.getLogger(__name__)
_Item = TypeVar("_Item")


class MemoryImport:
    """Carries ``ImportMemories`` out.

    Args:
        memories: takes statements in.
        export: knows the home's own exports.
    """

    def __init__(self, memories: Memories, export: MemoryExport) -> None:
        self._memories = memories
        self._export = export
        self.progress = (0, 0)
        """Of the import that runs: statements worked off, and in all; (0, 0) while none does."""

    async def carry_out(self, command: ImportMemories, claim: Claimed, door: str) -> Answer:
        """Take a file in; its memories are durable when this returns.

        Raises:
            InvalidRequest: it is too long, or is none that can be read; nothing was written.
            StorageFault: what was taken in so far stays.
        """
        text = await self._taken(command)
        stream = self._memories.stream
        async with stream.lock:
            answer = await stream.answer(claim, (), text)
        log.info("a file of memories came in by the door %s: %s", door, text.partition(":")[0])
        return answer

    async def _taken(self, command: ImportMemories) -> str:
        kind = await asyncio.to_thread(kind_of, command.name, command.text)
        scope = await asyncio.to_thread(scope_of, command.level, command.directory)
        match kind:
            case "soul":
                return await self._soul(command, scope)
            case "stead":
                return await self._exported(command, scope)
            case "mem0":
                return (await self._strange(command, scope, from_mem0(command.text), _Report())).text()
            case "markdown":
                found = from_markdown(command.name, command.text)
                return (await self._strange(command, scope, found, _Report())).text()
            case _:
                assert_never(kind)

    async def _strange(
        self, command: ImportMemories, scope: Scope, found: Iterable[Statement], report: _Report
    ) -> _Report:
        source = clean(command.name.replace("\\", "/").rpartition("/")[2])[:_SOURCE_CHARS]

        async def facts(piece: Sequence[Statement]) -> list[MemoryFact]:
            news = [new for one in piece if (new := self._new(one, scope, source, report)) is not None]
            taken = await self._memories.take_in(news, DOOR)
            report.counts.update(one.change for one in taken)
            return [fact for one in taken for fact in one.facts]

        await self._piecewise(await asyncio.to_thread(list, found), facts)
        return report

    def _new(self, statement: Statement, scope: Scope, source: str, report: _Report) -> Memory | None:
        """The memory that a statement would be; None for one that may not be saved."""
        now_ms = self._memories.stream.now_ms()
        new = Memory(
            id=MemoryId(self._memories.new_id("m")),
            kind=statement.kind,
            text=statement.text,
            scope=scope,
            origin="imported",
            label=_STRANGER,
            valid_from_ms=min(statement.said_ms, now_ms) or now_ms,
            aliases=statement.aliases,
            confidence=FOREIGN,
            source=source,
        )
        return self._savable(new, statement.number, report)

    def _savable(self, new: Memory, number: int, report: _Report) -> Memory | None:
        try:
            return self._memories.require_savable(new)
        except CallerError as refused:
            report.refuse(number, refused)
            return None

    async def _soul(self, command: ImportMemories, scope: Scope) -> str:
        """A soul from elsewhere is put before the person, who may make it theirs."""
        text = command.text.removeprefix("\ufeff").replace("\r\n", "\n").strip()
        if scope.level != "global":
            raise InvalidRequest('a soul is proposed for everywhere; import soul.md with the level "global"')
        if not 0 < len(text) <= SOUL_CHARS:
            raise InvalidRequest(f"a soul has 1 to {SOUL_CHARS} characters, this file has {len(text)}")
        text = without_hidden(text)
        id = ProposalId(self._memories.new_id("p"))
        async with self._memories.stream.lock:
            why = "A file soul.md was imported."
            await self._record([ev.MemoryProposed(id, "soul", (), text, why, _STRANGER)])
        return f"proposed as {id}: the soul changes only when you accept it"

    async def _exported(self, command: ImportMemories, scope: Scope) -> str:
        """An export, part by part: those of this home's own as they were, any other one as a stranger's."""
        report = _Report()
        for part in await asyncio.to_thread(parts_of, command.text):
            own = await asyncio.to_thread(self._export.own, part)
            if own is None:
                await self._strange(command, scope, _of_rows(self._export.foreign(part)), report)
                continue

            async def facts(piece: Sequence[tuple[int, MemoryRow]]) -> list[MemoryFact]:
                return await asyncio.to_thread(self._as_they_were, piece, report)

            await self._piecewise(list(enumerate(sorted(own, key=lambda row: row.recorded_ms), 1)), facts)
        return report.text()

    def _as_they_were(self, piece: Sequence[tuple[int, MemoryRow]], report: _Report) -> list[MemoryFact]:
        """Facts that restore everything: ids, validity, marks, and what took whose place."""
        facts: list[MemoryFact] = []
        for number, row in piece:
            if row_of(self._memories.remembered, row.memory.id) is not None:
                report.counts["same"] += 1
            elif self._savable(row.memory, number, report) is not None:
                report.counts["made"] += 1
                facts += _facts(row)
        return facts

    async def _piecewise(
        self, every: Sequence[_Item], facts_of: Callable[[Sequence[_Item]], Awaitable[list[MemoryFact]]]
    ) -> None:
        """Record the facts of a few at a time, under the lock that forgetting holds too."""
        try:
            for at in range(0, len(every), _CHUNK):
                self.progress = (at, len(every))
                async with self._memories.stream.lock:
                    await self._record(await facts_of(every[at : at + _CHUNK]))
        finally:
            self.progress = (0, 0)

    async def _record(self, facts: Sequence[MemoryFact]) -> None:
        if facts:
            await self._memories.stream.record(facts, by="person")


class _Report:
    """What became of a file's statements."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._reasons: list[str] = []

    def refuse(self, number: int, why: CallerError) -> None:
        """One was not taken in."""
        self.counts["refused"] += 1
        if len(self._reasons) < _REASONS:
            self._reasons.append(f"no. {number}: {why}")

    def text(self) -> str:
        """In words."""
        made = self.counts["made"] + self.counts["superseded"]
        said = f"{made} made, {self.counts['same']} there already, {self.counts['refused']} refused"
        more = self.counts["refused"] - len(self._reasons)
        return said + "".join(f"; {reason}" for reason in self._reasons) + (f"; and {more} more" if more else "")


def _of_rows(rows: Iterable[MemoryRow | None]) -> Iterator[Statement]:
    """What another home's export says that holds still."""
    for number, row in enumerate(rows, start=1):
        if row is not None and row.status == "live":
            memory = row.memory
            yield Statement(number, clean(memory.text), memory.kind, memory.aliases, memory.valid_from_ms)


def _facts(row: MemoryRow) -> tuple[MemoryFact, ...]:
    memory = row.memory
    made = ev.MemoryMade(memory, DOOR, row.run)
    if row.status == "live":
        return (made,)
    why = row.status if row.status in ("superseded", "expired") else "removed"
    return made, ev.MemoryRetired(memory.id, why, row.superseded_by, memory.valid_to_ms, DOOR, row.run)
