"""A session as it was at an earlier moment, from the journal.

Layer: runtime.
"""

from __future__ import annotations

import asyncio

from stead.domain.errors import NotFound
from stead.domain.events import Erased
from stead.domain.folding import fold
from stead.domain.ids import SessionId
from stead.domain.ports import Journal
from stead.domain.sessions import Session


async def state_at(journal: Journal, id: SessionId, at: int) -> Session:
    """The session as it was after one of its events.

    Args:
        journal: which has it.
        id: of the session.
        at: the event's ``session_seq``.

    Raises:
        NotFound: it was deleted, or never was.
    """
    return await asyncio.to_thread(_folded, journal, id, at)


def _folded(journal: Journal, id: SessionId, at: int) -> Session:
    events = []
    for event in journal.events(session=id):
        if isinstance(event, Erased):
            raise NotFound(f"the session {id!r} was deleted")
        if event.session_seq > at:
            break
        events.append(event)
    session = fold(events)
    if session is None:
        raise NotFound(f"there is no session {id!r}; see `stead session list`")
    return session
