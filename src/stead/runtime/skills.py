"""Ways of working that the person approved, for sessions that look for how to do something.

Layer: runtime. Read only. Who looks is known from what the session was begun as, and nothing that strangers' words made
is among them.
"""

from __future__ import annotations

import asyncio
import logging

from stead.domain import events as ev
from stead.domain.errors import StorageFault
from stead.domain.ids import SessionId
from stead.domain.memory import Hit, Query
from stead.domain.memory_ports import Recalls, Remembered
from stead.domain.ports import Journal
from stead.runtime.recalling import Recollection

MOST = 3
_DEADLINE_S = 3.0
_MATCHES = frozenset({"alias", "words", "meaning"})

log = logging.getLogger(__name__)


class Skills:
    """Finds them.

    Args:
        recollection: says what a session's chain may be sent.
        recalls: what finds them.
        remembered: says who a session is.
        journal: has what it was begun as.
    """

    def __init__(self, recollection: Recollection, recalls: Recalls, remembered: Remembered, journal: Journal) -> None:
        self._recollection = recollection
        self._recalls = recalls
        self._remembered = remembered
        self._journal = journal

    async def approved(self, session: SessionId, query: str) -> tuple[str, ...]:
        """The texts of those that fit, best first, as far as every model of the session's chain may be sent them.

        Args:
            session: who looks.
            query: what it would do.
        """
        try:
            where = await asyncio.to_thread(self._remembered.whereabouts, session)
            cleared = await asyncio.to_thread(lambda: self._recollection.clearance(self._begun_as(session)))
            sought = Query(query, limit=MOST, sources=("memory",), kinds=("skill",), trusted=True, clearance=cleared)
            found = await asyncio.wait_for(self._recalls.recall(sought, where.viewer), _DEADLINE_S)
        except (TimeoutError, StorageFault) as fault:
            log.warning("a model is told of no skills: %s", str(fault) or f"it took longer than {_DEADLINE_S} s")
            return ()
        return tuple(hit.text for hit in found.hits if _fits(hit))[:MOST]

    def _begun_as(self, session: SessionId) -> ev.SessionOpened:
        first = next(self._journal.events(session=session))
        assert isinstance(first, ev.Event) and isinstance(first.body, ev.SessionOpened), "a session begins by it"
        return first.body


def _fits(hit: Hit) -> bool:
    """Whether the query found it; what is pinned is among the hits of any query."""
    return any(why.by in _MATCHES for why in hit.why)
