"""Having a model note what the person said: reserved and recorded before, settled with what came of it after.

Layer: runtime. It reads what is new since its own last run, within its own daily cap and the home's; where nothing is
new, nothing is sent. The stream's lock is free while the model thinks. A reply that a crash cuts off is recorded as
lost at the next start and counts in full, as everywhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from stead.brain import gleaning
from stead.brain.consolidating import scope_of, wider
from stead.brain.dates import DAY_MS, day_of
from stead.brain.estimate import estimate_request
from stead.brain.limits import reservation
from stead.domain import events as ev
from stead.domain.consolidating import Unread
from stead.domain.errors import BudgetRefused, ModelFault, NotFound
from stead.domain.ids import CallKey, RequestNo
from stead.domain.memory import MEMORY, Episode, Memory, MemoryId, PlaceId, ProposalId, RunId
from stead.domain.memory_events import MemoryConsolidated
from stead.domain.memory_ports import RowsWanted
from stead.domain.messages import Text
from stead.domain.policies import Integrity, Label
from stead.domain.ports import Journal, ModelInfo, ModelRequest, Models, Reply
from stead.runtime import recovery
from stead.runtime.consolidation import BY_PERSON, RULES, Consolidation, Gathering

TOKENS_A_DAY = 20_000
"""What noting things down may cost in a UTC day, apart from the home's cap."""
TURNS = 40
"""Of one request."""
_KEYS = 60
_RUNS = 1_000
_CONFIDENCE = 0.7

log = logging.getLogger(__name__)


class Gleaning:
    """The runs by a model.

    Args:
        consolidation: takes in what comes of them.
        models: the home's, which are sent no secret; the built-in rehearsal notes nothing.
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
        self._mended = False

    async def run(self) -> tuple[MemoryConsolidated, ...]:
        """Have what is new read, as far as the cap goes; gives the runs that there were.

        Raises:
            StorageFault: the journal or an index cannot be used; what was recorded before stays.
        """
        runs: list[MemoryConsolidated] = []
        async with self._one_at_a_time:
            if not self._mended:
                runs += await self._mend()
                self._mended = True
            for place in await asyncio.to_thread(self._consolidation.reports.places):
                while one := await self._one(place.id):
                    runs.append(one)
                    if not one.read:
                        break  # it failed; the next time is soon enough
        return tuple(runs)

    async def _one(self, place: PlaceId) -> MemoryConsolidated | None:
        """One request and what came of it; nothing when there is nothing to ask, or nobody, or no room."""
        c, stream = self._consolidation, self._consolidation.memories.stream
        since_ms = stream.now_ms() - DAY_MS
        unread = await asyncio.to_thread(c.material.unread, place, model=True, limit=TURNS, since_ms=since_ms)
        models = await asyncio.to_thread(self._usable) if unread.turns else ()
        if not models:
            return None
        turns = [turn for turn in unread.turns if gleaning.worth_reading(turn) and _may_be_sent(turn, models)]
        if not turns:
            return await self._passed_over(place, unread, models[0]) if unread.more else None
        request, kept, reserved = await self._request(place, models, turns)
        if request is None:
            return None
        upto = unread.upto if kept == len(turns) else turns[kept].seq - 1
        gathering = Gathering(RunId(c.memories.new_id("c")), place)
        intent = ev.ReadingRequested(
            number=request.number,
            key=CallKey(gathering.run),
            size_bytes=sum(len(turn.text.encode()) for turn in turns[:kept]),
            max_output_tokens=request.max_output_tokens,
            reserved=reserved,
        )
        try:
            async with stream.lock:
                await stream.record([intent], by="stead")
        except BudgetRefused as refused:
            log.info("nothing is noted down by a model: %s", refused)
            return None
        return await self._settled(gathering, intent, request, turns[:kept], upto)

    async def _passed_over(self, place: PlaceId, unread: Unread, model: ModelInfo) -> MemoryConsolidated:
        """Note that there was nothing in many turns that is worth a request, so that they are not looked at again."""
        memories = self._consolidation.memories
        gathering = Gathering(RunId(memories.new_id("c")), place)
        closing = gathering.closed(unread.upto, len(unread.turns), by=_named(model.ref))
        async with memories.stream.lock:
            await memories.stream.record([closing], by="stead")
        return closing

    async def _settled(
        self,
        gathering: Gathering,
        intent: ev.ReadingRequested,
        request: ModelRequest,
        turns: Sequence[Episode],
        upto: int,
    ) -> MemoryConsolidated:
        memories = self._consolidation.memories
        stream = memories.stream
        try:
            reply = await self._models().reply(request, _unheard)
        except ModelFault as fault:
            log.warning("no model noted anything down: %s", fault)
            failed = ev.ReadingFailed(
                number=intent.number,
                key=intent.key,
                kind=fault.kind,
                error=str(fault),
                attempts=fault.attempts,
                spend=intent.reserved if fault.charged else ev.Spend(),
            )
            by = _named(request.chain[0])
            closing = gathering.closed(turns[0].seq - 1, 0, tokens=failed.spend.tokens, by=by)
            async with stream.lock:
                await stream.record([failed, closing], by="stead")
            return closing
        async with stream.lock:
            await self._take_in(gathering, reply, turns)
            gathering.facts += wider(gathering.narrow, gathering.run, ProposalId(memories.new_id("p")))
            by = _named(reply.model)
            closing = gathering.closed(upto, len(turns), tokens=reply.spend.tokens, by=by)
            await stream.record([_replied(intent, reply), *gathering.facts, closing], by="stead")
        return closing

    async def _take_in(self, gathering: Gathering, reply: Reply, turns: Sequence[Episode]) -> None:
        """What passes of a whole reply; of one that was cut off nothing does."""
        if reply.stop in ("length", "content_filter"):
            return
        c = self._consolidation
        by_id = {f"e_{turn.seq}": turn for turn in turns}
        for item in gleaning.gleaned("".join(part.text for part in reply.parts if isinstance(part, Text))):
            turn = by_id.get(item.turn)
            said = await asyncio.to_thread(c.material.bears, item.text, item.quote, turn) if turn else None
            expires_ms = item.expires_ms(turn.ts_ms, c.zone_at(turn.ts_ms)) if turn else None
            if turn is None or said is None or expires_ms is None or 0 < expires_ms <= c.memories.stream.now_ms():
                continue
            memory = Memory(
                id=MemoryId(c.memories.new_id("m")),
                kind=item.kind,
                text=item.text,
                scope=scope_of(turn, gathering.place, everywhere=False),
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
            if not await c.known_from(gathering, memory):
                await c.take_in_memory(gathering, memory, correcting=True, said=said)

    async def _request(
        self, place: PlaceId, models: Sequence[ModelInfo], turns: Sequence[Episode]
    ) -> tuple[ModelRequest | None, int, ev.Spend]:
        """The request for as many turns as there is room for, how many those are, and what it may cost."""
        wanted = RowsWanted(place=place, limit=_KEYS)
        rows, _ = await asyncio.to_thread(self._consolidation.memories.remembered.rows, wanted)
        keys = sorted({row.memory.key for row in rows if row.memory.key})
        left = self._tokens_a_day - await self._used()
        room = min(left, *(model.window_tokens for model in models))
        output = min(gleaning.OUTPUT_TOKENS, *(model.max_output_tokens for model in models))
        kept = len(turns)
        while kept:
            message = gleaning.message(turns[:kept], keys, self._consolidation.zone_at)
            tokens = estimate_request(gleaning.GLEANING, (), (message,))
            cap = min(output, room - tokens)
            if cap >= min(output, gleaning.LEAST_OUTPUT_TOKENS):
                request = ModelRequest(
                    session=MEMORY,
                    number=RequestNo(self._journal.head() + 1),
                    chain=tuple(model.ref for model in models),
                    instructions=gleaning.GLEANING,
                    tools=(),
                    messages=(message,),
                    max_output_tokens=cap,
                )
                return request, kept, reservation(models, tokens, cap)
            kept //= 2
        return None, 0, ev.Spend()

    async def _used(self) -> int:
        """Tokens of this UTC day."""
        today = day_of(self._consolidation.memories.stream.now_ms())
        runs = await asyncio.to_thread(self._consolidation.reports.runs, _RUNS)
        return sum(run.tokens for ts_ms, run in runs if day_of(ts_ms) == today)

    def _usable(self) -> tuple[ModelInfo, ...]:
        """The home's models without the rehearsal; it blocks."""
        found = []
        models = self._models()
        for ref in models.default_chain() if self._tokens_a_day else ():
            try:
                info = models.info(ref)
            except NotFound:
                continue
            if not info.rehearsal:
                found.append(info)
        return tuple(found)

    async def _mend(self) -> list[MemoryConsolidated]:
        """Close what a crash left open."""
        runs = await asyncio.to_thread(self._consolidation.reports.runs, _RUNS)
        asked = [run.upto for _, run in runs if run.by not in (RULES, BY_PERSON)]  # one at a time: a later one is after
        left = await asyncio.to_thread(self._left_open, max(asked, default=0))
        if left is None:
            return []
        closing = MemoryConsolidated(
            run=RunId(left.key),
            place=PlaceId(""),
            upto=0,
            read=0,
            made=0,
            retired=0,
            proposed=0,
            tokens=left.reserved.tokens,
            by="lost",
        )
        failed = recovery.lost_reading(left, "lost", "Stead was interrupted during the reading.")
        stream = self._consolidation.memories.stream
        async with stream.lock:
            await stream.record([failed, closing], by="stead")
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


def _may_be_sent(turn: Episode, models: Sequence[ModelInfo]) -> bool:
    return turn.label.integrity is Integrity.PERSON and all(
        not turn.label.confidentiality.exceeds(model.clearance) for model in models
    )


def _named(ref: ev.ModelRef) -> str:
    return f"{ref.provider}/{ref.model}"


def _unheard(text: str) -> None:
    """Nobody watches what a model notes down."""


def _replied(intent: ev.ReadingRequested, reply: Reply) -> ev.ReadingReplied:
    return ev.ReadingReplied(
        number=intent.number,
        key=intent.key,
        stop=reply.stop,
        refused=(),
        model=reply.model,
        usage=reply.usage,
        spend=reply.spend,
        attempts=reply.attempts,
        duration_ms=reply.duration_ms,
    )
