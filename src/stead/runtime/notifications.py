"""Notifications: finds what is to be sent, and sees to it that it arrives.

Layer: runtime. What the journal says is taken into the outbox once, and sent from there, one message after another for
each target, until it arrived or a day has gone by. With no target nothing runs and nothing is kept. No model and no
session has a part in it: words, targets and times are Stead's and the person's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from stead.domain import commands as cmd
from stead.domain.errors import NotFound, SteadError, StorageFault
from stead.domain.events import Event, ObjectiveEnded
from stead.domain.ids import HOME, NO_COMMAND, ApprovalId, SessionId
from stead.domain.notices import TAGS, Notice, Subject, due_ms, grouped, kind_of, message_of, plain
from stead.domain.notifications import (
    ChatTarget,
    Kind,
    Message,
    NotificationTarget,
    PushKey,
    RemoveTarget,
    Sender,
    SwitchTarget,
    TargetCheck,
    TargetCommand,
    TargetFact,
    TargetRemoved,
    TargetRow,
    TargetState,
    TargetSwitched,
    Undelivered,
)
from stead.domain.ports import Claimed, Clock
from stead.domain.rows import ApprovalRow, ObjectiveRow
from stead.domain.schedules import ScheduleRunEnded
from stead.runtime.alarms import WallAlarm
from stead.runtime.answers import answer, of
from stead.runtime.heartbeats import QUIET
from stead.runtime.home import HomeStream
from stead.runtime.target_changes import known_target, target_fact

if TYPE_CHECKING:
    from stead.storage.outbox import Outbox, Outgoing

log = logging.getLogger(__name__)
FIRST_RETRY_S, LONGEST_RETRY_S, GIVEN_UP_MS = 5.0, 1800.0, 86_400_000
_LOOK_AGAIN_MS = 30_000
_UNWRITTEN = 1000
"""Of the journal's events that have nothing to tell, so many may be looked at again after a crash."""
_WHY_CHARS = 300


class TaggedEvents(Protocol):
    """The journal by the types of events."""

    def after(self, seq: int, tags: Sequence[str]) -> tuple[list[Event], int]:
        """Events of these types past one, and up to where was looked."""


class Subjects(Protocol):
    """The read models."""

    def objective(self, id: SessionId) -> ObjectiveRow:
        """One session; raises ``NotFound``."""

    def approval(self, id: ApprovalId) -> ApprovalRow:
        """One question; raises ``NotFound``."""


class Notifications:
    """Keeps the targets; the caller of ``keep`` owns the work.

    Args:
        home: has the targets; asked for when needed.
        journal: what happened.
        subjects: whom it happened to.
        sender: brings messages out.
        outbox: opens it, given the journal's last event.
        clock: says what time it is.
        clean: takes secrets out of a text.
    """

    def __init__(
        self,
        home: Callable[[], HomeStream],
        journal: TaggedEvents,
        subjects: Subjects,
        sender: Sender,
        outbox: Callable[[], Outbox],
        clock: Clock,
        clean: Callable[[str], str],
    ) -> None:
        self.page = ""
        """Where the page is, without a slash at its end."""
        self.is_said: Callable[[NotificationTarget, SessionId], bool] = lambda _target, _session: False
        """Whether a target is a chat in which the session talks, so that it is said there anyhow."""
        self.to_chat: Callable[[ChatTarget, Notice, int, bool], bool] = lambda _via, _notice, _due_ms, _waits: False
        """Has what a chat is to hear later come with what its own work says then; whether it does, or did before."""
        self._home = home
        self._journal = journal
        self._subjects = subjects
        self._sender = sender
        self._open = outbox
        self._clock = clock
        self._clean = clean
        self._box: Outbox | None = None
        self._reached = 0
        self._lock = asyncio.Lock()
        self._turn = asyncio.Event()
        self._sending: dict[str, asyncio.Task[None]] = {}

    @property
    def _targets(self) -> Mapping[str, TargetState]:
        return self._home().state.targets

    def noticed(self) -> None:
        """Something happened. Called on the loop."""
        if self._targets:
            self._turn.set()

    # -- what people ask and say -----------------------------------------------------------------------------------

    async def rows(self) -> tuple[TargetRow, ...]:
        """The targets by name."""

        def row(one: TargetState) -> TargetRow:
            try:
                return TargetRow(one.target, one.on, one.why, *self._outbox().figures(one.target.name))
            except StorageFault as fault:
                return TargetRow(one.target, one.on, one.why, error=str(fault))

        return tuple([await asyncio.to_thread(row, one) for _, one in sorted(self._targets.items())])

    async def push_key(self) -> PushKey:
        """The key that a browser subscribes with."""
        return PushKey(await self._sender.push_key())

    async def test(self, name: str) -> TargetCheck:
        """Send one real message, at once; raises ``NotFound``."""
        target = known_target(self._targets, name).target
        notice = Notice(0, "", "test", name, self._clock.now_ms())
        message = message_of(f"msg_{secrets.token_hex(12)}", [(notice, Subject(name, "/"))], self.page)
        try:
            await self._sender.send(target, message)
        except Undelivered as fault:
            return TargetCheck(name, ok=False, text=plain(self._clean(str(fault)), _WHY_CHARS))
        return TargetCheck(name, ok=True, text="it was taken")

    async def carry_out(self, command: TargetCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out.

        Raises:
            InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
            StorageFault: nothing was written.
        """
        async with self._lock:
            fact = await target_fact(command, self._targets, self._sender, self._clock.now_ms(), door)
            events = await self._home().record(fact, cause=claim.id, claim=of(claim, HOME))
            if isinstance(fact, TargetRemoved):
                await self._sender.forget(fact.name)
            if isinstance(command, RemoveTarget | SwitchTarget):
                try:
                    await asyncio.to_thread(lambda: self._outbox().forget(command.name))
                except StorageFault as fault:
                    log.error("what waited for %s is dropped when it is due: %s", command.name, fault)
        self._turn.set()
        return answer(of(claim, HOME), events)

    async def tried(self, command: TargetCommand, known: Mapping[str, TargetState]) -> TargetFact:
        """The fact that a command would make of these targets; raises as ``carry_out``."""
        return await target_fact(command, known, self._sender, self._clock.now_ms(), "settings")

    # -- what happens by itself ------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Find what is to be sent and send it, now and whenever something happens or a time comes."""
        alarm = WallAlarm(self._turn.set)
        try:
            while True:
                self._turn.clear()
                now_ms = self._clock.now_ms()
                try:
                    alarm.set(await self._round(now_ms), now_ms)
                except SteadError as fault:
                    log.error("notifications wait: %s", fault)
                    alarm.set(now_ms + _LOOK_AGAIN_MS, now_ms)
                await self._turn.wait()
        finally:
            alarm.close()
            tasks = list(self._sending.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._box:
                self._box.close()

    async def _round(self, now_ms: int) -> int | None:
        """Take in what happened, begin to send what is due; gives when to look again; None: as something happens."""
        targets = {name: one for name, one in self._targets.items() if one.on}
        if not targets:
            return None
        box = await asyncio.to_thread(self._outbox)
        await asyncio.to_thread(self._find, box, targets, now_ms)
        times: list[int] = []
        for name in targets.keys() - self._sending.keys():
            outgoing = await asyncio.to_thread(box.head, name, now_ms, partial(grouped, now_ms=now_ms))
            if outgoing and outgoing.next_ms <= now_ms:
                self._sending[name] = asyncio.create_task(self._send(box, name, outgoing), name=f"notify {name}")
            elif due := await asyncio.to_thread(box.due_ms, name):
                times.append(due if due > now_ms else now_ms + _LOOK_AGAIN_MS)
        return min(times, default=None)

    def _outbox(self) -> Outbox:
        if self._box is None:
            self._box = self._open()
            self._reached = self._box.reached
        return self._box

    def _find(self, box: Outbox, targets: Mapping[str, TargetState], now_ms: int) -> None:
        """Take into the outbox what is to be sent of all that has happened since it was looked last. In a thread."""

        def is_chats(name: str, notice: Notice, due_ms: int, waits: bool) -> bool:
            via = targets[name].target.via
            return isinstance(via, ChatTarget) and self.to_chat(via, notice, due_ms, waits)

        events: list[Event] | None = None
        after = max(self._reached, min(one.since for one in targets.values()))
        while events is None or events:
            events, reached = self._journal.after(after, TAGS)
            found = [row for event in events for row in self._wanted(event, targets, now_ms)]
            if found or reached - box.reached > _UNWRITTEN:  # what chats take is in their outbox before it is found
                box.add([row for row in found if not is_chats(*row)], reached)
            self._reached = after = max(after, reached)

    def _wanted(
        self, event: Event, targets: Mapping[str, TargetState], now_ms: int
    ) -> list[tuple[str, Notice, int, bool]]:
        """Whom an event is sent to, at once first: for the outbox."""
        found = self._kind_of(event)
        if found is None:
            return []
        kind, about = found
        wanted = [one.target for one in targets.values() if one.hears_of(event.seq) and kind in one.target.kinds]
        wanted = [one for one in wanted if not self.is_said(one, event.session)]
        if not wanted or (kind != "question" and self._is_subagent(event.session)):
            return []
        notice = Notice(event.seq, event.session, kind, about, event.ts_ms)
        times = sorted((due_ms(target, kind, now_ms), target.name) for target in wanted)
        return [(name, notice, due, due > now_ms) for due, name in times]

    def _kind_of(self, event: Event) -> tuple[Kind, str] | None:
        """As ``notices.kind_of``; but of a heartbeat's run not that it ended well, and that it says something."""
        match event.body:
            case ScheduleRunEnded(end="refused" | "lost"):
                return kind_of(event.body)
            case ScheduleRunEnded(name=name, text=text) if self._is_heartbeat(name) and text not in ("", QUIET):
                return "ended", f"heartbeat:{name}"
            case ObjectiveEnded() if (found := kind_of(event.body)) and found[0] == "ended":
                with contextlib.suppress(NotFound):
                    return None if self._is_heartbeat(self._subjects.objective(event.session).schedule) else found
        return kind_of(event.body)

    def _is_heartbeat(self, name: str) -> bool:
        one = self._home().state.schedules.get(name)
        return one is not None and bool(one.schedule.checklist)

    def _is_subagent(self, session: SessionId) -> bool:
        try:
            return session != HOME and bool(self._subjects.objective(session).parent)
        except NotFound:
            return True

    async def _send(self, box: Outbox, name: str, outgoing: Outgoing) -> None:
        """Send one message, and record how that went."""
        try:
            one = self._targets.get(name)
            notices = [notice for notice in outgoing.notices if one and one.hears_of(notice.seq)]
            message = await asyncio.to_thread(self.message, outgoing.id, notices)
            if message and one:
                await self._sender.send(one.target, message)
            await asyncio.to_thread(box.settle, outgoing, "sent" if message else "void", self._clock.now_ms())
        except StorageFault as fault:
            log.error("a notification for %s waits: %s", name, fault)
        except SteadError as fault:
            await self._failed(
                box, name, outgoing, fault if isinstance(fault, Undelivered) else Undelivered(str(fault))
            )
        finally:
            del self._sending[name]
        self._turn.set()  # not after a fault of ours, which would come again at once

    async def _failed(self, box: Outbox, name: str, outgoing: Outgoing, fault: Undelivered) -> None:
        now_ms, why = self._clock.now_ms(), plain(self._clean(str(fault)), _WHY_CHARS)
        wait_s = max(fault.after_s, min(FIRST_RETRY_S * 2**outgoing.tries, LONGEST_RETRY_S))
        next_ms = now_ms + round(wait_s * 1000)
        over = fault.final or next_ms > outgoing.made_ms + GIVEN_UP_MS
        log.warning("a notification for %s %s: %s", name, "is given up" if over else "waits", why)
        await asyncio.to_thread(box.settle, outgoing, "lost" if over else "open", now_ms, next_ms, why)
        if fault.gone and name in self._targets:
            await self._home().record(TargetSwitched(name, on=False, door="stead", why=why), cause=NO_COMMAND)

    def message(self, id: str, notices: Sequence[Notice]) -> Message | None:
        """The message as it is to be sent now; nothing where all of it has been settled meanwhile. In a thread."""
        parts = [(one, subject) for one in notices if (subject := self._subject(one))]
        return message_of(id, parts, self.page) if parts else None

    def _subject(self, notice: Notice) -> Subject | None:
        if notice.kind == "schedule" or notice.of.startswith("heartbeat:"):
            return Subject(notice.of.removeprefix("heartbeat:"), "/schedules")
        if notice.of.startswith("channel:"):
            return Subject(notice.of.removeprefix("channel:"), "/channels")
        if notice.of.startswith("warned:"):
            return Subject(notice.of.removeprefix("warned:"), "/usage")
        try:
            row = self._subjects.objective(SessionId(notice.session))
            title = plain(self._clean(row.title))
            if notice.kind == "question" and notice.of:
                if self._subjects.approval(ApprovalId(notice.of)).status != "pending":
                    return None
                return Subject(title, f"/approvals/{notice.of}")
        except NotFound:
            return None
        return Subject(title, f"/{row.kind}s/{row.id}")
