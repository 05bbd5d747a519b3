"""Facts of subagents, in the stream of the session that started them.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too.
"""

from __future__ import annotations

import msgspec

from stead.domain.agents import Allotment, SpecialistSource, Taint
from stead.domain.checks import RunFacts
from stead.domain.ends import End
from stead.domain.ids import CallKey, SessionId
from stead.domain.objectives import Spend


class AgentSpawned(msgspec.Struct, frozen=True, tag="agent.spawned"):
    """A call started a subagent. It is written in one transaction with the first facts of the subagent's session.

    Args:
        key: of the call, which ends when the subagent does.
        session: the subagent's.
        title: of it.
        specialist: its kind; "" for none.
        source: where the specialist's text came from.
        depth: as of ``domain.agents.Parent``.
        allotment: what is set aside for it.
        dropped: tools and hosts that were asked for, and that it did not get as its parent has not got them.
    """

    key: CallKey
    session: SessionId
    title: str
    specialist: str
    source: SpecialistSource
    depth: int
    allotment: Allotment
    dropped: tuple[str, ...]


class AgentEnded(msgspec.Struct, frozen=True, tag="agent.ended"):
    """A subagent ended; what it did not use is the parent's again.

    Args:
        key: of the call that started it.
        session: the subagent's.
        status: as of ``ObjectiveEnded``.
        reason: as of ``ObjectiveEnded``.
        spend: what it used, its own subagents included.
        iterations: model requests, those of its own subagents included.
        worked_ms: of work, theirs included.
        calls: of tools, theirs included.
        facts: what its record holds.
        taint: what it has read, and so what its report is worth.
        acted: whether it, or a subagent of its own, changed or sent anything, or may have.
    """

    key: CallKey
    session: SessionId
    status: End
    reason: str
    spend: Spend
    iterations: int
    worked_ms: int
    facts: RunFacts
    taint: Taint
    calls: int = 0
    acted: bool = False


AgentBody = AgentSpawned | AgentEnded
