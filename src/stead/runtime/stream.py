"""One session's end of the journal: facts are applied at once, and written together.

Layer: runtime. Between two commits the folded state runs ahead of the disk, so nothing that is seen outside (an effect,
a published event, an answer) may happen before ``commit`` has returned.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.brain.trimming import Prompt
from stead.domain.errors import BudgetRefused, NotFound
from stead.domain.events import Body, Draft, Erased, Event
from stead.domain.folding import apply, begin, fold
from stead.domain.ids import NO_COMMAND, CommandId, SessionId
from stead.domain.ports import Claimed
from stead.domain.sessions import Session
from stead.runtime.deps import Deps, Opening

SNAPSHOT_EVERY = 500
"""Events between two snapshots of a session, at least."""
SNAPSHOT_GROWTH = 8
"""A snapshot holds the whole session, so the next waits until the session has grown by one part in so many."""

_FORM = b"18:"
"""Heads every snapshot; it changes with whatever ``Session`` or its fold comes to mean."""

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Session)


class Stream:
    """The session's state and its way into the journal. One owner at a time; see ``Actor.lock``."""

    def __init__(self, session: Session, deps: Deps) -> None:
        self.session = session
        self._deps = deps
        self._pending: list[Draft] = []
        self._snapshot_seq = session.seq
        self.prompt = Prompt()
        self.place = 0
        """The global ``seq`` of the last event that was written here."""

    @classmethod
    def load(cls, id: SessionId, deps: Deps) -> Stream | None:
        """Fold what the journal has of a session, from its snapshot on if it has one; nothing for one that is gone."""
        session, place = _restore(deps.snapshots.load(id))
        for event in deps.journal.events(session=id, after=place):
            if isinstance(event, Erased):
                return None  # only a deleted session's events are erased
            session, place = fold((event,), session), event.seq
        if session is None:
            return None
        stream = cls(session, deps)
        stream.place = place
        return stream

    @classmethod
    def open(
        cls,
        id: SessionId,
        body: Body,
        cause: CommandId,
        deps: Deps,
        actor: Literal["person", "model"] = "person",
    ) -> Stream:
        """A new session from its first fact, not yet committed."""
        draft = Draft(session=id, session_seq=1, ts_ms=deps.clock.now_ms(), actor=actor, cause=cause, body=body)
        stream = cls(begin(_event(draft)), deps)
        stream._pending.append(draft)
        return stream

    def add(
        self, *bodies: Body, actor: Literal["person", "model", "stead"] = "stead", cause: CommandId = NO_COMMAND
    ) -> None:
        """Let these have happened; they are durable after the next commit."""
        for body in bodies:
            draft = Draft(self.session.id, self.session.seq + 1, self._deps.clock.now_ms(), actor, cause, body)
            apply(self.session, _event(draft))
            self._pending.append(draft)

    async def propose(self, body: Body) -> None:
        """Write what was added, and with it a fact that the journal may refuse; it has happened once it is written.

        Raises:
            BudgetRefused: it has not happened. What was added before is written, and this object tells the truth.
            Fenced, Conflict, StorageFault: as ``commit``.
        """
        draft = Draft(self.session.id, self.session.seq + 1, self._deps.clock.now_ms(), "stead", NO_COMMAND, body)
        try:
            events = await self._deps.journal.append([*self._pending, draft])
        except BudgetRefused:
            await self.commit()
            raise
        apply(self.session, _event(draft))
        await self._written(events)

    async def commit(self, claim: Claimed | None = None) -> tuple[Event, ...]:
        """Write what was added, all or nothing, then publish it.

        Raises:
            Fenced, Conflict, StorageFault: nothing was written; this object no longer tells the truth and must be
                dropped.
        """
        if not self._pending:
            return ()
        events = await self._deps.journal.append(self._pending, claim=claim)
        await self._written(events)
        return events

    async def commit_with_child(self, opening: Opening) -> None:
        """Write what was added here and the first facts of a subagent in one transaction, then publish both.

        Raises:
            BudgetRefused, Fenced, Conflict, StorageFault: as ``commit``.
        """
        child = Stream.open(opening.spawned.session, opening.opened, NO_COMMAND, self._deps, actor="model")
        child.add(*opening.facts)
        events = await self._deps.journal.append([*self._pending, *child._pending])
        for stream in (self, child):
            await stream._written(tuple(event for event in events if event.session == stream.session.id))

    def reload(self) -> None:
        """Follow the journal as it is now that words were forgotten, in the same object, since whoever works has it.

        Everything added is committed. It blocks.
        """
        events = self._deps.journal.events(session=self.session.id)
        fresh = fold(event for event in events if isinstance(event, Event))
        if fresh is None:
            raise NotFound(f"there is no session {self.session.id!r} any more")
        for name in fresh.__struct_fields__:
            setattr(self.session, name, getattr(fresh, name))

    async def _written(self, events: tuple[Event, ...]) -> None:
        self._pending = []
        self.place = events[-1].seq
        self._deps.bus.publish(events)
        if self.session.seq - self._snapshot_seq >= max(SNAPSHOT_EVERY, self._snapshot_seq // SNAPSHOT_GROWTH):
            self._snapshot_seq = self.session.seq
            state = _encoder.encode(self.session)
            await self._deps.snapshots.save(self.session.id, self.session.seq, b"%b%d:%b" % (_FORM, self.place, state))


def _restore(kept: tuple[int, bytes] | None) -> tuple[Session | None, int]:
    """The state in a snapshot and the place in the journal that it stands for.

    Nothing for one that another version of the fold has made, as the journal has it all.
    """
    if kept is None or not kept[1].startswith(_FORM):
        return None, 0
    place, _, state = kept[1].removeprefix(_FORM).partition(b":")
    return _decoder.decode(state), int(place)


def _event(draft: Draft) -> Event:
    """A draft as the fold reads it; its global place is not known yet, and no fold looks at it."""
    return Event(0, draft.session, draft.session_seq, draft.ts_ms, draft.actor, draft.cause, draft.body)
