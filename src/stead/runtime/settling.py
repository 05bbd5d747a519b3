"""The person's answers to what was proposed about memory, as facts.

Layer: runtime. What is accepted is recorded in one transaction with the answer. Two kinds change more than memory:
forgetting for good, and the soul; each is carried out by its owner first, so that after a crash the proposal still
waits and can be accepted again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import assert_never

from msgspec.structs import replace

from stead.brain.remembering import canonical, clean, displaced
from stead.domain import events as ev
from stead.domain.errors import Conflict
from stead.domain.memory import GLOBAL, TEXT_CHARS, Memory, MemoryId, ProposalId, Scope
from stead.domain.memory_events import MemoryFact, MemoryProposed
from stead.domain.memory_ports import ProposalRow
from stead.memory.files.rows import row_of
from stead.runtime.memories import Memories

Forget = Callable[[Sequence[MemoryId], str], Awaitable[str]]
"""Forgets memories for good, for this door; gives what was done, in words. Takes the stream's lock itself."""

SetSoul = Callable[[str, str, int], Awaitable[None]]
"""Makes a text the soul, for this door, unless the soul was changed since this moment (milliseconds since 1970)."""


class Settling:
    """Settles proposals.

    Args:
        memories: makes and finds memories; its stream's lock is held by whoever calls ``facts``.
        forget: see there.
        set_soul: likewise.
    """

    def __init__(self, memories: Memories, forget: Forget, set_soul: SetSoul) -> None:
        self._memories = memories
        self._forget = forget
        self._set_soul = set_soul

    async def before(self, id: ProposalId, accept: bool, door: str) -> None:
        """What is to be done before the answer is recorded, with the stream's lock free.

        Raises:
            NotFound: there is no such proposal.
            Conflict: it was answered before, or what it would change was changed since.
        """
        row = await self._waiting(id)
        asked = row.proposal
        if not accept:
            return
        if asked.what == "forget" and not asked.run:
            if there := await self._live(asked.memories):
                await self._forget([memory.id for memory in there], door)
        elif asked.what == "soul":
            await self._set_soul(asked.text, door, row.made_ms)

    async def facts(self, id: ProposalId, accept: bool, door: str) -> tuple[tuple[MemoryFact, ...], str]:
        """The answer and what follows from it, and that in words.

        Raises:
            NotFound: there is no such proposal.
            Conflict: it was answered before.
        """
        asked = (await self._waiting(id)).proposal
        settled = ev.ProposalSettled(id, accept, door)
        if not accept:
            return (settled,), "left as it is; it is not proposed again"
        facts, text = await self._accepted(asked, door)
        return (*facts, settled), text

    async def _accepted(self, asked: MemoryProposed, door: str) -> tuple[list[MemoryFact], str]:
        match asked.what:
            case "forget":
                if not asked.run:
                    return [], "it is forgotten"
                now_ms = self._memories.stream.now_ms()
                there = await self._live(asked.memories)
                facts: list[MemoryFact] = [ev.MemoryRetired(one.id, "removed", "", now_ms, door) for one in there]
                return facts, f"{len(facts)} are told no longer; `stead memory restore` has them back"
            case "skill":
                return await self._skill(asked, door)
            case "soul":
                return [], "it is the soul now"
            case "scope":
                seen = [await self._widened(one, asked, door) for one in await self._live(asked.memories)]
                return [fact for one in seen for fact in one], f"{sum(map(bool, seen))} are seen further now"
            case _:
                assert_never(asked.what)

    async def _skill(self, asked: MemoryProposed, door: str) -> tuple[list[MemoryFact], str]:
        from_these = await self._live(asked.memories)
        if not from_these:
            raise Conflict("the procedure that the skill was made of is gone; refuse it")
        procedure = from_these[0]
        title = asked.text.split("\n", 1)[0].lstrip("# ").strip()
        skill = self._memories.require_savable(
            replace(
                procedure,
                id=MemoryId(self._memories.new_id("m")),
                kind="skill",
                text=asked.text[:TEXT_CHARS],
                key=canonical(f"skill.{title}"[:100]),
                value="",
                aliases=(clean(title)[:100].casefold(),),
                label=asked.label,
                valid_from_ms=self._memories.stream.now_ms(),
                confidence=1.0,
                supersedes=(),
            )
        )
        (taken,) = await self._memories.take_in((skill,), door)
        return list(taken.facts), f"{taken.change} {taken.memory.id}"

    async def _widened(self, memory: Memory, asked: MemoryProposed, door: str) -> list[MemoryFact]:
        if memory.scope.level == "channel":
            return []  # others read along there; what is said in a channel stays in it
        if asked.text != "global":
            wide = replace(memory, scope=replace(memory.scope, level="workspace"))
            if memory.scope.level != "private":
                return []
            alike = await asyncio.to_thread(self._memories.remembered.alike, wide.scope, wide.text, wide.key)
            return [ev.MemoryAmended(wide, door), *displaced(wide, alike, door)]
        copy = replace(
            memory,
            id=MemoryId(self._memories.new_id("m")),
            scope=Scope("global", GLOBAL),
            supersedes=(memory.id,),
        )
        since_ms = memory.valid_from_ms
        alike = await asyncio.to_thread(self._memories.remembered.alike, copy.scope, copy.text, copy.key)
        taken = displaced(copy, alike, door)
        return [ev.MemoryMade(copy, door), ev.MemoryRetired(memory.id, "superseded", copy.id, since_ms, door), *taken]

    async def _waiting(self, id: ProposalId) -> ProposalRow:
        row = await asyncio.to_thread(self._memories.reports.proposal, id)
        if row.answer:
            raise Conflict(f"proposal {id!r} was {row.answer} before; `stead memory proposals` lists those that wait")
        return row

    async def _live(self, ids: Sequence[MemoryId]) -> list[Memory]:
        remembered = self._memories.remembered
        rows = await asyncio.to_thread(lambda: [row_of(remembered, id) for id in ids])
        return [row.memory for row in rows if row is not None and row.status == "live"]
