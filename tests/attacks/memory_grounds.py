"""Places that must know nothing of each other: workspaces, private ones and channels, full of words found nowhere else.

Every memory, turn, title and summary has a word of its own, which says where it may be seen. Whatever comes out of
memory is searched for such words and for ids; ``domain.memory.visible`` alone says which of them are a leak.
"""

from __future__ import annotations

import re
import string
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec.structs import replace

from stead.config import Home
from stead.domain import events as ev
from stead.domain.errors import Conflict
from stead.domain.folding import begin
from stead.domain.ids import DEFAULT_WORKSPACE, CommandId, SessionId
from stead.domain.memory import (
    GLOBAL,
    KINDS,
    Level,
    Memory,
    MemoryId,
    Scope,
    Viewer,
    channel_place,
    visible,
    workspace_place,
)
from stead.domain.memory_events import MemoryFact
from stead.domain.mirroring import MirrorState
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.sessions import PERSON, Session, viewer
from stead.memory.books import MemoryBooks
from stead.memory.files.export import MemoryExport
from stead.memory.insights import Insights
from stead.memory.meaning import Meaning
from stead.memory.purging import MemoryPurges
from stead.memory.retrieval import Retriever
from stead.runtime.bus import Bus
from stead.runtime.forgetting import Forgetting, Parts
from stead.runtime.loading import Loading
from stead.runtime.memories import Memories, MemoryStream
from stead.runtime.memory_service import MemoryQueries
from stead.runtime.recalling import Recollection
from stead.runtime.reverting import Runs
from stead.storage.journal import open_journal
from stead.storage.receipts import HomeReceipts
from stead.storage.residue import Residue
from tests.build import START_MS, created, desk
from tests.fakes.world import KEYS, ScriptedModels
from tests.runtime.house import Talk

FOLDERS = ("/ada/notes", "/ada/shop", "/bo/shop", "/ada/notes/old")
CHANNELS = ("team", "family", "notes")
TOPICS = ("gate", "boiler", "invoice", "harbour", "password of the shed", "Ada", "release", "dentist")
STATED = (
    "My dentist is Dr {}.",
    "My home town is {}.",
    "I prefer {} over Excel.",
    "My name is {}.",
    "I always use {} for invoices.",
)
"""What consolidation takes out of the person's words, about something or somebody."""
LABELS = (
    PERSON,
    Label(Integrity.TRUSTED, Confidentiality.PRIVATE),
    Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE),
    Label(Integrity.TRUSTED, Confidentiality.PUBLIC),
)
_ENDS: tuple[Literal["superseded", "duplicate", "expired", "reverted", "removed"], ...] = (
    "superseded",
    "duplicate",
    "expired",
    "reverted",
    "removed",
)
_MARKS = re.compile(r"zq[a-z]{10}|m_[0-9a-f]{16}|\be_\d+\b")


class Clock:
    """Goes on by a second with every look, and wherever one sets it."""

    def __init__(self) -> None:
        self.ms = START_MS + 10_000_000

    def now_ms(self) -> int:
        self.ms += 1_000
        return self.ms


class _Nobody:
    """No daemon writes to these sessions."""

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """See ``domain.forgetting.Holder``."""
        yield


class Sitting(msgspec.Struct, frozen=True):
    """A session as it was begun, and who looks in it."""

    id: SessionId
    spec: ev.SessionOpened
    look: Viewer


class Grounds:
    """A real journal with real indexes and all that reads them. Close it.

    Args:
        folder: of its files.
        random: decides everything.
        meaning: makes the dense leg of the indexes' model; nothing to go without.
        model: of its vectors.
    """

    def __init__(self, folder: Path, random: Random, meaning: Meaning | None = None, model: str = "") -> None:
        self.random = random
        self.clock = Clock()
        bus = Bus()
        self.journal = open_journal(folder / "journal.db", KEYS)
        self.books = MemoryBooks(folder / "memory", KEYS.views, self.journal, model=model)
        self.sayings = Talk(self.journal)
        self.forgotten: list[tuple[MemoryId, ...]] = []
        self.memories = Memories(
            MemoryStream(journal=self.journal, bus=bus, clock=self.clock),
            self.books,
            self.books,
            new_id=self.new_id,
            keeps_secret=lambda said: "",
            forgotten=lambda said: False,
        )
        self.recalls = Retriever(self.books.index, meaning, now_ms=self.clock.now_ms)
        self.files = Loading(self.books, self.books)
        self.recollection = Recollection(
            self.memories,
            self.recalls,
            self.files,
            models=ScriptedModels(()),
            clock=self.clock,
            forget=self._forget,
        )
        insights = Insights(self.books)
        self.forgetting = Forgetting(
            Parts(
                journal=self.journal,
                memory=self.memories.stream,
                holder=lambda id: _Nobody(),
                purges=(MemoryPurges(self.books, meaning),),
                files=Residue(Home(folder), KEYS),
                receipts=HomeReceipts(KEYS),
                words_of=lambda evidence: "",
                bus=bus,
                clock=self.clock,
            )
        )
        export = MemoryExport(self.books, self.books, KEYS.digests)
        runs = Runs(self.journal, self.books, self.books)
        self.queries = MemoryQueries(
            self.books,
            self.books,
            insights,
            self.recalls,
            self.files,
            runs,
            self.forgetting,
            export,
            mirror=lambda: MirrorState(True, "", "", 0),
            progress=lambda: (0, 0),
            now_ms=self.clock.now_ms,
        )
        self.sittings: list[Sitting] = []
        self.made: list[Memory] = []
        self._marks: dict[str, set[Scope]] = {}

    def close(self) -> None:
        """Let the files go."""
        self.books.close()
        self.journal.close()

    def new_id(self, prefix: str) -> str:
        """One that cannot be guessed from another."""
        return f"{prefix}_{self.random.getrandbits(64):016x}"

    # -- what there is --------------------------------------------------------------------------------------------

    @property
    def scopes(self) -> list[Scope]:
        """All of them."""
        places = [workspace_place(DEFAULT_WORKSPACE, folder) for folder in FOLDERS]
        levels: tuple[Level, ...] = ("workspace", "private")
        own = [Scope(level, place) for place in places for level in levels]
        channels = [Scope("channel", channel_place(DEFAULT_WORKSPACE, channel)) for channel in CHANNELS]
        return [Scope("global", GLOBAL), *own, *channels]

    def mark(self, scope: Scope) -> str:
        """A word that only those may read who may see this scope."""
        word = "zq" + "".join(self.random.choices(string.ascii_lowercase, k=10))
        self._marks[word] = {scope}
        return word

    def know(self, ref: str, scope: Scope) -> None:
        """Have a memory's or a turn's id be such a word."""
        self._marks.setdefault(ref, set()).add(scope)

    def given(self, memory: Memory, handed: str) -> None:
        """A session had something remembered: the words that it brought itself may now be seen where that may."""
        for word in self.shown(memory) & set(_MARKS.findall(handed.casefold())):
            self.know(word, memory.scope)
        self.know(memory.id, memory.scope)

    def leaks(self, said: object, look: Viewer, given: Collection[str] = ()) -> list[str]:
        """The words in something that this viewer may not see, but for those that were handed in."""
        found = self.shown(said) - set(_MARKS.findall(" ".join(given).casefold()))
        return sorted(word for word in found if not any(visible(scope, look) for scope in self._marks[word]))

    def shown(self, said: object) -> set[str]:
        """The words and ids in something that stand in any place."""
        text = said if isinstance(said, str) else msgspec.json.encode(said, enc_hook=repr).decode()
        return {word for word in _MARKS.findall(text.casefold()) if word in self._marks}

    # -- filling --------------------------------------------------------------------------------------------------

    async def fill(self, memories: int, turns: int) -> None:
        """So many memories a scope, and so many turns a session."""
        number = 0
        for place in (*FOLDERS, *CHANNELS):
            channel = place if place in CHANNELS else ""
            for attended in (True, False, True):
                number += 1
                directory = self.random.choice(FOLDERS) if channel else place
                await self._sit(SessionId(f"s_{number:016x}"), directory, channel, attended, turns)
        for scope in self.scopes:
            for _ in range(memories):
                await self.keep(self.memory(scope))

    def memory(self, scope: Scope) -> Memory:
        """One of this scope, with words of its own in every part."""
        topic = self.random.choice(TOPICS)
        id = MemoryId(self.new_id("m"))
        self.know(id, scope)
        return Memory(
            id=id,
            kind=self.random.choice(KINDS),
            text=f"The {topic} has the code {self.mark(scope)} since spring.",
            scope=scope,
            origin=self.random.choice(("user_said", "tool", "inferred", "imported", "file_edit")),
            label=self.random.choice(LABELS),
            valid_from_ms=START_MS + self.random.randrange(1_000_000),
            key=self.random.choice((f"{topic}.code", f"{topic}.{self.mark(scope)}", "")),
            value=self.mark(scope),
            aliases=(topic, self.mark(scope)),
            pinned=self.random.random() < 0.2,
            standing=self.random.random() < 0.1,
            expires_ms=self.random.choice((0, 0, START_MS + 5_000_000, START_MS + 10**11)),
        )

    async def keep(self, memory: Memory) -> None:
        """Have it remembered, and now and then be held no longer."""
        self.made.append(memory)
        facts: list[MemoryFact] = [ev.MemoryMade(memory, "cli")]
        if self.random.random() < 0.2:
            why = self.random.choice(_ENDS)
            facts.append(ev.MemoryRetired(memory.id, why, "", memory.valid_from_ms + 1_000, "cli"))
        async with self.memories.stream.lock:
            await self.memories.stream.record(facts, by="person")

    async def says(self, sitting: Sitting, text: str) -> None:
        """Let somebody say something in a session: the person, a channel's others, or a door that is not trusted."""
        seq = await self.sayings.says(sitting.id, text, self.random.choice((PERSON, *LABELS)))
        self.know(f"e_{seq}", self.scope_in(sitting))

    def scope_in(self, sitting: Sitting) -> Scope:
        """Who may see what is said in a session."""
        look = sitting.look
        if look.channel:
            return Scope("channel", look.channel)
        return Scope("private" if look.interactive else "workspace", look.workspace)

    def state(self, sitting: Sitting) -> Session:
        """The session, as it began."""
        return begin(ev.Event(1, sitting.id, 1, START_MS, "stead", CommandId(""), sitting.spec))

    async def _sit(self, id: SessionId, directory: str, channel: str, attended: bool, turns: int) -> None:
        place = channel_place(DEFAULT_WORKSPACE, channel) if channel else workspace_place(DEFAULT_WORKSPACE, directory)
        level: Level = "channel" if channel else "private" if attended else "workspace"
        scope = Scope(level, place)
        opening = (
            desk(f"On the {self.mark(scope)}") if attended else created(f"Find the {self.mark(scope)} of the gate.")
        )
        spec: ev.SessionOpened = replace(opening, directory=directory, channel=channel)
        sitting = Sitting(id, spec, viewer(spec))
        self.sittings.append(sitting)
        self.know(f"e_{await self.sayings.tell(id, spec)}", scope)
        for _ in range(turns):
            topic = self.random.choice(TOPICS)
            await self.says(sitting, f"What about the {topic}? It has the code {self.mark(scope)}.")
            await self.says(sitting, self.random.choice(STATED).format(self.mark(scope).title()))
            seq = await self.sayings.answers(id, f"The {topic} is seen to, by {self.mark(scope)}.")
            self.know(f"e_{seq}", scope)
        await self.sayings.tell(id, ev.TurnEnded(turns, "done", f"Saw to the {self.mark(scope)}."))

    async def _forget(self, ids: Sequence[MemoryId], door: str) -> str:
        self.forgotten.append(tuple(ids))
        raise Conflict("these grounds forget nothing")


def other(memory: Memory, random: Random) -> str:
    """Something by which a memory could be named: its id, key, aliases, value, words, or a part of them."""
    handles = (memory.id, memory.key or memory.id, *memory.aliases, memory.value, memory.text, memory.text[4:40])
    return random.choice((*handles, f"[{memory.id}]", f"{memory.text} {memory.id}", memory.text.upper()))
