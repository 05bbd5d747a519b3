"""What people do in a session that they work in: open and fork it, go back, change its queue of calls, its plan.

Layer: runtime. Everything that can be refused is refused before anything is written. Only the person reaches this: no
tool and no model does.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from stead.brain.directives import instructions
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checkpoints import InUse, Restored
from stead.domain.conversation import carry
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.folding import fold
from stead.domain.ids import DEFAULT_WORKSPACE, CallKey, SessionId
from stead.domain.messages import AssistantMessage, ToolCall, UserMessage
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.domain.ports import Claimed
from stead.domain.sessions import PERSON, Call, Edit, Grant, Session, attended, kept
from stead.runtime import objectives
from stead.runtime.answers import answer, of
from stead.runtime.deps import Deps
from stead.runtime.folder import folder
from stead.runtime.home import check_budget
from stead.runtime.keeping import ignored, keeps
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook
from stead.runtime.sessions import Actor
from stead.runtime.steps import lapsed
from stead.runtime.stream import Stream

PROJECT = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)
_TITLE_CHARS = 80
_MOST_STEPS = 30
_MOST_PATTERNS = 100

Work = (
    cmd.OpenSession
    | cmd.ForkSession
    | cmd.CloseSession
    | cmd.TakeCheckpoint
    | cmd.RestoreCheckpoint
    | cmd.UndoEdit
    | cmd.EditCall
    | cmd.CancelCall
    | cmd.RetryCall
    | cmd.SetPlan
    | cmd.RaiseBudget
)
Facts = tuple[ev.Body, ...]


class Workroom:
    """Carries out what people do in their sessions.

    Args:
        deps: see there.
        sessions: where actors are found.
        book: names secrets.
        grants: what folders were granted, as it is now.
        copied: records that a folder's files go to another one.
    """

    def __init__(
        self,
        deps: Deps,
        sessions: Sessions,
        book: SecretBook,
        grants: Callable[[], Sequence[tuple[str, Grant]]],
        copied: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._deps = deps
        self._sessions = sessions
        self._book = book
        self._grants = grants
        self._copied = copied

    async def carry_out(self, command: Work, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out; its facts are durable when this returns.

        Raises:
            CallerError: it cannot be, and nothing was written.
            StorageFault: likewise.
        """
        match command:
            case cmd.OpenSession():
                return await self._open(command, claim, door)
            case cmd.ForkSession():
                return await self._fork(command, claim)
            case cmd.CloseSession(session=id):
                return await self._close(self._sessions.actor(id), claim, door)
            case _:
                return await self._work(self._sessions.actor(command.session), command, claim, door)

    async def told(self, command: objectives.Told, door: str, session: Session) -> Facts:
        """The facts of what a person tells a session; what is remembered and its project says comes first."""
        facts = objectives.told(command, session, door)
        if not isinstance(command, cmd.SendMessage):
            return facts
        facts = (*await self._deps.memory.recollection.before_words(session, command.text), *facts)
        if not attended(session):
            return facts
        rules = await self._deps.project.rules(session.spec.directory)
        if {file.path: file.sha256 for file in rules} == session.rules:
            return facts
        return (ev.ProjectRulesRead(rules, PROJECT), *facts)

    async def forget_kept(self) -> None:
        """Drop what only deleted sessions had kept of files."""

        def in_use() -> InUse:
            recorded = _recorded(self._deps)
            return self._deps.held.with_recorded(recorded)

        await self._deps.checkpoints.forget(in_use)

    async def _open(self, command: cmd.OpenSession, claim: Claimed, door: str) -> cmd.Answer:
        d = self._deps
        d.gate.specs((*command.tools, *command.allow))
        fact = await asyncio.to_thread(_opened, command, d.models.default_chain())
        session = SessionId(d.new_id("s"))
        fact = msgspec.structs.replace(fact, secrets=self._book.given(command.secrets, session))
        for ref in fact.chain:
            await asyncio.to_thread(d.models.info, ref)  # says which provider there is not
        rules = await d.project.rules(fact.directory)
        facts: list[ev.Body] = [
            *objectives.granted(command, fact.directory, self._grants(), d.clock.now_ms(), door),
            *await d.memory.recollection.opening(fact, ""),
            *([ev.ProjectRulesRead(rules, PROJECT)] if rules else []),
        ]
        return await self._begin(session, fact, facts, claim)

    async def _begin(
        self, session: SessionId, fact: ev.SessionOpened, facts: Sequence[ev.Body], claim: Claimed
    ) -> cmd.Answer:
        d = self._deps
        said = instructions(d.directives(), fact.directory, attended=True)
        fact = msgspec.structs.replace(fact, instructions=said)
        self._sessions.bind(session, fact)
        stream = Stream.open(session, fact, claim.id, d)
        stream.add(*facts, actor="person", cause=claim.id)
        claim = of(claim, session)
        events = await stream.commit(claim)
        self._sessions.adopt(stream).wake()
        return answer(claim, events)

    async def _fork(self, command: cmd.ForkSession, claim: Claimed) -> cmd.Answer:
        actor = self._sessions.actor(command.session)
        async with actor.lock:
            session = (await actor.stream()).session
            at = command.at or session.seq
            if not 1 <= at <= session.seq:
                raise InvalidRequest(f"the session has events 1 to {session.seq}; {at} is none of them")
            then = await self._state_at(session.id, at)
            spec, carried = _as_session(then.spec), carry(then)
            title = command.title.strip()[:_TITLE_CHARS] or f"{spec.title} (fork)"[:_TITLE_CHARS]
            text = ""
            if command.directory:
                target = await asyncio.to_thread(_empty_folder, command.directory)
                root, text = await self._files_at(actor, session, at)
                await self._copied(spec.directory, target)
                spec = msgspec.structs.replace(spec, directory=target)
                carried = _without_memory(carried)
                await self._deps.checkpoints.restore(target, spec.ignore, root)
        fact = msgspec.structs.replace(spec, title=title, secrets=())  # a fork is given none: they were for the first
        facts = (ev.ConversationSet(source=session.id, at=at, carried=carried),)
        return await self._begin(SessionId(self._deps.new_id("s")), fact, facts, of(claim, session.id, text))

    async def _files_at(self, actor: Actor, session: Session, at: int) -> tuple[str, str]:
        """The tree that is nearest to a moment, and which one that is."""
        if at == session.seq:
            taken = await actor.keeper.take(session, "fork", "")
            return taken.root, "with the files as they are now"
        before = [mark for mark in session.marks if mark.seq <= at]
        mark = before[-1] if before else next(iter(session.marks), None)
        if mark is None:
            raise Conflict("there is no checkpoint of the files; leave the folder out to fork the conversation alone")
        return mark.root, f"with the files of checkpoint {mark.id}, from before turn {mark.turn}"

    async def _close(self, actor: Actor, claim: Claimed, door: str) -> cmd.Answer:
        def facts(session: Session) -> Facts:
            _require_attended(session)
            if session.phase == "ended":
                raise Conflict("it is closed already; a message opens it again")
            return (*lapsed(session), ev.SessionClosed(door=door))

        claim = of(claim, actor.id)
        facts(await actor.state())  # what is refused stops nothing
        await actor.halt()
        try:
            return answer(claim, await actor.tell(facts, claim, cause=claim.id))
        finally:
            actor.release()

    async def _work(self, actor: Actor, command: Work, claim: Claimed, door: str) -> cmd.Answer:
        claim = of(claim, actor.id)
        work = self._at_once if isinstance(command, _AT_ONCE) else partial(self._on_files, actor)
        cut = command.key if isinstance(command, cmd.CancelCall) else ""
        return answer(claim, await actor.carry_out(partial(work, command, door), claim, cause=claim.id, cut=cut))

    async def _at_once(self, command: Work, door: str, session: Session) -> Facts:
        if session.end is not None:
            raise Conflict(f"the objective has ended ({session.end.status}); `retry` runs a failed one again")
        match command:
            case cmd.EditCall(key=key, arguments=arguments):
                return _edited(_open_call(session, key), arguments, door)
            case cmd.CancelCall(key=key, reason=reason):
                call = _open_call(session, key, running=True)
                if call.step == "asking":
                    return (ev.ApprovalDenied(id=call.approval, key=key, door=door, reason=reason.strip()),)
                return (ev.CallCancelled(key=key, tool=call.tool, reason=reason.strip(), door=door),)
            case cmd.RetryCall(key=key):
                return _retried(session, key, door)
            case cmd.SetPlan(steps=steps):
                _check_plan(steps)
                return (ev.PlanMade(steps=steps, by="person"),)
            case cmd.RaiseBudget(budget=budget):
                check_budget(budget)
                return (ev.BudgetRaised(budget=budget, door=door),)
            case _:
                raise AssertionError(f"{type(command).__name__} works on files")

    async def _on_files(self, actor: Actor, command: Work, door: str, session: Session) -> Facts:
        _require_attended(session)
        if not keeps(session):
            raise Conflict("this session keeps no checkpoints: it cannot change the folder, or is on trial")
        match command:
            case cmd.TakeCheckpoint(note=note):
                return (await actor.keeper.take(session, "person", note.strip()[:_TITLE_CHARS]),)
            case cmd.UndoEdit():
                _require_quiet(actor)
                return (await self._undo(command, session, door),)
            case cmd.RestoreCheckpoint():
                _require_quiet(actor)
                return await self._restore(actor, command, session, door)
            case _:
                raise AssertionError(f"{type(command).__name__} does not work on files")

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
        carried = carry(await self._state_at(session.id, mark.at)) if conversation else None
        await self._deps.machines.kill(actor.id)
        before = await actor.keeper.take(session, "restore", "")
        stream = await actor.stream()
        stream.add(before, actor="person")
        await stream.commit()  # a crash on the way back leaves the way forward on record
        done = Restored(0, ())
        if command.files:
            directory = session.spec.directory
            done = await self._deps.checkpoints.restore(directory, ignored(session), mark.root, command.paths)
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

    async def _state_at(self, id: SessionId, at: int) -> Session:
        """The session as it was after one of its events.

        Raises:
            NotFound: it was deleted.
        """
        return await asyncio.to_thread(_folded, self._deps, id, at)


_AT_ONCE = (cmd.EditCall, cmd.CancelCall, cmd.RetryCall, cmd.SetPlan, cmd.RaiseBudget)


def _opened(command: cmd.OpenSession, chain: tuple[ev.ModelRef, ...]) -> ev.SessionOpened:
    objectives.check_bounds(command)
    if len(command.ignore) > _MOST_PATTERNS or any(not pattern.strip() for pattern in command.ignore):
        raise InvalidRequest(f"at most {_MOST_PATTERNS} patterns to leave out, none of them empty")
    directory = folder(command.directory)
    return ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title=command.title.strip()[:_TITLE_CHARS] or Path(directory).name,
        directory=directory,
        tools=command.tools,
        chain=command.chain or chain,
        budget=command.budget,
        limits=command.limits,
        profile=command.profile,
        instructions="",  # composed when it begins
        hosts=objectives.allowed_hosts(command.hosts),
        mode=command.mode,
        ignore=command.ignore,
    )


def _without_memory(carried: ev.Carried) -> ev.Carried:
    """What goes to another folder: what was told of memory was for the place of the first one alone."""
    messages = (
        msgspec.structs.replace(message, told="") if isinstance(message, UserMessage) else message
        for message in carried.messages
    )
    return msgspec.structs.replace(carried, messages=tuple(messages))


def _as_session(spec: ev.Opening) -> ev.SessionOpened:
    """What a fork begins with. An objective's fork is a session too: a person goes on from where it was."""
    if isinstance(spec, ev.SessionOpened):
        return spec
    return ev.SessionOpened(
        workspace=spec.workspace,
        title=spec.title,
        directory=spec.directory,
        tools=spec.tools,
        chain=spec.chain,
        budget=spec.budget,
        limits=spec.limits,
        profile=spec.profile,
        instructions="",  # composed when it begins
        hosts=spec.hosts,
        mode=spec.mode,
        constraints=spec.constraints,
    )


def _empty_folder(directory: str) -> str:
    real = folder(directory)
    if os.listdir(real):
        raise InvalidRequest(f"{directory!r} is not empty; a fork gets a folder of its own, make a new one")
    return real


def _folded(deps: Deps, id: SessionId, at: int) -> Session:
    events = []
    for event in deps.journal.events(session=id):
        if isinstance(event, ev.Erased):
            raise NotFound(f"the session {id!r} was deleted")
        if event.session_seq > at:
            break
        events.append(event)
    session = fold(events)
    if session is None:
        raise NotFound(f"there is no session {id!r}; see `stead session list`")
    return session


def _recorded(deps: Deps) -> InUse:
    """Every tree and content that the record names."""
    roots, contents = set(), set()
    for event in deps.journal.events():
        body = event.body if isinstance(event, ev.Event) else None
        if isinstance(body, ev.CheckpointTaken):
            roots.add(body.root)
        elif isinstance(body, ev.FileChanged):
            contents |= {body.before.content, body.after.content}
    return InUse(frozenset(roots), frozenset(contents))


def _require_attended(session: Session) -> None:
    if not attended(session):
        raise Conflict("that is for sessions that people work in; this is an objective")


def _require_quiet(actor: Actor) -> None:
    if actor.performing:
        raise Conflict("something is under way in it; wait for it, or stop it first")


def _open_call(session: Session, key: str, *, running: bool = False) -> Call:
    call = session.calls.get(CallKey(key))
    if call is None:
        raise NotFound(f"there is no open call {key!r}; see `stead session attach`")
    if call.step == "done" or (call.step == "started" and not running):
        raise Conflict(f"the call {key!r} has {'finished' if call.step == 'done' else 'begun'} already")
    return call


def _edited(call: Call, arguments: str, door: str) -> Facts:
    try:
        msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidRequest(f"the arguments must be a JSON object: {error}") from error
    edited = ev.CallEdited(key=call.key, tool=call.tool, arguments=arguments, door=door)
    if call.step == "asking":
        return (ev.ApprovalLapsed(id=call.approval, key=call.key, why="changed"), edited)
    return (edited,)


def _retried(session: Session, key: str, door: str) -> Facts:
    call = session.calls.get(CallKey(key))
    if call is not None:
        if call.step != "done":
            raise Conflict(f"the call {key!r} has not finished yet")
        return (ev.CallRetried(key=call.key, tool=call.tool, door=door),)
    parts = (part for message in session.messages if isinstance(message, AssistantMessage) for part in message.parts)
    if not any(isinstance(part, ToolCall) and part.key == key for part in parts):
        raise NotFound(f"the conversation has no call {key!r}")
    # Neither tool nor arguments are repeated here: what the person says vouches, and these are the model's words.
    return (ev.MessageReceived(text=f"Make the call {key} again.", door=door, label=PERSON),)


def _check_plan(steps: Sequence[ev.PlanStep]) -> None:
    if len(steps) > _MOST_STEPS or any(not 0 < len(step.title.strip()) <= 200 for step in steps):
        raise InvalidRequest(f"a plan has up to {_MOST_STEPS} steps, each of 1 to 200 characters")


def _edit(session: Session, command: cmd.UndoEdit) -> Edit:
    found = [edit for edit in session.edits if edit.key == command.key and command.path in ("", edit.before.path)]
    if not found:
        raise NotFound(f"the call {command.key!r} changed no such file; see `stead session diff`")
    if len(found) > 1:
        raise InvalidRequest(f"the call {command.key!r} changed {len(found)} files; name one of them")
    if found[0].undone != command.again:
        raise Conflict("it was undone already" if found[0].undone else "it is not undone")
    return found[0]
