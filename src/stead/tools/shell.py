"""The shell: one command line, run in the session's machine.

Layer: tools. Knows the machine only as the ``Shell`` port.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import msgspec

from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.hosts import parse_host
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.policies import Reason
from stead.domain.ports import Ran, Shell
from stead.domain.services import NAME, Services
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.domain.trials import Landing
from stead.tools.landing import landing_notes
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

_DESCRIPTION = "Run a bash command in /work. No network but `hosts`. `service`: a name, to run on."
_KEPT_BYTES = 1 << 20
"""Of a command's output in memory, head and tail; ten times as much ends the command."""


Refusals = Callable[[SessionId], AbstractContextManager[Mapping[str, str]]]
"""Collects, while entered, the hosts that a session's machine was refused, each with the command that allows it."""


def _without_proxy(session: SessionId) -> AbstractContextManager[Mapping[str, str]]:
    return nullcontext({})


class ShellArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to run, for how many seconds at most, and the hosts that it needs to reach.

    A ``service`` runs on under that name, without hosts of its own. With an empty command its log is shown, or it is
    to ``stop``. What is not given is no part of a call's digest.
    """

    command: Annotated[str, msgspec.Meta(max_length=100_000)]
    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=3600)] = 120
    hosts: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    service: str | msgspec.UnsetType = msgspec.UNSET
    stop: bool | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        if not self.service and (not self.command or self.stop):
            raise ValueError("give a command, or the service that is meant")
        if self.service and not re.fullmatch(NAME, self.service):
            raise ValueError("a service has a name of a to z, 0 to 9 and -, such as web")
        if self.service and ((self.command and self.stop) or self.hosts):
            raise ValueError("a service is started by a command and stopped without one, and has no hosts of its own")
        for host in self.hosts:
            try:
                parse_host(host, wildcard=False)
            except InvalidRequest as error:
                raise ValueError(str(error)) from error


class ShellTool(StructTool[ShellArguments]):
    """``shell``: bash in ``/work``. Background processes and services live on until the machine ends."""

    def __init__(self, shell: Shell, services: Services, refusals: Refusals = _without_proxy) -> None:
        declaration = Declaration(
            ToolEffect.EXECUTE,
            authority_args=("command", "hosts"),
            command_args=("command",),
            host_args=("hosts",),
        )
        super().__init__("shell", _DESCRIPTION, ShellArguments, declaration)
        self._shell = shell
        self._services = services
        self._refusals = refusals

    async def work(self, permit: Permit, arguments: ShellArguments, context: ToolContext) -> ToolOutcome:
        """Run it; anything but exit code 0 is an error, and so is a service that ends as soon as it was started."""
        if arguments.service:
            return await self._serve(permit, arguments, arguments.service)
        with self._refusals(context.session) as refused:
            ran = await self._shell.run(
                permit,
                arguments.command,
                timeout_s=arguments.timeout_s,
                cap_bytes=_KEPT_BYTES,
                on_output=context.progress,
                hosts=arguments.hosts,
            )
        said = [
            f"the proxy refused {one}: nobody allowed it here; the person can: {way}" for one, way in refused.items()
        ]
        notes = (*_status(ran, arguments.timeout_s), *landing_notes(ran.landing), *(f"[{line}]" for line in said))
        done = ran.exit_code == 0 and not ran.timed_out
        return ToolOutcome(
            "ok" if done else "error",
            _with_notes(ran.output, notes),
            size_bytes=ran.size_bytes,
            landing=ran.landing,
            exit_code=None if ran.timed_out else ran.exit_code,
            warnings=tuple(Reason("egress-host", line) for line in said),
        )

    async def _serve(self, permit: Permit, arguments: ShellArguments, name: str) -> ToolOutcome:
        landing = Landing()
        try:
            if arguments.command:
                seen, landing = await self._services.start(permit, name, arguments.command)
            elif arguments.stop:
                seen, landing = await self._services.stop(permit.session, name)
            else:
                seen = await self._services.log(permit.session, name)
        except NotFound as missing:
            return ToolOutcome("error", str(missing))
        row = seen.service
        state = f"ended ({row.why}), exit code {row.exit_code}"
        if row.status == "running":
            where = f"port {', '.join(map(str, row.ports))}" if row.ports else "no port yet"
            state = f"runs on and listens at {where}; with command '' its log is shown, with stop too it ends"
        notes = (f"[service {name} {state}]", *landing_notes(landing))
        failed = arguments.command and row.status == "ended"
        text = _with_notes(seen.text, notes)
        return ToolOutcome("error" if failed else "ok", text, size_bytes=row.size_bytes, landing=landing)


def _with_notes(output: str, notes: Sequence[str]) -> str:
    status = "\n".join(notes)
    text = clip(output, OUTPUT_CAP - len(status))
    separator = "\n" if text and not text.endswith("\n") else ""
    return text + separator + status if status else text or "(no output)"


def _status(ran: Ran, timeout_s: int) -> tuple[str, ...]:
    if ran.timed_out:
        return (f"[killed after {timeout_s} s]",)
    return (f"[exit code {ran.exit_code}]",) if ran.exit_code else ()
