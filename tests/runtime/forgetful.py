"""Forgetting over the room's own journal, read models, memory and files, as the daemon puts it together."""

from __future__ import annotations

from stead.config import Home
from stead.domain import events as ev
from stead.domain.forgetting import Holder
from stead.domain.ids import HOME, SessionId
from stead.domain.memory import Evidence
from stead.memory.evidence import spoken
from stead.memory.purging import MemoryPurges
from stead.runtime.forgetting import Forgetting, Parts
from stead.storage.purging import ReadModels
from stead.storage.receipts import HomeReceipts
from stead.storage.residue import Residue
from tests.fakes.world import KEYS
from tests.runtime.room import Room


def forgetting(room: Room) -> Forgetting:
    """Of the whole room."""
    d, world = room.world.deps, room.world

    def holder(id: SessionId) -> Holder:
        return room.home if id == HOME else room.sessions.actor(id)

    def words_of(evidence: Evidence) -> str:
        event = world.books.event(evidence.seq)
        said = spoken(event, tainted=False) if isinstance(event, ev.Event) else None
        return said.text if said else ""

    parts = Parts(
        journal=world.journal,
        memory=d.memory.memories.stream,
        holder=holder,
        purges=(ReadModels(world.views), MemoryPurges(world.books, None)),
        files=Residue(Home(world.folder), KEYS),
        receipts=HomeReceipts(KEYS),
        words_of=words_of,
        bus=d.bus,
        clock=d.clock,
    )
    return Forgetting(parts)
