"""Which sessions are live: finds, wakes and ends their actors, and starts them again after a crash.

Layer: runtime.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from stead import __version__
from stead.domain import events as ev
from stead.domain.errors import InvalidRequest
from stead.domain.ids import SessionId
from stead.domain.ports import REHEARSAL
from stead.runtime.deps import Deps
from stead.runtime.notes import Noted
from stead.runtime.service import Readiness
from stead.runtime.sessions import Actor
from stead.runtime.stream import Stream
from stead.runtime.workspace_binding import bind_by_session, bind_workspace


class Sessions:
    """The actors of the sessions that are not at rest."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._actors: dict[SessionId, Actor] = {}

    def actor(self, id: SessionId) -> Actor:
        """The session's actor, made when there is none; it reads the journal when it first needs to."""
        if id not in self._actors:
            self._actors[id] = Actor(id, self._deps)
        return self._actors[id]

    def adopt(self, stream: Stream) -> Actor:
        """Make the actor of a session that has just begun."""
        for id in [id for id, actor in self._actors.items() if actor.at_rest]:
            self.drop(id)
        session = stream.session
        with contextlib.suppress(InvalidRequest):  # the folder is gone since ``bind``: what was shown holds all
            bind_by_session(self._deps, session)
        actor = Actor(stream.session.id, self._deps, stream)
        self._actors[stream.session.id] = actor
        return actor

    def bind(self, id: SessionId, fact: ev.SessionOpened) -> None:
        """Check, before anything is written, that a machine may show the objective's folder.

        What the session has read is not known yet, see ``adopt``.

        Raises:
            InvalidRequest: as ``bind_workspace``.
        """
        bind_workspace(self._deps.machines, id, fact, None)

    def live(self) -> tuple[Actor, ...]:
        """Every actor there is."""
        return tuple(self._actors.values())

    async def halt(self, *actors: Actor) -> list[Actor]:
        """Cut these off, and every subagent below them that may be at work; gives all of them, for ``release``.

        They are known from memory, so that no record has to be read first.
        """
        halted = list(actors)
        for above in halted:
            halted += [actor for actor in self.live() if actor.parent == above.id and actor not in halted]
        await asyncio.gather(*(actor.halt() for actor in halted))
        return halted

    def resume(self, open_sessions: Iterable[SessionId]) -> None:
        """Wake the sessions that the last daemon left open. Each mends what was left and goes on."""
        for id in open_sessions:
            self.actor(id).wake()

    def note(self, session: SessionId, fact: Noted) -> None:
        """A fact about a session's machine, written with the session's next facts."""
        self.actor(session).note(fact)

    def drop(self, id: SessionId) -> None:
        """Forget an actor that has nothing more to do. What its machine shows is said again when it is loaded."""
        self._actors.pop(id, None)
        self._deps.machines.bind(id, "", writable=False)

    async def close(self) -> None:
        """Cut off everything that is under way, let the outcomes be recorded, and end."""
        await asyncio.gather(*(actor.close() for actor in self.live()))
        self._actors.clear()

    def readiness(self, started_ms: int) -> Readiness:
        """How things stand."""
        chain = self._deps.models.default_chain()
        return Readiness(
            version=__version__,
            build=__version__,
            started_ms=started_ms,
            head=self._deps.journal.head(),
            chain=chain,
            rehearsal=chain[0].provider == REHEARSAL,
            isolation=self._deps.machines.isolation(),
            live_sessions=sum(actor.busy for actor in self.live()),
            watchers=self._deps.bus.watchers,
        )
