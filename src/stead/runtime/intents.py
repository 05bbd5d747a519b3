"""Carries out what a person typed that needs no model, and answers it in Stead's own name.

Layer: runtime. The one place for every door where messages are typed. Each intent becomes the command that a button or
the command line would send, so nothing can be reached by it that cannot be reached without it; the answer is an event
of the session. No provider is asked and no token is spent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from itertools import islice
from typing import Protocol

import msgspec

from stead.brain.intents import Intent, intent, to_model
from stead.domain import commands as cmd
from stead.domain import figures
from stead.domain.channels import DOOR as CHAT
from stead.domain.due_times import SHOWN, due_times, read_when, words
from stead.domain.errors import CallerError
from stead.domain.events import IntentAnswered
from stead.domain.ids import ApprovalId, CommandId
from stead.domain.memory_commands import NewMemory, Remember
from stead.domain.ports import Claimed, Clock
from stead.domain.rows import ApprovalRow, Kind, ObjectiveRow, Wanted
from stead.domain.schedule_rows import ScheduleRow
from stead.domain.schedules import Schedule, ScheduleSwitched, SwitchSchedule
from stead.domain.sessions import Call, Session, status
from stead.domain.shown import must_be_opened
from stead.runtime.answers import answer, of
from stead.runtime.registry import Sessions
from stead.runtime.schedules import Schedules

SEEN_MS = 1_500
"""A yes that comes sooner after its question may be about what stood there before."""
_PLAIN_RISKS = ("low", "medium")
_ROWS = 20
_STOPPED = "Stopped: its processes are killed and it is paused. To go on: resume"
_HOW = "look at it and answer there: stead approvals {id}, or on the page under Inbox"

Handle = Callable[[cmd.Command, CommandId, str], Awaitable[cmd.Answer]]
Tell = Callable[[cmd.SessionWord, Claimed, str], Awaitable[cmd.Answer]]


class Lists(Protocol):
    """What there is; the read models know."""

    def approval(self, id: ApprovalId) -> ApprovalRow:
        """The question.

        Raises:
            NotFound: there never was one of this id.
        """

    def objectives(self, *, kind: Kind, wanted: Wanted, after: str, limit: int) -> tuple[Sequence[ObjectiveRow], str]:
        """Those of a kind, newest first, and the cursor of the next page."""


class Intents:
    """What stands between a message and the session that it is for.

    Args:
        sessions: all there are.
        lists: what there is.
        clock: says what time it is.
        tell: has a message be read by the session's model.
        handle: carries out a command, once for its id.
        schedules: what runs by itself.
    """

    def __init__(
        self, sessions: Sessions, lists: Lists, clock: Clock, tell: Tell, handle: Handle, schedules: Schedules
    ) -> None:
        self._sessions = sessions
        self._lists = lists
        self._clock = clock
        self._tell = tell
        self._handle = handle
        self._schedules = schedules

    async def say(self, command: cmd.SendMessage, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a message out: answer it here if it needs no model, else have the session's model read it."""
        found = None if command.to_model or command.attachments or command.foreign else intent(command.text)
        if found is None:
            kept = None if command.to_model else to_model(command.text)
            words = command if kept is None else msgspec.structs.replace(command, text=kept)
            return await self._tell(words, claim, door)
        actor, part = self._sessions.actor(command.session), CommandId(f"{claim.id}-intent")
        stopped = found.kind == "stop" and actor.busy
        if stopped:  # what is at work is stopped before anything waits for its state
            await self._handle(cmd.Stop(command.session), part, door)
        session = await actor.state()
        if session.trashed or (found.kind == "resume" and (session.phase != "paused" or session.resting)):
            return await self._tell(command, claim, door)  # "continue" is for the model that waits for it
        text = _STOPPED if stopped else await self._carried_out(found, session, part, door)
        fact = IntentAnswered(door, found.kind, command.text.strip(), text)
        claim = of(claim, session.id, text)
        claim = msgspec.structs.replace(claim, answer=msgspec.structs.replace(claim.answer, intent=found.kind))
        return answer(claim, await actor.tell(lambda _: (fact,), claim, cause=claim.id))

    async def _carried_out(self, found: Intent, session: Session, id: CommandId, door: str) -> str:
        """Do it; gives what there is to say. What cannot be done now is an answer too, and changes nothing."""
        try:
            match found.kind:
                case "status":
                    return _status(session, named=not door.startswith(CHAT))
                case "sessions" | "objectives":
                    return await asyncio.to_thread(self._listed, "session" if found.kind == "sessions" else "objective")
                case "schedules":
                    rows = await self._schedules.rows()
                    return "\n".join(map(_timed, rows[:_ROWS])) or "Nothing is scheduled."
                case "schedule":
                    return await self._scheduled(found, session, id, door)
                case "schedule_on" | "schedule_off":
                    await self._handle(SwitchSchedule(found.text, found.kind == "schedule_on"), id, door)
                    return next(_timed(row) for row in await self._schedules.rows() if row.schedule.name == found.text)
                case "approve" | "deny":
                    return await self._decided(session, id, door, allow=found.kind == "approve")
                case "remember":
                    memory = Remember((NewMemory(found.text),), "private", session.spec.directory)
                    done = await self._handle(memory, id, door)
                    return f"{done.text}: {found.text}"
                case "stop_all":
                    return (await self._handle(cmd.Stop("*"), id, door)).text  # type: ignore[arg-type]
                case "stop" | "pause" if status(session) in ("idle", "closed") or session.end is not None:
                    return f"Nothing is running here; it is {status(session)}."
                case "stop":
                    await self._handle(cmd.Stop(session.id), id, door)
                    return _STOPPED
                case "pause":
                    await self._handle(cmd.Pause(session.id), id, door)
                    return "It pauses after the current step. To go on: resume"
                case "resume":
                    await self._handle(cmd.Resume(session.id), id, door)
                    return "It is running again."
        except CallerError as refused:
            return f"Nothing was changed: {refused}."

    async def _scheduled(self, found: Intent, session: Session, id: CommandId, door: str) -> str:
        """Make the schedule that is wanted, off, and read it back: the person says whether it is what they meant."""
        spec, when = session.spec, read_when(found.when)
        minute, hour, *_, day = found.when.split()
        name = f"at-{hour:0>2}{minute:0>2}" + ("" if day == "*" else f"-on-{day}")
        taken = {row.schedule.name for row in await self._schedules.rows()}
        name = next(one for one in (name, *(f"{name}-{n}" for n in range(2, 200))) if one not in taken)
        job = cmd.OpenSession(spec.directory, goal=found.text, profile=spec.profile, mode=spec.mode, ignore=spec.ignore)
        off = ScheduleSwitched(name, on=False, door=door, why="you have not confirmed it")
        await self._schedules.set(Schedule(name, when, job), off, proposed=None, id=id)
        (made,) = [row.schedule for row in await self._schedules.rows() if row.schedule.name == name]
        times = islice(due_times(made.when, self._clock.now_ms()), SHOWN)
        return "\n".join(
            (
                f"Understood: {words(made.when)}, in {spec.directory}: {found.text}",
                f"It would come at: {', '.join(map(_moment, times))}",
                f"It does not run yet. To have it run: enable schedule {name}",
            )
        )

    async def _decided(self, session: Session, id: CommandId, door: str, *, allow: bool) -> str:
        """Answer the one question that is open, if words alone are enough for it."""
        asking = [call for call in session.calls.values() if call.step == "asking"]
        if len(asking) != 1:  # an answer that names none is for the one that there is
            return "No question is open here. To say it to the model, put a backslash before it."
        (call,) = asking
        row = await asyncio.to_thread(self._lists.approval, call.approval)
        if allow and (why := self._too_much(call, row)):
            return f"It was not allowed: {why}; {_HOW.format(id=call.approval)}"
        decision = cmd.Decide(call.approval, call.digest, "once" if allow else "deny")
        await self._handle(decision, id, door)
        return f"{'Allowed, once' if allow else 'Denied'}: {call.tool} ({call.approval})."

    def _too_much(self, call: Call, row: ApprovalRow) -> str:
        """Why a yes in a message is not enough, "" where it is: the question must be plain, and have been there."""
        if row.risk not in _PLAIN_RISKS:
            return f"its risk is {row.risk}"
        if row.level == "confirm":
            return "it is confirmed with all its arguments"
        if call.sources:
            return "it goes back to what others wrote"
        if must_be_opened(call.asked):
            return "its arguments are long or hide characters"
        if self._clock.now_ms() - row.requested_ms < SEEN_MS:
            return "it was asked just now"
        return ""

    def _listed(self, kind: Kind) -> str:
        rows, more = self._lists.objectives(kind=kind, wanted=Wanted(), after="", limit=_ROWS)
        if not rows:
            return f"There are no {kind}s."
        lines = [f"{row.id}  {row.status}  {' '.join(row.title.split())[:80]}" for row in rows]
        return "\n".join((*lines, "and more: the list on the page has all") if more else lines)


def _status(session: Session, *, named: bool) -> str:
    """How it stands, in facts of the record; with the names of tools where these are for the person alone."""
    done = sum(step.status == "done" for step in session.plan)
    asking = sum(call.step == "asking" for call in session.calls.values())
    running = [call.tool for call in session.calls.values() if call.step == "started"]
    spent = session.spent
    facts = (
        f"Status: {status(session)}",
        f"plan: {done} of {len(session.plan)} done" if session.plan else "",
        f"running: {', '.join(running) if named else figures.counted(len(running), 'step')}" if running else "",
        f"{figures.counted(asking, 'question')} for you" if asking else "",
        f"{figures.counted(len(session.waiting), 'message')} not read yet" if session.waiting else "",
        f"spent: {figures.tokens(spent.tokens)} tokens, {figures.money(spent.usd_micros)}",
    )
    return "; ".join(filter(None, facts))


def _timed(row: ScheduleRow) -> str:
    """A schedule in a line."""
    state = f"next {_moment(row.next_ms[0])}" if row.next_ms else f"off ({row.why})"
    return f"{row.schedule.name}  {row.words}  {state}"


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().isoformat(" ", "minutes")
