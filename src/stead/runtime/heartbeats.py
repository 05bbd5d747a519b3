"""Heartbeats: runs that go through a person's checklist, and say something only when there is something to say.

Layer: runtime. That a run has spoken is a fact, its call of ``notify``; what it answered is not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress

from msgspec.structs import replace

from stead.domain.commands import Answer, Command, LabelSession
from stead.domain.errors import CallerError
from stead.domain.ids import CommandId
from stead.domain.opening import OpenSession
from stead.domain.schedules import NOTIFY, Schedule, ScheduleRun
from stead.domain.sessions import Session

Handle = Callable[[Command, CommandId, str], Awaitable[Answer]]
"""Carries out a command, once for its id."""
QUIET = "it had nothing to say"
_HOW = (
    'The person does not read your answer. What they need to know or decide, tell them by the tool "{}" (by use_tool, '
    'with {{"text": "…"}}, where it is not offered). If there is nothing, do not call it.'
)


def heartbeat_job(schedule: Schedule, job: OpenSession) -> OpenSession:
    """The job with how its run speaks, where the schedule is a heartbeat."""
    if not schedule.checklist:
        return job
    tools = (*job.tools, NOTIFY) if job.tools else ()
    return replace(job, goal=f"{job.goal}\n\n{_HOW.format(NOTIFY)}", tools=tools)


async def archive(handle: Handle, run: ScheduleRun, door: str) -> None:
    """Put a run that said nothing where it troubles nobody; raises ``StorageFault``."""
    with suppress(CallerError):  # the person was quicker
        await handle(LabelSession(run.session, archived=True), CommandId(f"{door}:{run.due_ms}:archive"), door)


def said_by(session: Session) -> str:
    """What a run notified the person of; ``QUIET`` where it went well and said nothing, "" where it went otherwise."""
    calls = [action for action in session.actions if action.tool == NOTIFY and action.outcome == "ok"]
    texts = [str(json.loads(action.arguments).get("text", "")) for action in calls]
    ended_well = session.end is not None and session.end.status in ("answered", "verified", "unverified")
    return "\n".join(texts) or (QUIET if ended_well else "")
