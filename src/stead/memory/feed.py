"""What each event of the journal means for the indexes: memories as they are now, turns, what was used.

Layer: memory. One lives for one chunk of events. It reads rows through what its owner hands in, and writes nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import assert_never

from msgspec.structs import replace

from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, Episode, MemoryId, MemoryRow, PlaceId
from stead.domain.memory_events import MemoryFact
from stead.domain.messages import ToolCall
from stead.memory.directory import Known, failed
from stead.memory.evidence import spoken
from stead.memory.index import Changes
from stead.memory.writing import Used

_LINE = re.compile(r"^- \[(m_[0-9a-f]{16})\]", re.M)
"""How the tools that look something up name what they found."""


@dataclass(eq=False, repr=False)
class Feed:
    """Gathers changes by place.

    Args:
        row: a memory as its index has it, for those of which this chunk has said nothing yet.
        place_of: whose index has a memory, nothing for one that is gone.
        turns: refs of a session's turns in a place.
    """

    _row: Callable[[PlaceId, MemoryId], MemoryRow | None]
    _place_of: Callable[[MemoryId], PlaceId | None]
    _turns: Callable[[PlaceId, SessionId], tuple[str, ...]]

    def __post_init__(self) -> None:
        self._rows: dict[PlaceId, dict[MemoryId, MemoryRow]] = defaultdict(dict)
        self._episodes: dict[PlaceId, list[Episode]] = defaultdict(list)
        self._removed: dict[PlaceId, list[str]] = defaultdict(list)
        self._used: dict[PlaceId, list[Used]] = defaultdict(list)
        self._unsaid: dict[PlaceId, list[SessionId]] = defaultdict(list)
        self._failed: dict[PlaceId, list[str]] = defaultdict(list)

    def take(self, event: ev.Event, known: Known | None) -> None:
        """Let the indexes follow one event of this session (none for the streams of home and memory)."""
        body = event.body
        if isinstance(body, MemoryFact):
            self._take_fact(body, event.ts_ms)
            return
        if known is None:
            return
        self._episodes.setdefault(known.place, [])  # what has nothing to remember yet has its index all the same
        if isinstance(body, ev.ObjectiveEnded) and failed(body):
            fresh = (f"e_{turn.seq}" for turn in self._episodes[known.place] if turn.session == event.session)
            self._failed[known.place] += (*self._turns(known.place, event.session), *fresh)
        elif isinstance(body, ev.SessionDeleted):
            self._removed[known.place] += self._turns(known.place, event.session)
            said = self._episodes[known.place]
            self._episodes[known.place] = [turn for turn in said if turn.session != event.session]
            for place in (known.place, GLOBAL):
                self._unsaid[place].append(event.session)
                self._used[place] = [used for used in self._used[place] if used.session != event.session]
        elif refs := told_of(body):
            self._use(refs, event, known.place)
        elif turn := episode(event, known):
            self._episodes[known.place].append(turn)

    def _use(self, refs: Collection[str], event: ev.Event, here: PlaceId) -> None:
        for ref in refs:
            place = self._place_of(MemoryId(ref)) if ref.startswith("m_") else None
            if place in (here, GLOBAL):  # a text that names a memory of another place tells nothing of it
                self._used[place].append(Used(ref, event.session, event.ts_ms))

    def changes(self) -> dict[PlaceId, Changes]:
        """What has come together, by place."""
        places = {*self._rows, *self._episodes, *self._removed, *self._used, *self._unsaid}
        return {
            place: Changes(
                removed=tuple(self._removed[place]),
                rows=tuple(self._rows[place].values()),
                episodes=tuple(self._episodes[place]),
                used=tuple(self._used[place]),
                unsaid=tuple(self._unsaid[place]),
                failed=tuple(self._failed[place]),
            )
            for place in places
        }

    def _take_fact(self, fact: MemoryFact, ts_ms: int) -> None:
        match fact:
            case ev.MemoryMade(memory=memory, run=run):
                row = MemoryRow(memory, "live", recorded_ms=ts_ms, run=run)
                self._rows[memory.scope.place][memory.id] = row
            case ev.MemoryAmended(memory=memory):
                self._change(memory.id, lambda row: replace(row, memory=memory))
            case ev.MemoryRetired(id=id, why=why, by=by, valid_to_ms=valid_to_ms):
                status = "superseded" if why == "superseded" else "expired" if why == "expired" else "retired"
                self._change(
                    id,
                    lambda row: replace(
                        row,
                        memory=replace(row.memory, valid_to_ms=valid_to_ms or row.memory.valid_from_ms),
                        status=status,
                        retired_ms=row.retired_ms or ts_ms,
                        superseded_by=by,
                    ),
                )
            case ev.MemoryRestored(id=id):
                self._change(
                    id,
                    lambda row: replace(
                        row,
                        memory=replace(row.memory, valid_to_ms=0),
                        status="live",
                        retired_ms=0,
                        superseded_by="",
                    ),
                )
            case ev.ForgettingBegun(memories=memories):
                for id in memories:
                    place = self._place_of(id)
                    if place is not None:
                        self._rows[place].pop(id, None)
                        self._removed[place].append(id)
            case ev.MemoryForgotten() | ev.MemoryProposed() | ev.ProposalSettled() | ev.MemoryConsolidated():
                return
            case _:
                assert_never(fact)

    def _change(self, id: MemoryId, change: Callable[[MemoryRow], MemoryRow]) -> None:
        place = self._place_of(id)
        if place is None:
            return
        row = self._rows[place].get(id) or self._row(place, id)
        if row is not None:
            self._rows[place][id] = change(row)


def told_of(body: ev.Body) -> tuple[str, ...]:
    """The refs that a session's model was told of because they came to mind, or because it asked.

    Not what its files had: whatever stands there would be used by every session, and so never fade.
    """
    match body:
        case ev.MemoryRecalled(told=told):
            return tuple(one.ref for one in told)
        case ev.ToolFinished(tool="recall" | "recall_all", text=text, outcome="ok"):
            return tuple(_LINE.findall(text))
        case _:
            return ()


def episode(event: ev.Event, known: Known) -> Episode | None:
    """The turn that an event is, if a participant said something in it.

    What a tool gave is none, and neither are the words with which a model calls a tool: they announce a step.
    """
    body = event.body
    step = isinstance(body, ev.ModelReplied) and any(isinstance(part, ToolCall) for part in body.parts)
    said = None if step or isinstance(body, ev.ToolFinished) else spoken(event, tainted=known.tainted)
    if said is None:
        return None
    return Episode(
        seq=said.seq,
        session=said.session,
        source="talk" if known.place.startswith("c_") else "chat",
        who=said.who,
        text=said.text,
        ts_ms=said.ts_ms,
        private=known.attended,
        label=said.label,
    )
