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
from stead.domain import notifications as notify
from stead.domain.errors import NotFound, StorageFault
from stead.domain.events import Event, ObjectiveEnded
from stead.domain.ids import HOME, NO_COMMAND, ApprovalId, SessionId
from stead.domain.notices import TAGS, Notice, Subject, due_ms, grouped, kind_of, message_of, plain
from stead.domain.ports import Claimed, Clock
from stead.domain.rows import ApprovalRow, ObjectiveRow
from stead.domain.schedules import ScheduleRunEnded
from stead.runtime.answers import answer, of
from stead.runtime.heartbeats import QUIET
from stead.runtime.home import HomeStream
from stead.runtime.sending import WHY_CHARS, OutboxSender, Row, TaggedEvents, take_in
from stead.runtime.target_changes import known_target, target_fact

if TYPE_CHECKING:
    from stead.storage.outbox import Outbox, Outgoing

log = logging.getLogger(__name__)


class Subjects(Protocol):
    """The read models."""

    def objective(self, id: SessionId) -> ObjectiveRow:
        """One session; raises ``NotFound``."""

    def approval(self, id: ApprovalId) -> ApprovalRow:
        """One question; raises ``NotFound``."""


class Notifications(OutboxSender):
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
        sender: notify.Sender,
        outbox: Callable[[], Outbox],
        clock: Clock,
        clean: Callable[[str], str],
    ) -> None:
        self.page = ""
        """Where the page is, without a slash at its end."""
        self.is_said: Callable[[notify.NotificationTarget, SessionId], bool] = lambda _target, _session: False
        """Whether a target is a chat in which the session talks, so that it is said there anyhow."""
        self.to_chat: Callable[[notify.ChatTarget, Notice, int, bool], bool] = lambda *_: False
        """Has what a chat is to hear later come with what its own work says then; whether it does, or did before."""
        super().__init__("notifications wait", lambda name: f"a notification for {name}", clock, clean)
        self._home = home
        self._journal = journal
        self._subjects = subjects
        self._sender = sender
        self._open = outbox
        self._box: Outbox | None = None
        self._reached = 0
        self._lock = asyncio.Lock()

    @property
    def _targets(self) -> Mapping[str, notify.TargetState]:
        return self._home().state.targets

    def noticed(self) -> None:
        """Something happened. Called on the loop."""
        if self._targets:
            self.turn.set()

    # -- what people ask and say -----------------------------------------------------------------------------------

    async def rows(self) -> tuple[notify.TargetRow, ...]:
        """The targets by name."""

        def row(one: notify.TargetState) -> notify.TargetRow:
            try:
                return notify.TargetRow(one.target, one.on, one.why, *self._outbox().figures(one.target.name))
            except StorageFault as fault:
                return notify.TargetRow(one.target, one.on, one.why, error=str(fault))

        return tuple([await asyncio.to_thread(row, one) for _, one in sorted(self._targets.items())])

    async def push_key(self) -> notify.PushKey:
        """The key that a browser subscribes with."""
        return notify.PushKey(await self._sender.push_key())

    async def test(self, name: str) -> notify.TargetCheck:
        """Send one real message, at once; raises ``NotFound``."""
        target = known_target(self._targets, name).target
        notice = Notice(0, "", "test", name, self._clock.now_ms())
        message = message_of(f"msg_{secrets.token_hex(12)}", [(notice, Subject(name, "/"))], self.page)
        try:
            await self._sender.send(target, message)
        except notify.Undelivered as fault:
            return notify.TargetCheck(name, ok=False, text=plain(self._clean(str(fault)), WHY_CHARS))
        return notify.TargetCheck(name, ok=True, text="it was taken")

    async def carry_out(self, command: notify.TargetCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out.

        Raises:
            InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
            StorageFault: nothing was written.
        """
        async with self._lock:
            fact = await target_fact(command, self._targets, self._sender, self._clock.now_ms(), door)
            events = await self._home().record(fact, cause=claim.id, claim=of(claim, HOME))
            if isinstance(fact, notify.TargetRemoved):
                await self._sender.forget(fact.name)
            if isinstance(command, notify.RemoveTarget | notify.SwitchTarget):
                try:
                    await asyncio.to_thread(lambda: self._outbox().forget(command.name))
                except StorageFault as fault:
                    log.error("what waited for %s is dropped when it is due: %s", command.name, fault)
        self.turn.set()
        return answer(of(claim, HOME), events)

    async def tried(self, command: notify.TargetCommand, known: Mapping[str, notify.TargetState]) -> notify.TargetFact:
        """The fact that a command would make of these targets; raises as ``carry_out``."""
        return await target_fact(command, known, self._sender, self._clock.now_ms(), "settings")

    # -- what happens by itself ------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Find what is to be sent and send it, now and whenever something happens or a time comes."""
        try:
            await super().keep()
        finally:
            if self._box:
                self._box.close()

    async def _round(self, now_ms: int) -> int | None:
        targets = {name: one for name, one in self._targets.items() if one.on}
        if not targets:
            return None
        box = await asyncio.to_thread(self._outbox)
        await asyncio.to_thread(self._find, box, targets, now_ms)
        return await self._begin(box, targets, now_ms, partial(grouped, now_ms=now_ms))

    def _outbox(self) -> Outbox:
        if self._box is None:
            self._box = self._open()
            self._reached = self._box.reached
        return self._box

    def _find(self, box: Outbox, targets: Mapping[str, notify.TargetState], now_ms: int) -> None:
        """Take into the outbox what is to be sent of all that has happened since it was looked last. In a thread."""

        def is_kept(name: str, notice: Notice, due_ms: int, waits: bool) -> bool:
            via = targets[name].target.via  # what chats take is in their outbox before it is found
            return not isinstance(via, notify.ChatTarget) or not self.to_chat(via, notice, due_ms, waits)

        def wanted(event: Event) -> list[Row]:
            return self._wanted(event, targets, now_ms)

        after = max(self._reached, min(one.since for one in targets.values()))
        self._reached = take_in(box, self._journal, after, TAGS, wanted, is_kept)

    def _wanted(self, event: Event, targets: Mapping[str, notify.TargetState], now_ms: int) -> list[Row]:
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

    def _kind_of(self, event: Event) -> tuple[notify.Kind, str] | None:
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

    async def _sent(self, box: Outbox, target: str, outgoing: Outgoing) -> bool:
        one = self._targets.get(target)
        notices = [notice for notice in outgoing.notices if one and one.hears_of(notice.seq)]
        message = await asyncio.to_thread(self.message, outgoing.id, notices)
        if message and one:
            await self._sender.send(one.target, message)
        return message is not None

    async def _settled(self, outgoing: Outgoing, target: str, fault: notify.Undelivered | None, *, over: bool) -> None:
        if fault and fault.gone and target in self._targets:
            why = plain(self._clean(str(fault)), WHY_CHARS)
            await self._home().record(notify.TargetSwitched(target, on=False, door="stead", why=why), cause=NO_COMMAND)

    def message(self, id: str, notices: Sequence[Notice]) -> notify.Message | None:
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
