"""What a subagent may have: never more than the session that starts it has, whatever is asked for.

Layer: guardian. Pure and total. ``narrowed`` is the only place where a subagent's tools, hosts, secrets, profile and
allotment are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from stead.domain.agents import MAX_DEPTH, NO_TOOLS, Allotment, Order
from stead.domain.commands import DEFAULT_BUDGET
from stead.domain.errors import InvalidRequest
from stead.domain.hosts import USUAL_PORTS, HostPattern, parse_host
from stead.domain.objectives import Limits, Unlimited
from stead.domain.policies import Profile
from stead.domain.sessions import Session, calls_left

_STRICT = (Profile.WORK, Profile.ASK, Profile.READONLY)
_MOST_ITERATIONS = 1_000
T = TypeVar("T")


class Caps(msgspec.Struct, frozen=True):
    """What a specialist's file allows; 0 and None say nothing, an empty list of tools means none.

    ``calls`` of -1 says nothing, 0 means none.
    """

    tools: tuple[str, ...] | None = None
    iterations: int = 0
    calls: int = -1
    seconds: int = 0


class Narrowed(msgspec.Struct, frozen=True):
    """What a subagent gets.

    ``tools`` is as of ``SessionOpened.tools``; ``dropped`` are the tools and hosts that were asked for and are not its
    parent's.
    """

    tools: tuple[str, ...]
    hosts: tuple[str, ...]
    secrets: tuple[str, ...]
    profile: Profile
    allotment: Allotment
    limits: Limits
    dropped: tuple[str, ...] = ()


def narrowed(parent: Session, order: Order, caps: Caps, shares: int) -> Narrowed | str:
    """What a subagent of a session gets.

    Args:
        parent: as it is, with what is set aside for its other subagents.
        order: what is asked for.
        caps: what its specialist may have at most.
        shares: among how many what is left is divided where no figure is asked for, the parent included; 2 or more.

    Returns:
        What it gets, or why there can be none, in words for the model.
    """
    spec = parent.spec
    depth = spec.parent.depth + 1 if spec.parent else 1
    if depth > MAX_DEPTH:
        return f"subagents may be {MAX_DEPTH} deep, and this one is: do the task yourself"
    allotment = _allotment(parent, order, caps, max(2, shares))
    if isinstance(allotment, str):
        return allotment
    tools, _ = _tools(_tools(spec.tools, caps.tools)[0], order.tools)
    _, lost_tools = _tools(spec.tools, order.tools)
    hosts, lost_hosts = _hosts(spec.hosts, order.hosts)
    secrets = tuple(secret.name for secret in spec.secrets if secret.name in order.secrets)
    own = spec.limits
    return Narrowed(
        tools=tools,
        hosts=hosts,
        secrets=secrets,
        profile=_STRICT[max(_STRICT.index(spec.profile), _STRICT.index(Profile.READONLY) if order.readonly else 0)],
        allotment=allotment,
        limits=msgspec.structs.replace(
            own,
            iterations=allotment.iterations,
            wall_s=allotment.seconds,
            calls=allotment.calls,
        ),
        dropped=(*lost_tools, *lost_hosts),
    )


def _tools(held: Sequence[str], wish: Sequence[str] | None) -> tuple[tuple[str, ...], list[str]]:
    """Of the tools that are wished for, those that are held, and those that are not; an empty ``held`` has every one.

    In a wish an empty list means none; what comes of it is written as ``NO_TOOLS``.
    """
    if wish is None:
        return tuple(held), []
    wanted = [name for name in dict.fromkeys(wish) if name not in NO_TOOLS]
    lost = [name for name in wanted if held and name not in held]
    return tuple(name for name in wanted if name not in lost) or NO_TOOLS, lost


def _hosts(parent: Sequence[str], wish: Sequence[str] | None) -> tuple[tuple[str, ...], list[str]]:
    if wish is None:
        return tuple(parent), []
    held = [parse_host(host) for host in parent]
    kept: list[str] = []
    lost: list[str] = []
    for text in dict.fromkeys(wish):
        try:
            host = parse_host(text)
        except InvalidRequest:
            lost.append(text)
            continue
        (kept if any(_holds(wide, host) for wide in held) else lost).append(str(host))
    return tuple(dict.fromkeys(kept)), lost


def _holds(wide: HostPattern, host: HostPattern) -> bool:
    """Whether a pattern covers every host and port of another one."""
    if host == wide:
        return True
    ports = (host.port,) if host.port else USUAL_PORTS
    return not host.below and all(wide.covers(host.name, port) for port in ports)


def _allotment(parent: Session, order: Order, caps: Caps, shares: int) -> Allotment | str:
    """What is set aside: what was asked for, as far as a share of what is left stays with the parent."""
    limits, spent = parent.spec.limits, parent.spent
    tokens = _part(_left(parent.budget.tokens, spent.tokens), order.tokens, shares)
    usd = _part(_left(parent.budget.usd_micros, spent.usd_micros), order.usd_micros, shares)
    seconds = _part(limits.wall_s - -(-parent.worked_ms // 1000), _least(order.seconds, caps.seconds), shares)
    iterations = _part(limits.iterations - parent.iterations, _least(order.iterations, caps.iterations), shares)
    calls = _part(calls_left(parent), caps.calls, shares) if caps.calls else 0
    assert isinstance(seconds, int) and isinstance(iterations, int) and isinstance(calls, int), "limits are numbers"
    for what, figure in (("tokens", tokens), ("money", usd), ("seconds", seconds), ("model requests", iterations)):
        if figure != "unlimited" and figure < 1:
            return f"this session has no {what} left to give to a subagent: do the task yourself"
    if tokens == "unlimited":
        tokens = DEFAULT_BUDGET.tokens
        assert tokens != "unlimited", "the usual budget of an objective is a number"
    return Allotment(tokens, usd, seconds, min(iterations, _MOST_ITERATIONS), calls)


def _left(budget: int | Unlimited, spent: int) -> int | Unlimited:
    return "unlimited" if budget == "unlimited" else budget - spent


def _part(left: int | Unlimited, wanted: int, shares: int) -> int | Unlimited:
    if left == "unlimited":
        return max(0, wanted) or "unlimited"
    share = max(0, left) // shares
    return min(wanted, left - share) if wanted > 0 else share


def _least(*figures: int) -> int:
    """The smallest of the figures that say something; 0 for none."""
    return min((figure for figure in figures if figure > 0), default=0)
