"""Sessions in which things are said, and facts about memory, put into a real journal."""

from __future__ import annotations

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import CommandId, RequestNo, SessionId
from stead.domain.memory import GLOBAL, MEMORY, Memory, MemoryId, Scope
from stead.domain.memory_events import MemoryFact
from stead.domain.messages import Text, Usage
from stead.domain.policies import Label
from stead.domain.sessions import PERSON
from stead.storage.journal import JournalFile
from tests.build import MODEL, START_MS, created, desk

EVERYWHERE = Scope("global", GLOBAL)


def memory(number: int, text: str, **marks: object) -> Memory:
    """A memory of the person's that holds everywhere, but for what is said otherwise."""
    plain = Memory(
        id=MemoryId(f"m_{number:016x}"),
        kind="knowledge",
        text=text,
        scope=EVERYWHERE,
        origin="user_said",
        label=PERSON,
        valid_from_ms=START_MS,
    )
    return replace(plain, **marks)


class Sayings:
    """Writes into one journal; time goes on by a second with every event."""

    def __init__(self, journal: JournalFile) -> None:
        self._journal = journal
        self._places: dict[SessionId, int] = {}
        self.now_ms = START_MS

    async def open(self, id: SessionId, directory: str, *, attended: bool = True, channel: str = "") -> int:
        opening = desk("work") if attended else created("work")
        return await self.tell(id, replace(opening, directory=directory, channel=channel))

    async def says(self, id: SessionId, text: str, label: Label = PERSON) -> int:
        return await self.tell(id, ev.MessageReceived(text=text, door="cli", label=label))

    async def answers(self, id: SessionId, text: str) -> int:
        reply = ev.ModelReplied(
            number=RequestNo(1),
            parts=(Text(text),),
            stop="stop",
            model=MODEL,
            usage=Usage(),
            spend=ev.Spend(),
            attempts=(),
            duration_ms=1,
            first_token_ms=1,
        )
        return await self.tell(id, reply)

    async def note(self, *facts: MemoryFact) -> int:
        seq = 0
        for fact in facts:
            seq = await self.tell(MEMORY, fact)
        return seq

    async def tell(self, id: SessionId, body: ev.Body) -> int:
        self.now_ms += 1000
        self._places[id] = self._places.get(id, 0) + 1
        draft = ev.Draft(id, self._places[id], self.now_ms, "stead", CommandId(""), body)
        (event,) = await self._journal.append([draft])
        return event.seq

    @property
    def count(self) -> int:
        """How many events were written."""
        return sum(self._places.values())
