"""The settings of the home that a model may know, and the port through which it may have two of them changed.

Layer: domain. Whatever else can be set (rules, hosts, grants, secrets, providers) has no place here.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from stead.domain.ids import CommandId
from stead.domain.objectives import Budget, ModelRef


class PreferencesNow(msgspec.Struct, frozen=True):
    """The home's settings that a model may know.

    Args:
        chain: the models of new objectives.
        chosen: by the person; false when they were found.
        daily: the cap of a day in the person's zone.
        monthly: that of a month.
        approval_ttl_s: seconds until an unanswered question lapses.
    """

    chain: tuple[ModelRef, ...]
    chosen: bool
    daily: Budget
    monthly: Budget
    approval_ttl_s: int


class Preferences(Protocol):
    """Reads these settings, and changes the two that a model may change with the person's approval.

    Both changes raise ``CallerError`` when the value cannot be; the id makes each happen once.
    """

    def now(self) -> PreferencesNow:
        """All of them."""

    async def set_chain(self, chain: tuple[ModelRef, ...], id: CommandId) -> None:
        """Use these models from now on, the first one first."""

    async def set_cap(self, id: CommandId, *, daily: Budget | None = None, monthly: Budget | None = None) -> None:
        """Cap what the home may spend in a day, or in a month."""
