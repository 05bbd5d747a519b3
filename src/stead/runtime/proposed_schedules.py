"""Schedules as models see and propose them: those of their folder, with no more than their session has.

Layer: runtime. Implements ``domain.schedule_proposals.SchedulePort``. What a model proposes is put to the person by
the gate before this is reached; here it is cut down, and marked as a model's words.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from stead.domain.agents import Order
from stead.domain.commands import DEFAULT_BUDGET
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ids import CommandId, SessionId
from stead.domain.objectives import Budget, Unlimited
from stead.domain.opening import OpenSession
from stead.domain.schedule_proposals import Proposal
from stead.domain.schedule_rows import ScheduleRow
from stead.domain.schedules import RemoveSchedule, Schedule, SwitchSchedule
from stead.domain.sessions import Session, taint_of
from stead.guardian.narrowing import Caps, narrowed
from stead.runtime.preferences import DOOR, Handles
from stead.runtime.registry import Sessions
from stead.runtime.schedules import Schedules


class ProposedSchedules:
    """Implements ``SchedulePort``.

    Args:
        sessions: all there are; asked for when needed, as the others are.
        schedules: that people have set.
        runtime: what commands go to.
    """

    def __init__(
        self, sessions: Callable[[], Sessions], schedules: Callable[[], Schedules], runtime: Callable[[], Handles]
    ) -> None:
        self._sessions = sessions
        self._schedules = schedules
        self._runtime = runtime

    async def of_folder(self, session: SessionId) -> tuple[ScheduleRow, ...]:
        """See ``SchedulePort``. Where others read along none is listed: what a schedule is to do was not said there."""
        spec = (await self._state(session)).spec
        return () if spec.channel else await self._schedules().rows(spec.directory)

    async def propose(self, session: SessionId, proposal: Proposal, id: CommandId) -> ScheduleRow:
        """See ``SchedulePort``."""
        state = await self._state(session)
        await self._require_own(state, proposal.name, new=True)
        job = _job(state, proposal)
        schedule = Schedule(proposal.name, proposal.when, job, proposal.missed, overlap=proposal.overlap)
        await self._schedules().set(schedule, proposed=taint_of(state), id=id)
        return next(row for row in await self._schedules().rows() if row.schedule.name == proposal.name)

    async def change(self, session: SessionId, command: SwitchSchedule | RemoveSchedule, id: CommandId) -> None:
        """See ``SchedulePort``."""
        await self._require_own(await self._state(session), command.name, new=False)
        await self._runtime().handle(command, id=id, door=DOOR)

    async def _state(self, session: SessionId) -> Session:
        return await self._sessions().actor(session).state()

    async def _require_own(self, state: Session, name: str, *, new: bool) -> None:
        """Refuse what is about a schedule of another folder, which the model does not even see."""
        known = {row.schedule.name: row.schedule.directory for row in await self._schedules().rows()}
        if name in known and known[name] != state.spec.directory:
            raise InvalidRequest(f"the name {name!r} is taken; choose another")
        if name not in known and not new:
            raise NotFound(f"there is no schedule {name[:80]!r} in this folder")


def _job(session: Session, proposal: Proposal) -> OpenSession:
    """What its runs may have: what the session has, less what the proposal leaves out, and nothing unasked."""
    order = Order(proposal.goal, tools=proposal.tools, hosts=proposal.hosts, readonly=proposal.readonly)
    # A run has a budget of its own, of the usual size at most; what its session has left is not shared with it.
    whole = replace(session, spent=replace(session.spent, tokens=0, usd_micros=0), iterations=0, worked_ms=0)
    given = narrowed(whole, order, Caps(), 2)
    if isinstance(given, str):
        raise InvalidRequest(given)
    if given.dropped:
        raise InvalidRequest(f"this session has not {', '.join(given.dropped)}, so its schedules can't have it")
    spec = session.spec
    tokens = _least(_least(DEFAULT_BUDGET.tokens, spec.budget.tokens), proposal.tokens or "unlimited")
    usd_micros = _least(DEFAULT_BUDGET.usd_micros, spec.budget.usd_micros)
    return OpenSession(
        directory=spec.directory,
        goal=proposal.goal,
        constraints=spec.constraints,
        tools=given.tools,
        chain=spec.chain,
        budget=Budget(tokens, usd_micros),
        limits=spec.limits,
        profile=given.profile,
        hosts=given.hosts,
        mode=spec.mode,
        ignore=spec.ignore,
    )


def _least(one: int | Unlimited, other: int | Unlimited) -> int | Unlimited:
    return one if other == "unlimited" else other if one == "unlimited" else min(one, other)
