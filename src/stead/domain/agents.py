"""Subagents: sessions that a session's model has started, what they are asked for and what is set aside for them.

Layer: domain. Values that events, tools and sessions carry. Money is millionths of a US dollar.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.checks import Check
from stead.domain.ids import CallKey, SessionId
from stead.domain.objectives import Unlimited
from stead.domain.policies import Confidentiality

SPAWN = "spawn_agent"
"""Name of the tool by which a model starts a subagent."""
DELEGATES = (SPAWN, "delegate")
"""The tools that hand work on: to a subagent, and to an external agent."""
MAX_DEPTH = 3
"""How many sessions may stand above a subagent."""
AT_ONCE = 4
"""Subagents of one session that are under way at the same time, at most; further ones wait for their turn."""
NO_TOOLS = ("none",)
"""The tools of a session that has none at all: an empty list means every tool. No tool has this name."""

SpecialistSource = Literal["", "bundled", "person"]


class Allotment(msgspec.Struct, frozen=True):
    """What a subagent may use at most; its parent cannot use it meanwhile, and gets back what is left.

    Args:
        tokens: 1 or more.
        usd_micros: "unlimited" only where the parent's money is.
        seconds: of work, as of ``Limits.wall_s``; 1 or more.
        iterations: model requests; 1 to 1,000.
        calls: of tools; 0 for none.
    """

    tokens: int
    usd_micros: int | Unlimited
    seconds: int
    iterations: int
    calls: int = 0


class Taint(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session's model has been given, by whose word: it goes down to a subagent, and comes back with its report.

    Args:
        sources: as of ``Session.sources``.
        held: as of ``Session.held``.
        strayed: as of ``Session.strayed``.
        stained: as of ``Session.stained``.
    """

    sources: tuple[str, ...] = ()
    held: Confidentiality = Confidentiality.PUBLIC
    strayed: bool = False
    stained: tuple[str, ...] = ()


class Parent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whose subagent a session is.

    Args:
        session: the parent.
        key: of the call that started it.
        depth: 1 for the child of a session that is no subagent itself, up to ``MAX_DEPTH``.
        root: the session above all others, whose goal it serves.
        specialist: its kind; "" for none.
        taint: the parent's when it was started.
    """

    session: SessionId
    key: CallKey
    depth: int
    root: SessionId
    specialist: str = ""
    taint: Taint = Taint()


class Order(msgspec.Struct, frozen=True):
    """What a model wants of a subagent. Whatever it asks for, it gets no more than its parent has.

    Args:
        task: what it is to do, and all that it knows of it.
        specialist: a kind; "" lets Stead choose by ``role``, then by the tools.
        role: "task_lead" or "executor", which go before ``specialist``; "" for neither.
        tools: names; None for those of the specialist, and of the parent where that names none either.
        hosts: patterns; None for the parent's.
        secrets: names; only those are handed on.
        tokens: 0 for a share of what the parent has left; so also the figures below.
        usd_micros: 0 for a share of it.
        seconds: 0 for a share of them.
        iterations: 0 for a share of them.
        readonly: it changes nothing, whatever its parent may.
        checks: how its work is checked.
    """

    task: str
    specialist: str = ""
    role: Literal["", "task_lead", "executor"] = ""
    tools: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    secrets: tuple[str, ...] = ()
    tokens: int = 0
    usd_micros: int = 0
    seconds: int = 0
    iterations: int = 0
    readonly: bool = False
    checks: tuple[Check, ...] = ()
