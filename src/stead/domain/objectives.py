"""What an objective is made of: its bounds, its plan, what it spends and on which model.

Layer: domain. Values that events, commands and rows carry; knows none of them. Money is millionths of a US dollar.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.bounds import Figure, Text, bounds
from stead.domain.errors import InvalidRequest

Unlimited = Literal["unlimited"]


class Budget(msgspec.Struct, frozen=True):
    """What a session may spend, a hard stop. Money is in millionths of a dollar; "unlimited" is said, not implied."""

    tokens: Figure | Unlimited
    usd_micros: Figure | Unlimited


NO_CAP = Budget(tokens="unlimited", usd_micros="unlimited")


class PeriodCaps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be spent in a day and in a month of the person's."""

    daily: Budget = NO_CAP
    monthly: Budget = NO_CAP


class Limits(msgspec.Struct, frozen=True):
    """What ends a session that does not end itself.

    Args:
        iterations: model requests, 1 to 1,000.
        stall: the same tool with the same arguments this many times in a row ends it.
        repetition: the same reply text this many times in a row ends it.
        wall_s: seconds of work (requests, tools and checks); pauses and waits are not counted.
        send_backs: how often it is sent back to work when it reports and a check fails, before it ends as incomplete.
        calls: of tools, 0 to 100,000.
    """

    iterations: Annotated[int, bounds(minimum=1, maximum=1000)] = 50
    stall: Annotated[int, bounds(minimum=2, maximum=100)] = 3
    repetition: Annotated[int, bounds(minimum=2, maximum=100)] = 3
    wall_s: Annotated[int, bounds(minimum=1, maximum=30 * 24 * 3600)] = 4 * 3600
    send_backs: Annotated[int, bounds(minimum=0, maximum=100)] = 3
    calls: Annotated[int, bounds(minimum=0, maximum=100_000)] = 10_000


_MOST = 10**15
_BOUNDS: dict[str, dict[str, int]] = msgspec.json.schema(Limits)["$defs"]["Limits"]["properties"]


def require_limits(limits: Limits) -> None:
    """Raises ``InvalidRequest`` where one is out of its bounds."""
    for name, taken in _BOUNDS.items():
        low, high, given = taken["minimum"], taken["maximum"], getattr(limits, name)
        if not low <= given <= high:
            raise InvalidRequest(f"the limit {name} must be {low} to {high}, not {given}")


def require_budget(budget: Budget, least: int = 1) -> None:
    """Raises ``InvalidRequest`` where a figure is below ``least``, or too large to be meant."""
    for name, value in (("tokens", budget.tokens), ("millionths of a dollar", budget.usd_micros)):
        if value != "unlimited" and not least <= value <= _MOST:
            raise InvalidRequest(f'a budget of {value} {name} cannot be; give {least} to {_MOST}, or "unlimited"')


class PlanStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the plan."""

    title: Annotated[Text, bounds(maxLength=200)]
    status: Literal["todo", "doing", "done", "skipped"] = "todo"


class Contract(msgspec.Struct, frozen=True, omit_defaults=True):
    """What makes a session an objective: the goal. What proves that it is met are its checks."""

    goal: str


class Spend(msgspec.Struct, frozen=True):
    """Tokens and money, both never negative. ``price_known`` is false where no price list has the model."""

    tokens: int = 0
    usd_micros: int = 0
    price_known: bool = True


class ModelRef(msgspec.Struct, frozen=True):
    """A configured provider and one of its models."""

    provider: str
    model: str
