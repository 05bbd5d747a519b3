"""What the door asks about the record, answered from the simulator's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stead.domain import events as ev
from stead.domain.audit import AuditReport, Decision, Head, decisions
from stead.domain.errors import NotFound
from stead.domain.ids import SessionId
from stead.domain.ports import Journal


class SimulatedAudit:
    """Heads that nobody signed, and decisions by the product's own fold."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._heads: list[Head] = []

    def verify(self) -> AuditReport:
        count = len(self._heads)
        return AuditReport(self._journal.head(), 0, count, count, 0, (), ())

    def last(self) -> Head:
        if not self._heads:
            raise NotFound("no head has been signed yet; run 'stead audit head'")
        return self._heads[-1]

    async def sign(self) -> Head:
        if not (size := self._journal.head()):
            raise NotFound("the journal has no event to sign yet; start Stead")
        self._heads.append(Head("aa", size, "bb", "cc", 1_760_000_000_000, "dd", "ee"))
        return self._heads[-1]

    def page(
        self,
        *,
        session: SessionId | None,
        verdict: Literal["allow", "ask", "deny", ""],
        call: str,
        before: int,
        limit: int,
    ) -> tuple[Sequence[Decision], str]:
        found = [
            decision
            for decision in self._all()
            if session in (None, decision.session)
            and verdict in ("", decision.verdict)
            and call in ("", decision.key)
            and (not before or decision.seq < before)
        ]
        return found[:limit], str(found[limit - 1].seq) if len(found) > limit else ""

    def newest(self, limit: int) -> Sequence[tuple[int, SessionId, bool]]:
        return ()

    def about(self, kinds: Sequence[type[ev.Body]], since_ms: int) -> Sequence[ev.Event]:
        return ()

    def decision(self, seq: int) -> Decision:
        for decision in self._all():
            if decision.seq == seq:
                return decision
        raise NotFound(f"event {seq} is no verdict that is still there; see 'stead audit log'")

    def _all(self) -> list[Decision]:
        streams: dict[SessionId, list[ev.Event]] = {}
        for event in self._journal.events():
            if isinstance(event, ev.Event):
                streams.setdefault(event.session, []).append(event)
        told = [decision for stream in streams.values() for decision in decisions(stream)]
        return sorted(told, key=lambda decision: -decision.seq)
