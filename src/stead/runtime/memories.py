"""What people say about memory, as facts.

Layer: runtime. The stream ``memory`` has one writer; the code that decides about a statement holds its lock from the
look at what is there until the facts are recorded, so that the same statement twice at once is one memory.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from typing import Literal, Protocol, assert_never

from msgspec.structs import replace

from stead.brain.ahead import Ahead
from stead.brain.remembering import (
    TakenIn,
    as_begun,
    canonical,
    corrected,
    excludes,
    require_valid,
    take_in,
)
from stead.domain import events as ev
from stead.domain import memory_commands as cmd
from stead.domain.commands import Answer
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import DEFAULT_WORKSPACE, NO_COMMAND, CommandId, SessionId
from stead.domain.memory import GLOBAL, MEMORY, Level, Memory, MemoryId, MemoryRow, RunId, Scope, workspace_place
from stead.domain.memory_events import MemoryFact
from stead.domain.memory_ports import MemoryReports, Remembered
from stead.domain.ports import Claimed, Clock, Journal
from stead.domain.reading_events import ReadingBody
from stead.domain.sessions import PERSON
from stead.runtime.answers import of
from stead.runtime.bus import Bus, Subscription
from stead.runtime.folder import folder

MOST = 1_000
"""Memories that one command may name."""
DAY_MS = 86_400_000
_MOST_DAYS = 36_500

_ID = re.compile(r"m_[0-9a-f]{16}")

By = Literal["person", "model", "stead"]


class EndedJournal(Journal, Protocol):
    """A journal that knows where its streams end."""

    def place_of(self, session: SessionId) -> int:
        """The ``session_seq`` of a stream's last event, 0 for none."""


class MemoryStream:
    """The end of the stream ``memory``. ``lock``: only its holder may append."""

    def __init__(self, *, journal: EndedJournal, bus: Bus, clock: Clock) -> None:
        self._journal = journal
        self._bus = bus
        self._clock = clock
        self.lock = asyncio.Lock()

    def watch(self) -> Subscription:
        """What happens from now on, in every stream."""
        return self._bus.subscribe()

    def now_ms(self) -> int:
        """By the clock that dates the facts."""
        return self._clock.now_ms()

    async def record(
        self,
        facts: Sequence[MemoryFact | ReadingBody],
        *,
        by: By,
        cause: CommandId = NO_COMMAND,
        claim: Claimed | None = None,
    ) -> int:
        """Append facts, or a claim alone, and publish them; gives the head. The caller holds ``lock``.

        Raises:
            Fenced, Conflict, StorageFault: nothing was written.
        """
        last = await asyncio.to_thread(self._journal.place_of, MEMORY)
        drafts = [
            ev.Draft(MEMORY, last + index, self._clock.now_ms(), by, cause, fact)
            for index, fact in enumerate(facts, start=1)
        ]
        events = await self._journal.append(drafts, claim=claim)
        self._bus.publish(events)
        return events[-1].seq if events else self._journal.head()

    async def answer(self, claim: Claimed, facts: Sequence[MemoryFact], text: str) -> Answer:
        """Record a person's command with its facts, and answer it; the caller holds ``lock``. Raises as ``record``."""
        claim = of(claim, MEMORY, text)
        seq = await self.record(facts, by="person", cause=claim.id, claim=claim)
        return replace(claim.answer, seq=seq)


class Memories:
    """Carries out what people say about memory, and takes in what others would have remembered.

    Args:
        stream: where the facts go.
        remembered: what is there.
        reports: proposals and runs.
        new_id: makes an id with this prefix.
        keeps_secret: what of a text may not be saved, in words for a person; "" when all of it may.
        forgotten: whether a text says what was forgotten for good.
    """

    def __init__(
        self,
        stream: MemoryStream,
        remembered: Remembered,
        reports: MemoryReports,
        *,
        new_id: Callable[[str], str],
        keeps_secret: Callable[[str], str],
        forgotten: Callable[[str], bool],
    ) -> None:
        self.stream = stream
        self.remembered = remembered
        self.reports = reports
        self.new_id = new_id
        self._keeps_secret = keeps_secret
        self._forgotten = forgotten

    async def carry_out(self, command: cmd.MemoryCommand, claim: Claimed, door: str) -> Answer:
        """Carry a command out; its facts are durable when this returns.

        Raises:
            CallerError: it cannot be, and nothing was written.
            StorageFault: the journal cannot be written, and nothing was.
        """
        async with self.stream.lock:
            return await self.stream.answer(claim, *await self._facts(command, door))

    async def _facts(self, command: cmd.MemoryCommand, door: str) -> tuple[tuple[MemoryFact, ...], str]:
        match command:
            case cmd.Remember():
                return await self._remember(command, door)
            case cmd.CorrectMemory():
                return await self._correct(command, door)
            case cmd.MarkMemories(ids=ids):
                rows = await self._live(ids)
                marked = [self._marked(row.memory, command) for row in rows]
                if command.key:
                    await self._require_free(marked)
                return tuple(ev.MemoryAmended(memory, door) for memory in marked), f"{len(marked)} changed"
            case cmd.RetireMemories(ids=ids):
                now_ms = self.stream.now_ms()
                rows = await self._live(ids)
                return tuple(ev.MemoryRetired(row.memory.id, "removed", "", now_ms, door) for row in rows), (
                    f"{len(rows)} are told no longer; `stead memory restore` has them back"
                )
            case cmd.RestoreMemories(ids=ids):
                rows = await self._rows(ids)
                if held := [row for row in rows if row.status == "live"]:
                    raise Conflict(f"{held[0].memory.id!r} is live already")
                await self._require_free([row.memory for row in rows])
                return tuple(ev.MemoryRestored(row.memory.id, door) for row in rows), f"{len(rows)} are back"
            case cmd.SettleProposal() | cmd.ImportMemories() | cmd.Consolidate() | cmd.RevertRun():
                raise Conflict(f"{type(command).__name__} is carried out elsewhere")
            case _:
                assert_never(command)

    async def _remember(self, command: cmd.Remember, door: str) -> tuple[tuple[MemoryFact, ...], str]:
        if not 0 < len(command.items) <= MOST:
            raise InvalidRequest(f"1 to {MOST} things can be remembered at once, not {len(command.items)}")
        scope = await asyncio.to_thread(scope_of, command.level, command.directory)
        news = [self._new(item, scope) for item in command.items]
        begun = {new.id for new, item in zip(news, command.items, strict=True) if not item.valid_from_ms}
        taken = await self.take_in(news, door, begun=begun)
        facts = tuple(fact for one in taken for fact in one.facts)
        return facts, "; ".join(f"{one.change} {one.memory.id}" for one in taken[:20])

    async def take_in(
        self, news: Sequence[Memory], door: str, run: RunId | Literal[""] = "", *, begun: Collection[MemoryId] = ()
    ) -> tuple[TakenIn, ...]:
        """Decide about statements, each knowing of those before it; the caller holds the stream's lock.

        Args:
            news: the memories that they would be.
            door: for the facts.
            run: for the facts, "" for none.
            begun: those of them that hold from now on, so that nothing that held before is newer.
        """
        taken: list[TakenIn] = []
        ahead = Ahead()
        found = await asyncio.to_thread(lambda: [self.like(new) for new in news])
        for new, alike in zip(news, found, strict=True):
            if new.id in begun:
                alike = tuple(as_begun(row, new.valid_from_ms) for row in alike)
            taken.append(take_in(new, ahead.amid(alike, new), door, run))
            ahead.take(taken[-1].facts)
        return tuple(taken)

    def like(self, new: Memory) -> tuple[MemoryRow, ...]:
        """What is known at a statement's key and in its words, as ``take_in`` of the brain needs it. It blocks."""
        return self.remembered.alike(new.scope, new.text, new.key, after_ms=new.valid_from_ms)

    def require_savable(self, memory: Memory) -> Memory:
        """The memory in its one spelling.

        Raises:
            InvalidRequest: it cannot be, holds a secret, or says what was forgotten for good.
        """
        memory = require_valid(memory)
        self.require_sayable("\n".join((memory.text, memory.value, memory.key, *memory.aliases)))
        return memory

    def require_sayable(self, said: str) -> None:
        """Let words be kept.

        Raises:
            InvalidRequest: they hold a secret, or say what was forgotten for good.
        """
        if secret := self._keeps_secret(said):
            raise InvalidRequest(f"not remembered: {secret}; a secret belongs into the vault: `stead secret add NAME`")
        if self.is_forgotten(said):
            raise InvalidRequest(
                "not remembered: it says what was forgotten for good; say it in other words if it is wanted after all"
            )

    def is_forgotten(self, said: str) -> bool:
        """Whether words say what was forgotten for good."""
        return self._forgotten(said)

    def _new(self, item: cmd.NewMemory, scope: Scope) -> Memory:
        return self.require_savable(
            Memory(
                id=MemoryId(self.new_id("m")),
                kind=item.kind,
                text=item.text,
                scope=scope,
                origin="user_said",
                label=PERSON,
                valid_from_ms=item.valid_from_ms or self.stream.now_ms(),
                key=item.key,
                value=item.value,
                aliases=item.aliases,
                pinned=item.pinned,
                standing=item.standing,
                expires_ms=self._end_of(item.ttl_days),
            )
        )

    async def _correct(self, command: cmd.CorrectMemory, door: str) -> tuple[tuple[MemoryFact, ...], str]:
        (row,) = await self._live((command.id,))
        new = self.require_savable(
            replace(
                row.memory,
                id=MemoryId(self.new_id("m")),
                text=command.text,
                value=command.value,
                origin="user_said",
                label=PERSON,
                valid_from_ms=command.valid_from_ms or self.stream.now_ms(),
                valid_to_ms=0,
                evidence=(),
                confidence=1.0,
                source="",
            )
        )
        if (new.text, new.value) == (row.memory.text, row.memory.value):
            return (), f"same {row.memory.id}"
        old = row.memory if command.valid_from_ms else as_begun(row, new.valid_from_ms).memory
        alike = await asyncio.to_thread(self.remembered.alike, new.scope, new.text, new.key)
        return corrected(old, new, command.was_wrong, door, alike), f"superseded {new.id}"

    def _marked(self, memory: Memory, marks: cmd.MarkMemories) -> Memory:
        changed = {
            name: value
            for name in ("pinned", "standing", "kind", "aliases", "confidence")
            if (value := getattr(marks, name)) is not None
        }
        if marks.key is not None:
            changed["key"] = canonical(marks.key)
        if marks.ttl_days is not None:
            changed["expires_ms"] = self._end_of(marks.ttl_days)
        return self.require_savable(replace(memory, **changed))

    def _end_of(self, days: int) -> int:
        """When a memory that lasts so many days from now is dropped; 0 for never."""
        if not 0 <= days <= _MOST_DAYS:
            raise InvalidRequest(f"a memory lasts 1 to {_MOST_DAYS} days, or 0 for ever, not {days}")
        return self.stream.now_ms() + days * DAY_MS if days else 0

    async def _require_free(self, wanted: Sequence[Memory]) -> None:
        """Let these hold without saying what another one says already, or otherwise than the person does at its key.

        Raises:
            Conflict: they cannot.
        """
        ids = {memory.id for memory in wanted}
        for place, memory in enumerate(wanted):
            alike = await asyncio.to_thread(self.remembered.alike, memory.scope, memory.text, memory.key)
            there = [row.memory for row in alike if row.memory.id not in ids]
            there += [other for other in wanted[:place] if other.scope == memory.scope]
            for other in there:
                if excludes(other, memory):
                    raise Conflict(
                        f"{other.id!r} says the same, or something else at the key {memory.key!r}; "
                        "correct that one, or retire it first: `stead memory retire`"
                    )

    async def _live(self, ids: Sequence[MemoryId]) -> list[MemoryRow]:
        rows = await self._rows(ids)
        if gone := [row for row in rows if row.status != "live"]:
            raise Conflict(f"{gone[0].memory.id!r} is {gone[0].status}; `stead memory restore` has it back")
        return rows

    async def _rows(self, ids: Sequence[MemoryId]) -> list[MemoryRow]:
        if not 0 < len(ids) <= MOST:
            raise InvalidRequest(f"1 to {MOST} memories can be named at once, not {len(ids)}")
        strange = next((id for id in ids if not _ID.fullmatch(id)), None)
        if strange is not None:
            raise NotFound(f"there is no memory {strange[:40]!r}; `stead memory list` lists them")
        return await asyncio.to_thread(lambda: [self.remembered.row(id) for id in dict.fromkeys(ids)])


def scope_of(level: Level, directory: str) -> Scope:
    """The scope that a person means. Only its own sessions give a channel anything to remember.

    Raises:
        InvalidRequest: a folder is missing, or is none.
    """
    match level:
        case "global":
            if directory:
                raise InvalidRequest('the level "global" holds for every folder; leave the folder out')
            return Scope("global", GLOBAL)
        case "workspace" | "private":
            return Scope(level, workspace_place(DEFAULT_WORKSPACE, folder(directory)))
        case "channel":
            raise InvalidRequest("what a channel remembers is said in the channel; choose global, workspace or private")
        case _:
            assert_never(level)
