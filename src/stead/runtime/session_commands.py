"""Carrying out what a person tells a session that there is, and does with its files.

Layer: runtime. Everything that can be refused is refused before anything is written. Only the person reaches this: no
tool and no model does.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checkpoints import InUse, Restored
from stead.domain.conversation import carry
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.domain.ids import HOME, CommandId, SessionId
from stead.domain.ports import Claimed, Models
from stead.domain.schedules import ScheduleDue, ScheduleRemoved, ScheduleRunEnded, ScheduleRunStarted, ScheduleSwitched
from stead.domain.sessions import Edit, Session, children, kept, open_agents
from stead.runtime.answers import answer, claim_of, of
from stead.runtime.attachments import attachments_of
from stead.runtime.deps import Deps
from stead.runtime.keeping import keeps
from stead.runtime.opening import PROJECT, TITLE_CHARS
from stead.runtime.past import state_at
from stead.runtime.performing import REQUEST
from stead.runtime.registry import Sessions
from stead.runtime.reviews import settled
from stead.runtime.session_words import Facts, facts_of, require_interactive
from stead.runtime.sessions import Actor
from stead.runtime.steps import lapsed

_FOR_BRANCHES = (cmd.Stop, cmd.Cancel, cmd.CloseSession, cmd.Pause, cmd.Resume, cmd.Revoke)
"""What is meant for the subagents of a session too."""


class SessionCommands:
    """Carries out commands on sessions.

    Each method raises ``CallerError`` for what cannot be, and ``StorageFault``; then nothing was written.
    """

    def __init__(self, deps: Deps, sessions: Sessions) -> None:
        self._deps = deps
        self._sessions = sessions

    async def tell(self, command: cmd.SessionWord, claim: Claimed, door: str) -> cmd.Answer:
        """Record what a person tells a session, or every one; what is to be stopped is stopped first."""
        if isinstance(command, cmd.Stop) and command.session == "*":
            return await self._stop_all(command, claim, door)
        actor, claim = self._sessions.actor(command.session), of(claim, command.session)
        halts = isinstance(command, (cmd.Stop, cmd.Cancel, cmd.CloseSession))
        if halts and not isinstance(command, cmd.Stop):
            facts_of(command, await actor.state(), door, self._deps.models)  # what is refused stops nothing
        halted = await self._sessions.halt(actor) if halts else []
        try:
            branch = await self._branch(command, actor, door, halt=halts)
            if halts:
                halted += await self._sessions.halt(*(one for one in branch if one not in halted))
            erases = isinstance(command, cmd.Delete) and command.now
            apart = await self._ever_below(actor) if erases else ()
            await self._tell_branch(branch, command, claim, door)
            work = partial(self._facts, command, door)
            events = await actor.carry_out(work, claim, cause=claim.id, cut=_cut(command))
        except StorageFault as fault:
            if not isinstance(command, cmd.Stop):
                raise
            said = [_owed(one, replace(command, session=one.id), door, fault, self._deps.models) for one in halted]
            return replace(claim.answer, seq=self._deps.journal.head(), text=said[0])
        finally:
            for one in halted:
                one.release()
        if erases:
            await self._erase(actor.id)
            for id in apart:
                with suppress(Conflict, NotFound):
                    await self.tell(cmd.Delete(id, now=True), claim_of(CommandId(f"{claim.id}/{id}"), "", id, ""), door)
        elif isinstance(command, cmd.CancelCall) and command.key in (session := await actor.state()).agents:
            await self._deps.agents.cancel(session, command.key)
        return answer(claim, events)

    async def _branch(self, command: cmd.SessionWord, actor: Actor, door: str, *, halt: bool) -> tuple[Actor, ...]:
        """The subagents below a session that a word is meant for too, leaves first."""
        if not isinstance(command, _FOR_BRANCHES):
            return ()
        session = await actor.state()
        if not open_agents(session):
            return ()
        if not halt:
            facts_of(command, session, door, self._deps.models)  # what is refused reaches no one
        return tuple(self._sessions.actor(id) for id in await self._deps.agents.below(session))

    async def _tell_branch(
        self, branch: tuple[Actor, ...], command: cmd.SessionWord, claim: Claimed, door: str
    ) -> None:
        for one in branch:
            word = cmd.Cancel(one.id) if isinstance(command, cmd.CloseSession) else replace(command, session=one.id)
            try:
                await one.carry_out(partial(self._facts, word, door), None, cause=claim.id)
            except Conflict:
                continue  # it has ended, or is as it should be
            except StorageFault as fault:
                if not isinstance(word, cmd.Stop):
                    raise
                _owed(one, word, door, fault, self._deps.models)

    async def _ever_below(self, actor: Actor) -> tuple[SessionId, ...]:
        try:
            return children(await actor.state())
        except NotFound:
            return ()

    async def change_files(self, command: cmd.FileCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Keep the files of an interactive session, or put them back."""
        actor, claim = self._sessions.actor(command.session), of(claim, command.session)
        work = partial(self._on_files, actor, command, door)
        return answer(claim, await actor.carry_out(work, claim, cause=claim.id))

    async def settle_trial(self, command: cmd.ApplyTrial | cmd.DiscardTrial, claim: Claimed, door: str) -> cmd.Answer:
        """Let changes that wait into the folder, or throw them away."""
        actor, claim = self._sessions.actor(command.session), of(claim, command.session)
        work = settled(self._deps.trials, command, door, performing=lambda: actor.performing)
        return answer(claim, await actor.carry_out(work, claim, cause=claim.id))

    async def _stop_all(self, command: cmd.Stop, claim: Claimed, door: str) -> cmd.Answer:
        """Stop every session at once. It is not claimed: stopping twice is the same as once."""
        live, said = [actor for actor in self._sessions.live() if actor.busy or actor.alarm.is_set], ""
        await asyncio.gather(self._deps.machines.close(), *(actor.halt() for actor in live))
        for actor in live:
            stop = cmd.Stop(actor.id, command.why)
            try:
                await actor.tell(partial(_facts_in, stop, door, self._deps.models), None, cause=claim.id)
            except Conflict:
                continue  # it ended by itself in the meantime
            except StorageFault as fault:
                said = f"; {_owed(actor, stop, door, fault, self._deps.models)}"
            finally:
                actor.release()
        return cmd.Answer(claim.id, HOME, self._deps.journal.head(), f"{len(live)} stopped{said}")

    async def _facts(self, command: cmd.SessionWord, door: str, session: Session) -> Facts:
        """The facts of a word; what is remembered, and what the project says, comes before a message."""
        facts = facts_of(command, session, door, self._deps.models)
        if not isinstance(command, cmd.SendMessage):
            return facts
        shown = self._deps.attachments.named(command.attachments)
        facts = tuple(
            replace(fact, attachments=shown) if isinstance(fact, ev.MessageReceived) and not fact.material else fact
            for fact in facts
        )
        facts = (*await self._deps.memory.recollection.before_words(session, command.text), *facts)
        if not session.spec.interactive:
            return facts
        rules = await self._deps.project.rules(session.spec.directory)
        if {file.path: file.sha256 for file in rules} == session.rules:
            return facts
        return (ev.ProjectRulesRead(rules, PROJECT), *facts)

    async def _erase(self, session: SessionId) -> None:
        """Drop the payloads of a deleted session, what only it had kept of files, and what waits of it."""
        events = (event.body for event in self._deps.journal.events(session=session) if isinstance(event, ev.Event))
        shown = {one.content for body in events for one in attachments_of(body)}
        await self._deps.journal.erase(session)
        self._deps.attachments.drop(shown)
        await forget_kept(self._deps)
        with suppress(NotFound):
            await self._deps.trials.discard_trial(session)
        self._sessions.drop(session)

    async def _on_files(self, actor: Actor, command: cmd.FileCommand, door: str, session: Session) -> Facts:
        require_interactive(session)
        if not keeps(session):
            raise Conflict("this session keeps no checkpoints: it cannot change the folder, or is on trial")
        match command:
            case cmd.TakeCheckpoint(note=note):
                return (await actor.keeper.take(session, "person", note.strip()[:TITLE_CHARS]),)
            case cmd.UndoEdit():
                _require_quiet(actor)
                return (await self._undo(command, session, door),)
            case cmd.RestoreCheckpoint():
                _require_quiet(actor)
                return await self._restore(actor, command, session, door)

    async def _undo(self, command: cmd.UndoEdit, session: Session, door: str) -> ev.EditUndone:
        edit = _edit(session, command)
        now, then = (edit.before, edit.after) if command.again else (edit.after, edit.before)
        await self._deps.versions.put_back(session.spec.directory, then, now)
        return ev.EditUndone(key=edit.key, path=edit.before.path, again=command.again, door=door)

    async def _restore(self, actor: Actor, command: cmd.RestoreCheckpoint, session: Session, door: str) -> Facts:
        mark = kept(session, command.checkpoint)
        if mark is None:
            raise NotFound(f"there is no checkpoint {command.checkpoint!r}; see `stead session checkpoint --list`")
        conversation = command.conversation and not command.paths
        if not command.files and not conversation:
            raise InvalidRequest("there is nothing to put back; choose files, the conversation, or both")
        if command.part and (not command.files or len(command.paths) != 1):
            raise InvalidRequest("a part is of one file; name it in paths")
        carried = carry(await state_at(self._deps.journal, session.id, mark.at)) if conversation else None
        if not command.part:
            await self._deps.machines.kill(actor.id)
        before = await actor.keeper.take(session, "restore", "")
        stream = await actor.stream()
        stream.add(before, actor="person")
        await stream.commit()  # a crash on the way back leaves the way forward on record
        done = Restored(0, ())
        if command.files:
            spec = session.spec
            done = await self._deps.checkpoints.restore(
                spec.directory, spec.ignore, mark.root, command.paths, command.part
            )
        restored = ev.CheckpointRestored(
            id=mark.id,
            before=before.id,
            files=command.files,
            conversation=conversation,
            changed=done.changed,
            paths=done.paths,
            failed=done.failed,
            door=door,
        )
        if carried is None:
            return (restored,)
        return (*lapsed(session), ev.ConversationSet(source=session.id, at=mark.at, carried=carried), restored)


async def forget_kept(deps: Deps) -> None:
    """Drop what only deleted sessions had kept of files."""

    def in_use() -> InUse:
        return deps.pinned.with_recorded(_recorded(deps))

    await deps.checkpoints.forget(in_use)


def _cut(command: cmd.SessionWord) -> str:
    """What of the running work a word cuts off: a call's key or ``REQUEST``, "" for nothing."""
    match command:
        case cmd.SendMessage(interrupt=True):
            return REQUEST
        case cmd.CancelCall(key=key):
            return key
        case _:
            return ""


def _facts_in(command: cmd.Stop, door: str, models: Models, session: Session) -> Facts:
    return facts_of(command, session, door, models)


def _owed(actor: Actor, stop: cmd.Stop, door: str, fault: StorageFault, models: Models) -> str:
    """Have a stop recorded as soon as the disk takes it; gives what the person is to know."""
    actor.hold.owe(partial(_facts_in, stop, door, models))
    return f"it holds, but that could not be recorded ({fault}); a restart before it is would let it go on"


def _recorded(deps: Deps) -> InUse:
    """Every tree and content that the record names."""
    roots, contents, waiting = set(), set(), dict[tuple[str, int], str]()
    for event in deps.journal.events():
        body = event.body if isinstance(event, ev.Event) else None
        if isinstance(body, ev.CheckpointTaken):
            roots.add(body.root)
        elif isinstance(body, ev.FileChanged):
            contents |= {body.before.content, body.after.content}
        elif isinstance(body, ScheduleDue) and body.arrived:
            waiting[body.name, body.due_ms] = body.arrived.content
        elif isinstance(body, ScheduleRunStarted | ScheduleRunEnded):
            waiting.pop((body.name, body.due_ms), "")  # the session has it as a text
        elif isinstance(body, ScheduleRemoved) or (isinstance(body, ScheduleSwitched) and not (body.on or body.why)):
            waiting = {key: content for key, content in waiting.items() if key[0] != body.name}
        elif body is not None:
            contents |= {shown.content for shown in attachments_of(body)}
    return InUse(frozenset(roots), frozenset(contents.union(waiting.values())))


def _require_quiet(actor: Actor) -> None:
    if actor.performing:
        raise Conflict("something is running in it; wait for it, or stop it first")


def _edit(session: Session, command: cmd.UndoEdit) -> Edit:
    found = [edit for edit in session.edits if edit.key == command.key and command.path in ("", edit.before.path)]
    if not found:
        raise NotFound(f"the call {command.key!r} changed no such file; see `stead session diff`")
    if len(found) > 1:
        raise InvalidRequest(f"the call {command.key!r} changed {len(found)} files; name one of them")
    if found[0].undone != command.again:
        raise Conflict("it was undone already" if found[0].undone else "it is not undone")
    return found[0]
