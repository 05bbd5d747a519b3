"""Which trust tier a model has now: the person's word, else what its track record comes to.

Layer: runtime. Asked where a prompt has a new prefix, not at each step. The gate does not know of it; what a tier
asks of a model is in ``brain.supervision``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from stead.domain import events as ev
from stead.domain.ids import NO_COMMAND
from stead.domain.providers import UNSET
from stead.domain.sessions import Session
from stead.domain.trust import LEAST_REPLIES, Tier, TierRow, TrackRecords, measured
from stead.runtime.home import HomeState, HomeStream


class Trust:
    """The tiers of all models.

    Args:
        home: its facts, once there are any.
        records: what models have done.
    """

    def __init__(self, home: Callable[[], HomeStream], records: TrackRecords) -> None:
        self._home = home
        self._records = records

    async def led(self, session: Session) -> tuple[ev.TierSet, ...]:
        """How the session's model is to be led from its next request on, if that is otherwise than now.

        Raises:
            StorageFault: the record cannot be read, or the home's not written.
        """
        begins = not session.sent
        if not begins and not session.switched:
            return ()
        row = await asyncio.to_thread(self._row, session.spec.chain[0])
        home, model = self._home(), session.spec.chain[0]
        if row.by != "person" and row.tier != home.state.tiers.get((row.provider, row.model), "normal"):
            await home.record(ev.TierMeasured(model, row.tier, row.record), cause=NO_COMMAND)
        if row.tier == session.tier and (not begins or row.tier == session.offered_by):
            return ()
        return (ev.TierSet(model, row.tier, row.by),)

    def rows(self) -> tuple[TierRow, ...]:
        """Every model that has replied or whose tier the person set. It blocks."""
        said = [ev.ModelRef(*key) for key, settings in self._home().state.models.items() if key[1] and settings.trust]
        models = dict.fromkeys([*self._records.models(), *said])
        return tuple(self._row(model) for model in sorted(models, key=lambda ref: (ref.provider, ref.model)))

    def _row(self, model: ev.ModelRef) -> TierRow:
        state, key = self._home().state, (model.provider, model.model)
        record = self._records.of(model)
        if set_tier := _said(state, model):
            return TierRow(*key, set_tier, "person", record)
        tier = measured(record, state.tiers.get(key, "normal"))
        known = key in state.tiers or record.replies >= LEAST_REPLIES
        return TierRow(*key, tier, "measured" if known else "default", record)


def _said(state: HomeState, model: ev.ModelRef) -> Tier | Literal[""]:
    own = state.models.get((model.provider, model.model), UNSET)
    return own.over(state.models.get((model.provider, ""), UNSET)).trust
