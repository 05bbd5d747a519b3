"""The shell: one command line, run in the session's machine.

Layer: tools. Knows the machine only as the ``Shell`` port.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import msgspec

from stead.domain.errors import InvalidRequest
from stead.domain.hosts import parse_host
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.policies import Reason
from stead.domain.ports import Ran, Shell
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.landing import landing_notes
from stead.tools.output import OUTPUT_CAP, clip
from stead.tools.tool import StructTool

_KEPT_BYTES = 1 << 20
"""Of a command's output in memory, head and tail; ten times as much ends the command."""


Refusals = Callable[[SessionId], AbstractContextManager[Mapping[str, str]]]
"""Collects, while entered, the hosts that a session's machine was refused, each with the command that allows it."""


def _without_proxy(session: SessionId) -> AbstractContextManager[Mapping[str, str]]:
    return nullcontext({})


class ShellArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to run, for how many seconds at most, and the hosts that it needs to reach."""

    command: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
    timeout_s: Annotated[int, msgspec.Meta(ge=1, le=3600)] = 120
    hosts: Annotated[list[str], msgspec.Meta(max_length=20)] = []

    def __post_init__(self) -> None:
        for host in self.hosts:
            try:
                parse_host(host, wildcard=False)
            except InvalidRequest as error:
                raise ValueError(str(error)) from error


class ShellTool(StructTool[ShellArguments]):
    """``shell``: bash in ``/work``. Background processes live on until the machine ends."""

    def __init__(self, shell: Shell, refusals: Refusals = _without_proxy) -> None:
        declaration = Declaration(
            ToolEffect.EXECUTE,
            authority_args=("command", "hosts"),
            command_args=("command",),
            host_args=("hosts",),
        )
        super().__init__("shell", "Run a bash command in /work. No network but `hosts`.", ShellArguments, declaration)
        self._shell = shell
        self._refusals = refusals

    async def work(self, permit: Permit, arguments: ShellArguments, context: ToolContext) -> ToolOutcome:
        """Run it; anything but exit code 0 is an error."""
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
        status = "\n".join(notes)
        text = clip(ran.output, OUTPUT_CAP - len(status))
        separator = "\n" if text and not text.endswith("\n") else ""
        done = ran.exit_code == 0 and not ran.timed_out
        return ToolOutcome(
            "ok" if done else "error",
            text + separator + status if status else text or "(no output)",
            size_bytes=ran.size_bytes,
            landing=ran.landing,
            warnings=tuple(Reason("egress-host", line) for line in said),
        )


def _status(ran: Ran, timeout_s: int) -> tuple[str, ...]:
    if ran.timed_out:
        return (f"[killed after {timeout_s} s]",)
    return (f"[exit code {ran.exit_code}]",) if ran.exit_code else ()
