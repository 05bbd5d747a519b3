"""What a command would make of a state, by the code that carries it out, with nothing put into the vault.

Layer: runtime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from msgspec.structs import replace as changed

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.channels import ChannelCommand
from stead.domain.directive_commands import DirectiveCommand
from stead.domain.errors import NotFound
from stead.domain.notifications import TargetCommand
from stead.domain.opening import OpenSession
from stead.domain.schedules import ScheduleCommand, SetSchedule
from stead.runtime.channel_changes import channel_fact
from stead.runtime.deps import ChannelService, NotificationService
from stead.runtime.directives import DirectiveRoom
from stead.runtime.folder import folder
from stead.runtime.home import HomeState, ProviderService, change
from stead.runtime.schedules import Schedules
from stead.runtime.secrets import SecretBook

_DOOR = "settings"


class _Untouched:
    """Implements ``Secrets``: reads the vault, and leaves it as it is."""

    def __init__(self, book: SecretBook) -> None:
        self.get = book.get

    async def put(self, name: str, value: str) -> int:
        """Keep nothing."""
        del name, value
        return 1

    async def remove(self, name: str) -> bool:
        """Remove nothing."""
        return self.get(name) is not None


@dataclass(eq=False, repr=False)
class DryRun:
    """Tells what commands would make, and refuses what they would refuse.

    Args:
        book: knows the vault.
        providers: say whether a provider can be.
        tools: names of all tools.
        directives: the home's.
        schedules: the home's.
        notifications: the home's.
        channels: say which platforms there are.
    """

    _book: SecretBook
    _providers: ProviderService
    _tools: Callable[[], Sequence[str]]
    _directives: DirectiveRoom
    _schedules: Schedules
    _notifications: NotificationService
    _channels: ChannelService

    async def facts(self, command: cmd.Command, state: HomeState) -> tuple[ev.Body, ...]:
        """The facts that a command would make of a state; raises what carrying it out would."""
        if isinstance(command, cmd.SecretCommand):
            return (await self._book.change(command),)
        if isinstance(command, DirectiveCommand):
            return (await replace(self._directives, state=lambda: state).change(command, _DOOR),)
        known = {row.name for row in self._providers.rows()} | state.providers.keys()
        if isinstance(command, ScheduleCommand):
            return await self._schedules.tried(self._with_known(command, known), state.schedules)
        if isinstance(command, TargetCommand):
            return (await self._notifications.tried(command, state.targets),)
        if isinstance(command, ChannelCommand):
            kinds = {one.kind: one for one in self._channels.kinds()}
            has_secret = state.secrets.__contains__
            return (await asyncio.to_thread(channel_fact, command, state.channels, kinds, folder, has_secret, _DOOR),)
        if not isinstance(command, get_args(cmd.HomeCommand)):
            raise TypeError(f"{type(command).__name__} sets nothing")
        require_known(command, known)
        return (await change(command, state, _Untouched(self._book), self._providers, _DOOR, self._tools()),)

    def _with_known(self, command: ScheduleCommand, known: set[str]) -> ScheduleCommand:
        """The command without models whose provider will be there only by then; their job is judged for the rest."""
        if not isinstance(command, SetSchedule) or not isinstance(command.schedule.job, OpenSession):
            return command
        job, there = command.schedule.job, {row.name for row in self._providers.rows()}
        named = {ref.provider for ref in job.chain}
        if named - there and named <= known:
            return SetSchedule(changed(command.schedule, job=changed(job, chain=())))
        return command


def require_known(command: cmd.HomeCommand, known: set[str]) -> None:
    """Refuse what names a provider that there is not.

    Raises:
        NotFound: the text names it.
    """
    named = {ref.provider for ref in command.chain} if isinstance(command, cmd.SetChain | cmd.SetRole) else set()
    if isinstance(command, cmd.ConfigureModel):
        named = {command.name}
    if unknown := named - known:
        raise NotFound(f"no provider {min(unknown)!r}; `stead providers` lists what there is")
