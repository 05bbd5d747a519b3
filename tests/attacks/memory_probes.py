"""Random looks into memory from one place, with every argument taken from another.

``Probing.probe`` makes one look and gives the words that came out and must not have. Nothing here is told which of its
arguments are another place's: a look is as likely to be allowed as not, so that an answer that is empty for everybody
does not pass for a safe one (``Probing.seen`` counts what came out rightly).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from stead.domain.errors import SteadError
from stead.domain.ids import DEFAULT_WORKSPACE, CallDigest, CallKey
from stead.domain.memory import GLOBAL, KINDS, Memory, Query, Source, Viewer, workspace_place
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import ToolContext
from stead.tools.remembering import CorrectTool, ForgetTool, RecallAllTool, RecallTool, RememberTool
from stead.tools.tool import StructTool
from tests.attacks.memory_grounds import FOLDERS, TOPICS, Grounds, Sitting, other
from tests.build import START_MS

_MADE = re.compile(r"^(?:made|superseded): \[(m_[0-9a-f]{16})\]", re.M)
Look = Callable[[], Awaitable[list[str]]]


class Probing:
    """Probes over grounds, of every kind as often as of any other.

    Args:
        grounds: filled.
    """

    def __init__(self, grounds: Grounds) -> None:
        self.grounds = grounds
        self.random: Random = grounds.random
        self.seen: Counter[str] = Counter()
        memory = grounds.recollection
        self._tools: dict[str, StructTool[Any]] = {
            tool.spec.name: tool
            for tool in (
                RecallTool(memory),
                RecallAllTool(memory),
                RememberTool(memory),
                CorrectTool(memory),
                ForgetTool(memory),
            )
        }
        self._kinds: dict[str, Look] = {
            "recall": self._recall,
            "recall_all": self._recall_all,
            "remember": self._remember,
            "correct_memory": self._correct,
            "forget_memory": self._forget,
            "candidates": self._candidates,
            "opening": self._opening,
            "words": self._words,
            "files": self._files,
            "query": self._query,
            "preview": self._preview,
            "change": self._change,
        }

    async def probe(self) -> list[str]:
        """One of them; gives what leaked."""
        kind = self.random.choice(list(self._kinds))
        leaked = await self._kinds[kind]()
        self.seen[f"{kind}: probes"] += 1
        return [f"{kind}: {word}" for word in leaked]

    # -- through the tools ----------------------------------------------------------------------------------------

    async def _recall(self) -> list[str]:
        return await self._call(
            "recall", query=self._words_for()[:2_000], limit=self.random.randint(1, 50), as_of=self._day()
        )

    async def _recall_all(self) -> list[str]:
        return await self._call("recall_all", query=self._words_for()[:2_000], limit=self.random.randint(1, 50))

    async def _remember(self) -> list[str]:
        """Say something, and have it remembered under another place's key and value, or in its words."""
        sitting, victim = self._sitting(), self._victim()
        said = f"The {self.random.choice(TOPICS)} opens at {self.random.randrange(10**6)}."
        await self.grounds.sayings.says(sitting.id, said)
        item = {
            "text": self.random.choice((said, said, victim.text)),
            "key": victim.key if self.random.random() < 0.1 else victim.aliases[0],
            "value": self._value(victim),
            "kind": self.random.choice(KINDS),
        }
        return await self._call("remember", sitting, items=[item])

    def _value(self, victim: Memory) -> str:
        """Seldom another place's own: once it is remembered, it is no sign of a leak any more."""
        return victim.value if self.random.random() < 0.1 else str(self.random.randrange(100))

    async def _correct(self) -> list[str]:
        sitting, victim = self._sitting(), self._victim()
        said = f"The {self.random.choice(TOPICS)} closes at {self.random.randrange(10**6)}."
        await self.grounds.sayings.says(sitting.id, said)
        return await self._call(
            "correct_memory", sitting, old=other(victim, self.random), text=said, value=self._value(victim)
        )

    async def _forget(self) -> list[str]:
        sitting = self._sitting()
        named = [other(self._victim(), self.random) for _ in range(self.random.randint(1, 3))]
        self.grounds.forgotten.clear()
        leaked = await self._call("forget_memory", sitting, memories=named)
        return leaked + self.grounds.leaks(self.grounds.forgotten, sitting.look)

    async def _call(self, name: str, sitting: Sitting | None = None, **arguments: object) -> list[str]:
        """A call as a model makes it, with what its progress says."""
        sitting, tool = sitting or self._sitting(), self._tools[name]
        said = json.dumps(arguments)
        told: list[str] = []
        try:
            parsed = tool.parse(said)
            permit = Permit(
                session=sitting.id,
                call=CallKey("call_1_0"),
                tool=name,
                arguments=parsed,
                digest=CallDigest(""),
                nonce=bytes(16),
            )
            outcome = await tool.run(permit, parsed, ToolContext(sitting.id, told.append))
        except SteadError as error:
            return self._judged(name, [str(error), *told], sitting.look, said)
        for id in _MADE.findall(outcome.text) if name in ("remember", "correct_memory") else ():
            self.grounds.given(self.grounds.books.row(id).memory, said)
        return self._judged(name, [outcome, *told], sitting.look, said)

    # -- what sessions are told -----------------------------------------------------------------------------------

    async def _candidates(self) -> list[str]:
        sitting, text = self._sitting(), other(self._victim(), self.random)
        return self._judged(
            "candidates", await self.grounds.recollection.candidates(sitting.id, text), sitting.look, text
        )

    async def _opening(self) -> list[str]:
        sitting, text = self._sitting(), self._words_for()
        told = await self.grounds.recollection.opening(sitting.spec, text)
        return self._judged("opening", told, sitting.look, text)

    async def _words(self) -> list[str]:
        sitting, text = self._sitting(), self._words_for()
        told = await self.grounds.recollection.before_words(self.grounds.state(sitting), text)
        return self._judged("words", told, sitting.look, text)

    async def _files(self) -> list[str]:
        look = self._viewer()
        clearance = self.random.choice(list(Confidentiality))
        now_ms = START_MS + self.random.choice((0, 10**6, 10**7, 10**9))
        told = await asyncio.to_thread(self.grounds.files.loaded, look, now_ms, clearance)
        return self._judged("files", told, look)

    # -- below the tools, with whatever they never say ------------------------------------------------------------

    async def _query(self) -> list[str]:
        random, look, text = self.random, self._viewer(), self._words_for()
        sources: tuple[Source, ...] = ("memory", "chat", "talk")
        query = Query(
            text,
            limit=random.randint(1, 100),
            as_of_ms=random.choice((0, START_MS, START_MS + 10**7)),
            known_ms=random.choice((0, START_MS, START_MS + 10**8)),
            sources=random.choice(((), sources, ("memory",), ("chat", "talk"))),
            kinds=random.choice(((), KINDS[:3])),
            session=random.choice(self.grounds.sittings).id if random.random() < 0.3 else "",
            trusted=random.random() < 0.3,
            clearance=random.choice(list(Confidentiality)),
            superseded=random.random() < 0.5,
        )
        found = await self.grounds.recalls.recall(query, look)
        self.seen["near"] += sum(why.by == "meaning" for hit in found.hits for why in hit.why)
        trusted = [hit for hit in found.hits if query.trusted and hit.label.integrity is Integrity.UNTRUSTED]
        held = [hit for hit in found.hits if hit.label.confidentiality.exceeds(query.clearance)]
        return [*self._judged("query", found, look, text), *(hit.ref for hit in (*trusted, *held))]

    async def _preview(self) -> list[str]:
        directory, attended = self.random.choice(("", *FOLDERS)), self.random.random() < 0.5
        text = self._words_for()
        place = workspace_place(DEFAULT_WORKSPACE, directory) if directory else GLOBAL
        look = Viewer(place, interactive=attended)
        found = await self.grounds.queries.preview(Query(text, limit=50), directory, attended=attended)
        return self._judged("preview", found, look, text)

    async def _change(self) -> list[str]:
        """Something is remembered somewhere, and turns are said: no probe is to find the grounds as another did."""
        grounds = self.grounds
        await grounds.keep(grounds.memory(self.random.choice(grounds.scopes)))
        sitting = self._sitting()
        await grounds.says(
            sitting, f"Is the {self.random.choice(TOPICS)} coded {grounds.mark(grounds.scope_in(sitting))}?"
        )
        return []

    # -- choosing -------------------------------------------------------------------------------------------------

    def _judged(self, kind: str, said: object, look: Viewer, *given: str) -> list[str]:
        leaked = self.grounds.leaks(said, look, given)
        if not leaked and self.grounds.shown(said):
            self.seen[f"{kind}: told something"] += 1
        return leaked

    def _sitting(self) -> Sitting:
        return self.random.choice(self.grounds.sittings)

    def _victim(self) -> Memory:
        return self.random.choice(self.grounds.made)

    def _viewer(self) -> Viewer:
        """A session's, or one that no session has yet: an objective in a channel's folder, a folder never worked in."""
        if self.random.random() < 0.8:
            return self._sitting().look
        folder = self.random.choice((*FOLDERS, "/ada", "", "/ada/notes/"))
        return Viewer(workspace_place(DEFAULT_WORKSPACE, folder), interactive=self.random.random() < 0.5)

    def _words_for(self) -> str:
        topic = self.random.choice(TOPICS)
        return self.random.choice(
            (
                topic,
                f"What is the code of the {topic}, and of the {self.random.choice(TOPICS)}?",
                other(self._victim(), self.random),
                f"{topic} {self._victim().aliases[1]}",
                f'"{topic}" OR level:private NEAR/2 *',
            )
        )

    def _day(self) -> str:
        return self.random.choice(("", "", "2027-01-15", "1970-01-02", "9999-12-31"))
