"""Schedules for models: those of the session's folder are listed, and one is proposed or changed by question.

Layer: tools. Knows schedules only as the ``SchedulePort``, which gives a run no more than the proposing session has.
The listing has no words of a goal in it: a model may have written them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from stead.domain.due_times import read_when
from stead.domain.errors import CallerError
from stead.domain.ids import CommandId
from stead.domain.permits import Permit
from stead.domain.policies import Integrity
from stead.domain.schedule_proposals import Proposal, SchedulePort
from stead.domain.schedule_rows import ScheduleRow
from stead.domain.schedules import Missed, Overlap, RemoveSchedule, SwitchSchedule
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool

Name = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9-]{0,30}$")]
Names = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=260)], ...], msgspec.Meta(max_length=50)]


class ListArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments: all schedules of this folder are listed."""


class SetArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``when``: "0 7 * * 1-5", "every 3h" or "2026-12-01 07:00"; it and ``goal`` belong to "set"."""

    name: Name
    action: Literal["set", "on", "off", "remove"] = "set"
    when: Annotated[str, msgspec.Meta(max_length=200)] = ""
    zone: Annotated[str, msgspec.Meta(max_length=60)] = ""
    goal: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    tools: Names | None = None
    hosts: Names | None = None
    readonly: bool = False
    tokens: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = 0
    missed: Missed = "once"
    overlap: Overlap = "skip"


class SchedulesTool(StructTool[ListArguments]):
    """``schedules``: what runs by itself in this folder.

    Args:
        port: the schedules.
    """

    def __init__(self, port: SchedulePort) -> None:
        declaration = Declaration(ToolEffect.READ, output_trust=Integrity.TRUSTED, idempotent=True)
        description = "List what is scheduled in this folder, with its next times and how it went last."
        super().__init__("schedules", description, ListArguments, declaration, deferred=True)
        self._port = port

    async def work(self, permit: Permit, arguments: ListArguments, context: ToolContext) -> ToolOutcome:
        """List."""
        rows = await self._port.of_folder(context.session)
        return ToolOutcome("ok", "\n".join(map(_line, rows)) or "Nothing is scheduled in this folder.")


class ScheduleSetTool(StructTool[SetArguments]):
    """``schedule_set``: one schedule made, changed, switched or removed, if the person confirms it.

    Args:
        port: the schedules.
    """

    def __init__(self, port: SchedulePort) -> None:
        declaration = Declaration(
            ToolEffect.SEND,
            authority_args=("name", "action", "when", "zone", "goal", "tools", "hosts", "readonly", "tokens"),
            output_trust=Integrity.TRUSTED,
            unplanned=True,
            local=True,
        )
        description = (
            "Propose to the person that a goal runs by itself at times: cron, interval or moment; or end that."
        )
        super().__init__("schedule_set", description, SetArguments, declaration, deferred=True)
        self._port = port

    async def work(self, permit: Permit, arguments: SetArguments, context: ToolContext) -> ToolOutcome:
        """Do it, as the person has just confirmed."""
        id = CommandId(f"{permit.session}.{permit.call}.{permit.nonce.hex()}")
        name = arguments.name
        try:
            if arguments.action == "set":
                row = await self._port.propose(context.session, _proposal(arguments), id)
                return ToolOutcome("ok", f"Done. {_line(row)}")
            word = (
                RemoveSchedule(name) if arguments.action == "remove" else SwitchSchedule(name, arguments.action == "on")
            )
            await self._port.change(context.session, word, id)
        except CallerError as refused:
            return ToolOutcome("error", f"{name} was not changed: {refused}")
        return ToolOutcome("ok", f"Done: {name}, {arguments.action}.")


def _proposal(arguments: SetArguments) -> Proposal:
    given = {name: getattr(arguments, name) for name in Proposal.__struct_fields__ if name != "when"}
    return Proposal(when=read_when(arguments.when, arguments.zone), **given)


def _line(row: ScheduleRow) -> str:
    times = ", ".join(
        datetime.fromtimestamp(ms / 1000).astimezone().isoformat(" ", "minutes") for ms in row.next_ms[:3]
    )
    state = "running" if row.running else "on" if row.on else f"off: {row.why}"
    last = f"; last: {row.last.end}" if row.last else ""
    return f"{row.schedule.name}: {row.words}, {state}{f'; next: {times}' if times else ''}{last}"
