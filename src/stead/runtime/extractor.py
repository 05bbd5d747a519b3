"""Extracting memories from what the person said, by a model: reserved and recorded before, settled with the result.

Layer: runtime. It reads what is new since its own last run, within its own daily cap and the home's; where nothing is
new, nothing is sent. The stream's lock is free while the model thinks. A reply that a crash cuts off is recorded as
lost at the next start and counts in full, as everywhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from stead.brain import extraction
from stead.brain.consolidating import scope_of
from stead.brain.dates import DAY_MS
from stead.brain.estimate import estimate_request
from stead.brain.limits import reservation
from stead.domain import events as ev
from stead.domain.consolidating import BY_PERSON, RULES
from stead.domain.errors import BudgetRefused, ModelFault, NotFound
from stead.domain.ids import CallKey, RequestNo
from stead.domain.memory import MEMORY, Episode, Memory, MemoryId, PlaceId, RunId
from stead.domain.memory_events import MemoryConsolidated, MemoryFact
from stead.domain.memory_ports import RowsWanted
from stead.domain.messages import Text
from stead.domain.policies import Integrity, Label
from stead.domain.ports import Journal, ModelInfo, ModelRequest, Models, Reply
from stead.domain.reading_events import ReadingBody
from stead.runtime.consolidation import Consolidation, Run
from stead.runtime.loading import day_of
from stead.runtime.reading_facts import failed, lost, replied
from stead.runtime.yielding import unless_needed

TOKENS_A_DAY = 20_000
"""What extraction may cost in a day of the person's, apart from the home's cap."""
TURNS = 40
"""Of one request."""
_KEYS = 60
_RUNS = 1_000
_CONFIDENCE = 0.7

log = logging.getLogger(__name__)


class Extractor:
    """The runs by a model.

    Args:
        consolidation: takes in what comes of them.
        models: the home's, which are sent no secret; the built-in rehearsal extracts nothing.
        journal: for what a crash left open.
        tokens_a_day: see ``TOKENS_A_DAY``; 0 to ask no model.
    """

    def __init__(
        self,
        consolidation: Consolidation,
        models: Callable[[], Models],
        journal: Journal,
        *,
        tokens_a_day: int = TOKENS_A_DAY,
    ) -> None:
        self._consolidation = consolidation
        self._models = models
        self._journal = journal
        self._tokens_a_day = tokens_a_day
        self._one_at_a_time = asyncio.Lock()
        self._recovered = False

    async def run(self) -> tuple[MemoryConsolidated, ...]:
        """Have what is new read, as far as the cap goes; gives the runs that there were.

        Raises:
            StorageFault: the journal or an index cannot be used; what was recorded before stays.
        """
        runs: list[MemoryConsolidated] = []
        async with self._one_at_a_time:
            if not self._recovered:
                runs += await self._recover()
                self._recovered = True
            for place in await asyncio.to_thread(self._consolidation.memories.reports.places):
                while one := await self._one(place.id):
                    runs.append(one)
                    if not one.read:
                        break  # it failed; the next time is soon enough
        return tuple(runs)

    async def _one(self, place: PlaceId) -> MemoryConsolidated | None:
        """One request and what came of it; nothing when there is nothing to ask, no model, or no room in the cap."""
        c, stream = self._consolidation, self._consolidation.memories.stream
        since_ms = stream.now_ms() - DAY_MS
        unread = await asyncio.to_thread(c.material.unread, place, model=True, limit=TURNS, since_ms=since_ms)
        models = await asyncio.to_thread(self._usable) if unread.turns else ()
        if not models:
            return None
        run = Run(RunId(c.memories.new_id("c")), place)
        turns = [turn for turn in unread.turns if extraction.worth_reading(turn) and _may_be_sent(turn, models)]
        if not turns:  # so that they are not looked at again
            return await self._closed(run, unread.upto, len(unread.turns), models[0].ref) if unread.more else None
        request, kept, reserved = await self._request(place, models, turns)
        if request is None:
            return None
        intent = ev.ReadingRequested(
            number=request.number,
            key=CallKey(run.id),
            size_bytes=sum(len(turn.text.encode()) for turn in turns[:kept]),
            max_output_tokens=request.max_output_tokens,
            reserved=reserved,
        )
        try:
            async with stream.lock:
                await stream.record([intent], by="stead")
        except BudgetRefused as refused:
            log.info("no model extracts memories: %s", refused)
            return None
        try:
            asking = self._models().reply(request, _unwatched)
            reply = await (unless_needed(asking, stream.watch(), MEMORY) if _own(models) else asking)
        except ModelFault as fault:
            log.warning("no model extracted memories: %s", fault)
            return await self._closed(run, turns[0].seq - 1, 0, models[0].ref, failed(intent, fault))
        upto = unread.upto if kept == len(turns) else turns[kept].seq - 1
        items = _items(reply, turns[:kept])
        return await self._closed(run, upto, kept, reply.model, replied(intent, reply), items)

    async def _closed(
        self,
        run: Run,
        upto: int,
        read: int,
        model: ev.ModelRef,
        outcome: ev.ReadingReplied | ev.ReadingFailed | None = None,
        items: Sequence[tuple[extraction.Extracted, Episode]] = (),
    ) -> MemoryConsolidated:
        """Record what became of a request, what of it is remembered, and how far was read."""
        memories = self._consolidation.memories
        async with memories.stream.lock:
            for item, turn in items:
                await self._take_in(run, item, turn)
            facts: list[MemoryFact | ReadingBody] = [outcome] if outcome else []
            facts += [*run.facts, *self._consolidation.asked(run)]
            closing = run.closed(
                facts, upto, read, tokens=outcome.spend.tokens if outcome else 0, by=f"{model.provider}/{model.model}"
            )
            await memories.stream.record([*facts, closing], by="stead")
        return closing

    async def _take_in(self, run: Run, item: extraction.Extracted, turn: Episode) -> None:
        """Take an item in that the quoted sentence bears out, unless it is over by now or noted already."""
        c = self._consolidation
        said = await asyncio.to_thread(c.material.bears, item.text, item.quote, turn)
        expires_ms = item.expires_ms(turn.ts_ms, c.zone_at(turn.ts_ms))
        if said is None or expires_ms is None or 0 < expires_ms <= c.memories.stream.now_ms():
            return
        memory = Memory(
            id=MemoryId(c.memories.new_id("m")),
            kind=item.kind,
            text=item.text,
            scope=scope_of(turn, run.place, everywhere=False),
            origin="user_said",
            label=Label(Integrity.TRUSTED, turn.label.confidentiality),
            valid_from_ms=turn.ts_ms,
            key=item.key,
            value=item.value,
            evidence=(said.evidence,),
            confidence=_CONFIDENCE,
            standing=item.lasts,
            expires_ms=expires_ms,
        )
        if not await c.known_from(run, memory):
            await c.take_in(run, memory, correcting=True, said=said)

    async def _request(
        self, place: PlaceId, models: Sequence[ModelInfo], turns: Sequence[Episode]
    ) -> tuple[ModelRequest | None, int, ev.Spend]:
        """The request for as many turns as there is room for, how many those are, and what it may cost."""
        wanted = RowsWanted(place=place, limit=_KEYS)
        rows, _ = await asyncio.to_thread(self._consolidation.memories.remembered.rows, wanted)
        keys = sorted({row.memory.key for row in rows if row.memory.key})
        left = self._tokens_a_day - await self._used()
        room = min(left, *(model.window_tokens for model in models))
        output = min(extraction.OUTPUT_TOKENS, *(model.max_output_tokens for model in models))
        kept = len(turns)
        while kept:
            message = extraction.message(turns[:kept], keys, self._consolidation.zone_at)
            tokens = estimate_request(extraction.INSTRUCTIONS, (), (message,))
            cap = min(output, room - tokens)
            if cap >= min(output, extraction.LEAST_OUTPUT_TOKENS):
                request = ModelRequest(
                    session=MEMORY,
                    number=RequestNo(self._journal.head() + 1),
                    chain=tuple(model.ref for model in models),
                    instructions=extraction.INSTRUCTIONS,
                    tools=(),
                    messages=(message,),
                    max_output_tokens=cap,
                )
                return request, kept, reservation(models, tokens, cap)
            kept //= 2
        return None, 0, ev.Spend()

    async def _used(self) -> int:
        """Tokens of this day of the person's."""
        since_ms = day_of(self._consolidation.memories.stream.now_ms()).since_ms
        runs = await asyncio.to_thread(self._consolidation.memories.reports.runs, _RUNS)
        return sum(run.tokens for ts_ms, run in runs if ts_ms >= since_ms)

    def _usable(self) -> tuple[ModelInfo, ...]:
        """The home's models without the rehearsal; it blocks."""
        found = []
        models = self._models()
        for ref in (models.role("fast") or models.default_chain()) if self._tokens_a_day else ():
            try:
                info = models.info(ref)
            except NotFound:
                continue
            if not info.rehearsal:
                found.append(info)
        return tuple(found)

    async def _recover(self) -> list[MemoryConsolidated]:
        """Close what a crash left open."""
        runs = await asyncio.to_thread(self._consolidation.memories.reports.runs, _RUNS)
        asked = [run.upto for _, run in runs if run.by not in (RULES, BY_PERSON)]  # one at a time: a later one is after
        left = await asyncio.to_thread(self._left_open, max(asked, default=0))
        if left is None:
            return []
        run = Run(RunId(left.key), PlaceId(""))
        ended = lost(left, "lost", "Stead was interrupted during the reading.")
        closing = run.closed((), 0, 0, tokens=left.reserved.tokens, by="lost")
        stream = self._consolidation.memories.stream
        async with stream.lock:
            await stream.record([ended, closing], by="stead")
        return [closing]

    def _left_open(self, after: int) -> ev.ReadingRequested | None:
        left: ev.ReadingRequested | None = None
        for event in self._journal.events(after=after, session=MEMORY):
            match event.body if isinstance(event, ev.Event) else None:
                case ev.ReadingRequested() as intent:
                    left = intent
                case ev.ReadingReplied() | ev.ReadingFailed():
                    left = None
                case _:
                    continue
        return left


def _own(models: Sequence[ModelInfo]) -> bool:
    """Whether one of them runs on a server of the person's own, which may answer one request at a time."""
    return any(model.price_known and not model.output_usd_micros_per_mtok for model in models)


def _may_be_sent(turn: Episode, models: Sequence[ModelInfo]) -> bool:
    return turn.label.integrity is Integrity.PERSON and all(
        not turn.label.confidentiality.exceeds(model.clearance) for model in models
    )


def _unwatched(text: str) -> None:
    """No door shows what a model extracts while it writes."""


def _items(reply: Reply, turns: Sequence[Episode]) -> list[tuple[extraction.Extracted, Episode]]:
    """The items of a whole reply, each with its turn; of a reply that was cut off there are none."""
    if reply.stop in ("length", "content_filter"):
        return []
    by_id = {f"e_{turn.seq}": turn for turn in turns}
    answer = "".join(part.text for part in reply.parts if isinstance(part, Text))
    return [(item, by_id[item.turn]) for item in extraction.extracted(answer) if item.turn in by_id]
