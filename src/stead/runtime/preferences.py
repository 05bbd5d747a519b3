"""The few settings of the home that a model may read, and may propose to the person.

Layer: runtime. It can carry out two commands, and no other: what is not here, no tool can set, whatever it is told. The
commands go the way of a door's, so that they are checked, recorded and in force like a person's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stead.domain import commands as cmd
from stead.domain.ids import CommandId
from stead.domain.objectives import Budget, ModelRef
from stead.domain.ports import Models
from stead.domain.preferences import PreferencesNow
from stead.runtime.home import HomeStream

DOOR = "tool"
"""The door by which these commands come in."""


class Handles(Protocol):
    """Carries out commands; see ``service.Service``."""

    async def handle(self, command: cmd.Command, *, id: CommandId, door: str) -> cmd.Answer:
        """Carry a command out."""


class HomePreferences:
    """Implements ``domain.preferences.Preferences``.

    Args:
        home: keeps the home's facts; there is one by the time that a tool runs.
        models: says which models are used where the person has chosen none.
        approval_ttl_s: a boot setting, for reading alone.
        runtime: what commands go to, likewise.
    """

    def __init__(
        self, home: Callable[[], HomeStream], models: Models, approval_ttl_s: int, runtime: Callable[[], Handles]
    ) -> None:
        self._home = home
        self._models = models
        self._approval_ttl_s = approval_ttl_s
        self._runtime = runtime

    def now(self) -> PreferencesNow:
        """See ``domain.preferences.Preferences``."""
        state = self._home().state
        caps = (state.caps.daily, state.caps.monthly)
        return PreferencesNow(self._models.default_chain(), bool(state.chain), *caps, self._approval_ttl_s)

    async def set_chain(self, chain: tuple[ModelRef, ...], id: CommandId) -> None:
        """See ``domain.preferences.Preferences``."""
        await self._runtime().handle(cmd.SetChain(chain), id=id, door=DOOR)

    async def set_cap(self, id: CommandId, *, daily: Budget | None = None, monthly: Budget | None = None) -> None:
        """See ``domain.preferences.Preferences``."""
        await self._runtime().handle(cmd.SetCap(daily, monthly), id=id, door=DOOR)
