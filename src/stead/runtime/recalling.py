"""Memory in a session: what its model is told before it begins and before each of the person's words, and its tools.

Layer: runtime. Who looks is known from what the session was begun as; nothing that a model says takes part. What came
of strangers' words is told only to a model that asks for it, because whoever is told it has read it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec.structs import replace

from stead.brain.consolidating import from_widest, seen_from
from stead.brain.explicit import everywhere
from stead.brain.nearness import nearness
from stead.brain.remembering import (
    as_begun,
    corrected,
    held_fast,
    is_persons,
    may_replace,
    normal,
    says_otherwise,
    says_the_same,
    unsettled,
)
from stead.domain import events as ev
from stead.domain.errors import CallerError, NotFound, StorageFault
from stead.domain.ids import SessionId
from stead.domain.memory import (
    Hit,
    Memory,
    MemoryId,
    MemoryRow,
    Origin,
    Query,
    Recalled,
    Scope,
    Viewer,
    visible,
)
from stead.domain.memory_events import LoadedFile
from stead.domain.memory_ports import Done, Recalls, Said, Wanted, Whereabouts
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.ports import Clock, Models
from stead.domain.sessions import Session, viewer
from stead.runtime.loading import Loading
from stead.runtime.memories import Memories

_TEXT_CHARS = 600
_QUERY_CHARS = 4_000
_DEADLINE_S = 3.0
"""How long a person's words wait for what is remembered of them."""
_NEAR = 0.75
_MOST_NEAR = 20
_FAST = "the person wrote, pinned or ordered what is there: ask them to change it, or to say it as it is to stand"
_NOT_SAID = "the person has not said so since: what they said stands until they say what holds instead"
_DOOR = "tool"
_CONFIDENCE = {"user_said": 0.9, "tool": 0.7}

log = logging.getLogger(__name__)


class Recollection:
    """Implements ``domain.memory_ports.Remembering``, and tells sessions what is remembered.

    Args:
        memories: where statements are taken in.
        recalls: what finds them.
        files: what sessions begin with.
        models: says what a chain may be sent.
        clock: see there.
        forget: forgets memories for good; gives what was done, in words.
        fresh: looks at memory in a thread, after it has taken in what the person has just written into its files.
    """

    def __init__(
        self,
        memories: Memories,
        recalls: Recalls,
        files: Loading,
        *,
        models: Models,
        clock: Clock,
        forget: Callable[[Sequence[MemoryId], str], Awaitable[str]],
        fresh: Callable[..., Awaitable[Any]] = asyncio.to_thread,
    ) -> None:
        self._fresh = fresh
        self._memories = memories
        self._recalls = recalls
        self._files = files
        self._models = models
        self._clock = clock
        self._forget = forget

    # -- what sessions are told -----------------------------------------------------------------------------------

    async def opening(self, spec: ev.SessionOpened, words: str) -> tuple[ev.Body, ...]:
        """What a session begins with: the files of memory and, for an objective, what its goal brings to mind.

        Args:
            spec: what it is begun as.
            words: the goal; "" for a session that waits for words.
        """
        cleared, files = await self._fresh(self._loaded, spec)
        facts: list[ev.Body] = []
        if files:
            facts.append(ev.MemoryLoaded(files, Label(Integrity.TRUSTED, Confidentiality.PRIVATE)))
        if words:
            said = "\n".join(file.text for file in files)
            facts += await self._recalled(words, viewer(spec), cleared, SessionId(""), (), said)
        return tuple(facts)

    def _loaded(self, spec: ev.SessionOpened) -> tuple[Confidentiality, tuple[LoadedFile, ...]]:
        """The clearance of a session's models, and the files of memory that they may read."""
        cleared = self.clearance(spec)
        try:
            return cleared, self._files.loaded(viewer(spec), self._clock.now_ms(), cleared)
        except StorageFault as fault:
            log.warning("a session begins without the files of memory: %s", fault)
            return cleared, ()

    async def before_words(self, session: Session, words: str) -> tuple[ev.Body, ...]:
        """What a model is told before the person's words: nothing that it has been told already."""
        look, cleared = viewer(session.spec), await self._fresh(self.clearance, session.spec)
        return await self._recalled(words, look, cleared, session.id, session.recalled, session.files)

    async def _recalled(
        self, words: str, look: Viewer, cleared: Confidentiality, session: SessionId, known: Sequence[str], files: str
    ) -> tuple[ev.MemoryRecalled, ...]:
        """What comes to mind. A pinned memory that the files of memory show is left out."""
        query = Query(
            words[:_QUERY_CHARS],
            limit=self._files.recalled,
            session=session,
            trusted=True,
            clearance=cleared,
            told=tuple(known),
            chars=_TEXT_CHARS,
        )
        try:
            found = await asyncio.wait_for(self._recalls.recall(query, look), _DEADLINE_S)
        except (TimeoutError, StorageFault) as fault:
            why = str(fault) or f"it took longer than {_DEADLINE_S} s"
            log.warning("a model is told nothing of what is remembered: %s", why)
            return ()
        lines = {normal(line.removeprefix("- ")) for line in files.splitlines()}
        said = {normal(words)}
        hits = [
            hit
            for hit in found.hits
            if normal(hit.text) not in (said | lines if any(why.by == "pinned" for why in hit.why) else said)
        ]
        if not hits:
            return ()
        told = tuple(ev.Told(hit.ref, _told(hit), tuple(why.by for why in hit.why)) for hit in hits)
        dead = tuple(leg.leg for leg in found.legs if not leg.alive)
        return (ev.MemoryRecalled(told, dead, _together([hit.label for hit in hits])),)

    # -- tools ----------------------------------------------------------------------------------------------------

    async def remember(self, session: SessionId, items: Sequence[Wanted]) -> tuple[Done, ...]:
        """See ``domain.memory_ports.Remembering``."""
        where = await asyncio.to_thread(self._memories.remembered.whereabouts, session)
        done: list[Done] = []
        async with self._memories.stream.lock:
            for item in items:
                borne = await self._borne_out(session, where, item)
                if isinstance(borne, Done):
                    done.append(borne)
                    continue
                new = await asyncio.to_thread(self._beside_what_is_known, *borne)
                if isinstance(new, Done):
                    done.append(new)
                    continue
                (taken,) = await self._memories.take_in((new,), _DOOR, begun=(new.id,))
                if taken.facts:
                    await self._memories.stream.record(taken.facts, by="model")
                said = taken.memory.text if where.tainted or not _strange(taken.memory) else new.text
                done.append(Done(taken.change, taken.memory.id, said + _beside(taken.contradicts)))
        return tuple(done)

    async def correct(self, session: SessionId, old: str, item: Wanted) -> Done:
        """See ``domain.memory_ports.Remembering``."""
        found = await self.candidates(session, old)
        if len(found) != 1:
            near = "".join(f"\n- [{memory.id}] {' '.join(memory.text.split())}" for memory in found)
            many = f"{len(found)} memories come near to that; name one by its id:{near}"
            return Done("refused", "", many if found else "nothing is remembered that says it")
        (was,) = found
        where = await asyncio.to_thread(self._memories.remembered.whereabouts, session)
        item = replace(item, kind=was.kind, key=item.key or was.key, aliases=item.aliases or was.aliases)
        async with self._memories.stream.lock:
            borne = await self._borne_out(session, where, item)
            if isinstance(borne, Done):
                return borne
            new, said = borne
            if not may_replace(new, was) or (where.tainted and not _strange(was)):
                return Done("refused", was.id, "it is not for this session to correct; ask the person to do it")
            held = await asyncio.to_thread(self._memories.remembered.alike, was.scope, was.text, was.key)
            row = next((row for row in held if row.memory.id == was.id), None)
            if row is None:
                return Done("refused", "", "it holds no longer: somebody corrected or forgot it just now")
            was = as_begun(row, new.valid_from_ms).memory
            if held_fast(was, _DOOR) and new.label.integrity is not Integrity.PERSON:
                return Done("refused", was.id, _FAST)
            new = replace(new, scope=was.scope, pinned=was.pinned, standing=was.standing)
            alike = await asyncio.to_thread(self._alike, new.scope, new)
            if fast := [row.memory for row in alike if row.memory.id != was.id and held_fast(row.memory, _DOOR)]:
                return Done("refused", was.id, f"{fast[0].id} stands there already, and {_FAST}")
            others = (was, *(row.memory for row in alike))
            if not all(says_otherwise(old, new, said) for old in others if is_persons(old)):
                return Done("refused", was.id, _NOT_SAID)
            await self._memories.stream.record(corrected(was, new, False, _DOOR, alike), by="model")
        return Done("superseded", new.id, new.text)

    async def candidates(self, session: SessionId, text: str) -> tuple[Memory, ...]:
        """See ``domain.memory_ports.Remembering``."""
        where = await asyncio.to_thread(self._memories.remembered.whereabouts, session)
        return await self.named(where.viewer, text, strange=where.tainted)

    async def named(self, look: Viewer, text: str, *, strange: bool = True) -> tuple[Memory, ...]:
        """The memories that a text names, as this viewer sees them; see ``domain.memory_ports.Remembering``.

        Args:
            look: who looks.
            text: see there.
            strange: also what strangers made and this only nearly says; whoever is shown that has read their words.
        """
        if text.startswith("m_"):
            try:
                row = await asyncio.to_thread(self._memories.remembered.row, MemoryId(text.strip()))
            except CallerError:
                return ()
            shown = strange or not _strange(row.memory)
            return (row.memory,) if shown and row.status == "live" and visible(row.memory.scope, look) else ()
        query = Query(text[:_QUERY_CHARS], limit=_MOST_NEAR * 2, sources=("memory",), overtaken=True, looked_up=True)
        found = await self._recalls.recall(query, look)
        memories = [hit.memory for hit in found.hits if hit.memory is not None]
        for same in (lambda said: said == text.strip(), lambda said: normal(said) == normal(text)):
            if exact := [memory for memory in memories if same(memory.text)]:
                return tuple(exact[:_MOST_NEAR])
        near = await asyncio.to_thread(_near, text, [one for one in memories if strange or not _strange(one)])
        return tuple(near[:_MOST_NEAR])

    async def forget(self, session: SessionId, ids: Sequence[MemoryId]) -> str:
        """See ``domain.memory_ports.Remembering``."""
        where = await asyncio.to_thread(self._memories.remembered.whereabouts, session)
        for id in ids:
            if not await self.named(where.viewer, id):
                return "Nothing was forgotten: a memory that was named is not there."
        return await self._forget(ids, "tool")

    async def recall(self, session: SessionId, query: Query) -> Recalled:
        """See ``domain.memory_ports.Remembering``."""
        where = await asyncio.to_thread(self._memories.remembered.whereabouts, session)
        return await self._recalls.recall(replace(query, session=session, looked_up=True), where.viewer)

    def _beside_what_is_known(self, new: Memory, said: Said) -> Memory | Done:
        """What of a statement is to be taken in, or why nothing is.

        No copy of what more sessions know. Where the person has settled something themselves, no wording of a model's,
        and their own words at no key: a model chose that, and it would have two of their words contradict each other.
        """
        there = [row.memory for scope in from_widest(new.scope) for row in self._alike(scope, new)]
        for old in there:
            copy = old.scope != new.scope and not _strange(old) and may_replace(old, new)
            if copy and says_the_same(old, new):
                return Done("same", old.id, old.text)
        settled = [old for old in there if new.key and old.key == new.key and held_fast(old, _DOOR)]
        if not settled or _strange(new) or any(says_the_same(old, new) for old in settled):
            # What is a stranger's stands beside it, and is told to nobody unasked.
            return new if _strange(new) else unsettled(new, there, said)
        if new.label.integrity is Integrity.PERSON:
            return replace(new, key="", value="")
        return Done("refused", "" if _strange(settled[0]) else settled[0].id, _FAST)

    def _alike(self, scope: Scope, new: Memory) -> tuple[MemoryRow, ...]:
        return self._memories.remembered.alike(scope, new.text, new.key)

    def clearance(self, spec: ev.SessionOpened) -> Confidentiality:
        """What every model of a session's chain may be sent; nothing private when one of them is not there now."""
        try:
            return min((self._models.info(ref).clearance for ref in spec.chain), key=list(Confidentiality).index)
        except NotFound:
            return Confidentiality.PUBLIC

    async def _borne_out(self, session: SessionId, where: Whereabouts, item: Wanted) -> tuple[Memory, Said] | Done:
        """The memory that a statement would be and the words behind it, whose label it has, or why it cannot be."""
        said = await asyncio.to_thread(self._memories.remembered.said, session, item.text)
        if said is None:
            return Done("refused", "", f"nobody said it here, so it is not remembered: {item.text!r}; use their words")
        persons = said.label.integrity is Integrity.PERSON
        label = _label(item.text, said, where.tainted)
        if where.tainted:
            # Under a key of the model's choice the person's own sentence could take any other memory's place.
            item = Wanted(text=item.text) if label.integrity is Integrity.PERSON else item
        origin: Origin = "user_said" if persons else "tool"
        wide = persons and not where.tainted and everywhere(said.text)
        try:
            new = self._memories.require_savable(
                Memory(
                    id=MemoryId(self._memories.new_id("m")),
                    kind=item.kind,
                    text=item.text,
                    scope=seen_from(where.viewer, everywhere=wide),
                    origin=origin,
                    label=label,
                    valid_from_ms=said.ts_ms,
                    key=item.key,
                    value=item.value,
                    aliases=item.aliases,
                    evidence=(said.evidence,),
                    confidence=_CONFIDENCE[origin],
                )
            )
        except CallerError as refused:
            return Done("refused", "", str(refused))
        return new, said


def _strange(memory: Memory) -> bool:
    return memory.label.integrity is Integrity.UNTRUSTED


def _label(text: str, said: Said, tainted: bool) -> Label:
    """The label of a statement: the person's where it repeats a whole sentence of theirs.

    A model that strangers speak through could make another statement of the person's words by leaving some out, so its
    own wording is a stranger's.
    """
    if said.label.integrity is Integrity.PERSON and normal(text) == normal(said.text):
        return said.label
    untrusted = tainted or said.label.integrity is Integrity.UNTRUSTED
    return Label(Integrity.UNTRUSTED if untrusted else Integrity.TRUSTED, said.label.confidentiality)


def _together(labels: Sequence[Label]) -> Label:
    """The label of words of which each has its own: as trusted as the least of them, as confidential as the most."""
    integrity = max((label.integrity for label in labels), key=list(Integrity).index)
    held = max((label.confidentiality for label in labels), key=list(Confidentiality).index)
    return Label(max(integrity, Integrity.TRUSTED, key=list(Integrity).index), held)


def _told(hit: Hit) -> str:
    text = " ".join(hit.text.split())
    return f"{hit.who}: {text}" if hit.who else text


def _near(text: str, memories: Sequence[Memory]) -> list[Memory]:
    said = normal(text[:_QUERY_CHARS])
    return [memory for memory in memories if nearness(normal(memory.text), said) >= _NEAR]


def _beside(ids: Sequence[str]) -> str:
    if not ids:
        return ""
    return f" (beside {', '.join(ids)}, which says otherwise and is the person's word)"
