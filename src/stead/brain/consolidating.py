"""From what was stated to what is remembered: scope, contradictions.

Layer: brain. Pure. Ids and the time are handed in; what becomes of one statement among others is
``brain.remembering``'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from msgspec.structs import replace

from stead.brain.explicit import Explicit
from stead.brain.remembering import TakenIn, held_fast, says_the_same, take_in
from stead.domain import events as ev
from stead.domain.memory import (
    GLOBAL,
    Episode,
    Evidence,
    Memory,
    MemoryId,
    MemoryRow,
    PlaceId,
    ProposalId,
    RunId,
    Scope,
    Viewer,
)
from stead.domain.memory_events import MemoryFact
from stead.domain.policies import Label

CONTRADICTION_MS = 60_000
"""Of two statements of the person's that contradict each other within this, neither is known to be the newer mind."""
DOOR = "stead"
CONFIDENCE = 0.9
"""Of what the person said in so many words."""


def scope_of(turn: Episode, place: PlaceId, *, everywhere: bool) -> Scope:
    """Where something that was said in a turn may be seen: no further than the turn, unless the person said so.

    Args:
        turn: in which it was said.
        place: whose index has it.
        everywhere: the person said that it holds in every project; not for a channel, where others talk along.
    """
    look = Viewer(place, place if place.startswith("c_") else "", turn.private)
    return seen_from(look, everywhere=everywhere)


def seen_from(look: Viewer, *, everywhere: bool) -> Scope:
    """Where something that was said in a session may be seen, from what that session sees."""
    if look.channel:
        return Scope("channel", look.channel)
    if everywhere:
        return Scope("global", GLOBAL)
    return Scope("private" if look.interactive else "workspace", look.workspace)


def from_widest(scope: Scope) -> tuple[Scope, ...]:
    """The scopes that every viewer of this one sees, the widest first; and this one."""
    match scope.level:
        case "global" | "channel":
            return (scope,)
        case "workspace":
            return (Scope("global", GLOBAL), scope)
        case "private":
            return (Scope("global", GLOBAL), replace(scope, level="workspace"), scope)
        case _:
            assert_never(scope.level)


def memory_of(stated: Explicit, turn: Episode, scope: Scope, id: MemoryId) -> Memory:
    """The memory that a statement would be."""
    return Memory(
        id=id,
        kind=stated.kind,
        text=stated.text,
        scope=scope,
        origin="user_said",
        label=Label(turn.label.integrity, turn.label.confidentiality),
        valid_from_ms=turn.ts_ms,
        key=stated.key,
        value=stated.value,
        aliases=stated.aliases,
        evidence=(Evidence(turn.session, turn.seq, stated.start, stated.end),),
        confidence=CONFIDENCE,
        standing=stated.standing,
    )


def decided(new: Memory, alike: Sequence[MemoryRow], run: RunId, *, correcting: bool, proposal: ProposalId) -> TakenIn:
    """What becomes of a statement of a run; see ``take_in``.

    Two statements of the person's that contradict each other at the same time are both kept, and so is what they wrote
    or pinned and now say otherwise; then the person is asked.

    Args:
        new: the memory that it would be.
        alike: as of ``take_in``.
        run: for the facts.
        correcting: it puts something right, so there is nothing to ask.
        proposal: the question's id, if there is one.
    """
    live = [row.memory for row in alike if row.status == "live"]
    rivals = [old for old in live if new.key and old.key == new.key]
    known = any(says_the_same(old, new) for old in live)
    at_once = [
        old
        for old in rivals
        if old.origin == new.origin == "user_said" and abs(old.valid_from_ms - new.valid_from_ms) <= CONTRADICTION_MS
    ]
    if correcting or known or not at_once:
        taken = take_in(new, alike, DOOR, run)
        fast = [old for old in rivals if old.id in taken.contradicts and held_fast(old, DOOR, run)]
        if not fast or taken.memory.valid_to_ms:
            return taken
        asks = _asked(fast, new, run, proposal, "You wrote or pinned it, and said otherwise")
        return replace(taken, facts=(*taken.facts, asks))
    asks = _asked(at_once, new, run, proposal, "It was said within a minute of its opposite")
    return TakenIn("made", new, (ev.MemoryMade(new, DOOR, run), asks), tuple(old.id for old in at_once))


def _asked(olds: Sequence[Memory], new: Memory, run: RunId, id: ProposalId, how: str) -> ev.MemoryProposed:
    return ev.MemoryProposed(
        id=id,
        what="forget",
        memories=tuple(old.id for old in olds),
        text="",
        why=f"{how}: “{new.text[:200]}”. Accept to keep only that.",
        label=new.label,
        run=run,
    )


def wider(
    work: Sequence[Memory], personal: Sequence[Memory], run: RunId, new_id: Callable[[], ProposalId]
) -> tuple[MemoryFact, ...]:
    """The questions whether more of the person's sessions are to know what they said in one.

    Args:
        work: what concerns the folder's work, which its objectives could know.
        personal: what concerns the person, which every folder could know.
        run: for the facts.
        new_id: makes the questions' ids.
    """
    asked = (
        (work, "workspace", "about the work in a session of your own. Accept to tell this folder's objectives too."),
        (personal, "global", "about yourself in one folder. Accept to have it known in all your folders."),
    )
    return tuple(
        ev.MemoryProposed(
            id=new_id(),
            what="scope",
            memories=tuple(memory.id for memory in news),
            text=level,
            why=f"You said {'something' if len(news) == 1 else f'{len(news)} things'} {why}",
            label=news[0].label,
            run=run,
        )
        for news, level, why in asked
        if news
    )
