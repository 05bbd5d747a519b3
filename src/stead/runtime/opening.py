"""Opening sessions: from a person's request, or as the fork of another one, to the first facts.

Layer: runtime. Everything that can be refused is refused here, before anything is written. No tool and no model reaches
this.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stead.brain.directives import instructions
from stead.brain.rule_sentences.grammar import constraint_rules
from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checks import CheckItem, all_checked
from stead.domain.conversation import carry
from stead.domain.errors import Conflict, InvalidRequest
from stead.domain.hosts import parse_host
from stead.domain.ids import DEFAULT_WORKSPACE, SessionId
from stead.domain.messages import UserMessage
from stead.domain.objectives import require_budget, require_limits
from stead.domain.policies import Confidentiality, GrantScope, Integrity, Label, Profile
from stead.domain.ports import Claimed
from stead.domain.registries import spelled_out
from stead.domain.schedules import Scheduled
from stead.domain.sessions import Grant, Session
from stead.runtime import approvals
from stead.runtime.answers import answer, of
from stead.runtime.deps import Deps
from stead.runtime.folder import folder
from stead.runtime.past import state_at
from stead.runtime.pricing import unpriced
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook
from stead.runtime.session_words import check_text, handed_over
from stead.runtime.sessions import Actor
from stead.runtime.stream import Stream

PROJECT = Label(Integrity.UNTRUSTED, Confidentiality.PRIVATE)
TITLE_CHARS = 80
_MOST = 100
"""Constraints, patterns to leave out, or hosts of one session."""


@dataclass(eq=False, repr=False)
class Opener:
    """Opens and forks sessions.

    Args:
        deps: what every session works with.
        sessions: where actors are found.
        book: names secrets.
        grants: what folders were granted, as it is now.
        copied: records that a folder's files go to another one.
        scheduled: what a door is, if it is a schedule.
        channel: what a door is called as a channel in which others read along; "" where nobody does.
    """

    _deps: Deps
    _sessions: Sessions
    _book: SecretBook
    _grants: Callable[[], Sequence[tuple[str, Grant]]]
    _copied: Callable[[str, str], Awaitable[None]]
    _scheduled: Callable[[str], Scheduled | None]
    _channel: Callable[[str], str]

    async def open(self, command: cmd.OpenSession, claim: Claimed, door: str) -> cmd.Answer:
        """Open a session; its first facts are durable when this returns.

        Raises:
            InvalidRequest: the goal, the folder or a figure cannot be; the text says which and what it may be.
            NotFound: there is no such tool, secret or provider.
            StorageFault: nothing was written.
        """
        d = self._deps
        fact = await self.fact(command)
        session = SessionId(d.new_id("s"))
        shown = d.attachments.named(command.attachments)
        if shown and fact.interactive:
            raise InvalidRequest("a session is opened without a message; attach files to its first message")
        if command.context and fact.interactive:
            raise InvalidRequest("a session is opened without a message; hand texts over with its first message")
        fact = msgspec.structs.replace(
            fact,
            secrets=self._book.given(command.secrets, session),
            attachments=shown,
            scheduled=self._scheduled(door),
            channel=self._channel(door),
            door=door,
        )
        grants = _granted(command.allow, fact.directory, self._grants(), d.clock.now_ms(), door)
        learned = (*handed_over(command.context, door), *await d.memory.recollection.opening(fact, command.goal or ""))
        if fact.interactive and (rules := await d.project.rules(fact.directory)):
            learned = (*learned, ev.ProjectRulesRead(rules, PROJECT))
        if not fact.interactive and not fact.checks and (offered := await d.project.proposals(fact.directory)):
            items = [CheckItem(f"c{at}", check, "project", accepted=False) for at, check in enumerate(offered, 1)]
            learned = (*learned, ev.ChecksSet(tuple(items), "project"))
            named = ", ".join(f"`{check.subject}`" for check in offered)
            said = f"this folder's files propose as checks: {named}; `stead checks accept {session}` makes them yours"
            claim = of(claim, session, said)
        return await self._begin(session, fact, grants, learned, claim)

    async def fact(self, command: cmd.OpenSession) -> ev.SessionOpened:
        """The fact that would open a session, as ``opened`` has it; nothing happens.

        Raises:
            InvalidRequest, NotFound: as ``open``.
        """
        d = self._deps
        d.gate.specs((*command.tools, *command.allow))
        chain = d.models.default_chain()
        await d.models.prepare(command.chain or chain)
        self._book.given(command.secrets, SessionId(""))
        return await asyncio.to_thread(self._opened, command, chain)

    def _opened(self, command: cmd.OpenSession, chain: tuple[ev.ModelRef, ...]) -> ev.SessionOpened:
        fact = opened(command, chain)
        return msgspec.structs.replace(fact, unpriced=unpriced(fact.chain, self._deps.models))

    async def fork(self, command: cmd.ForkSession, claim: Claimed, door: str) -> cmd.Answer:
        """Open an interactive session that goes on from a moment of another one, objective or not.

        Raises:
            InvalidRequest: there is no such moment, or the folder cannot be used.
            Conflict: there are no files to copy.
            NotFound: there is no such session.
            StorageFault: nothing was written.
        """
        actor = self._sessions.actor(command.session)
        async with actor.lock:
            session = (await actor.stream()).session
            at = command.at or session.seq
            if not 1 <= at <= session.seq:
                raise InvalidRequest(f"the session has events 1 to {session.seq}; {at} is none of them")
            then = await state_at(self._deps.journal, session.id, at)
            carried, text = carry(then), ""
            title = command.title.strip()[:TITLE_CHARS] or f"{then.spec.title} (fork)"[:TITLE_CHARS]
            # It is given no secrets: they were for the first one.
            fact = msgspec.structs.replace(
                then.spec,
                title=title,
                contract=None,
                secrets=(),
                attachments=(),
                parent=None,
                scheduled=None,
                door=door,
            )
            if command.directory:
                target = await asyncio.to_thread(_empty_folder, command.directory)
                root, text = await _files_at(actor, session, at)
                await self._copied(fact.directory, target)
                fact = msgspec.structs.replace(fact, directory=target)
                carried = _without_memory(carried)
                await self._deps.checkpoints.restore(target, fact.ignore, root)
        facts = (ev.ConversationSet(source=session.id, at=at, carried=carried),)
        return await self._begin(SessionId(self._deps.new_id("s")), fact, facts, (), of(claim, session.id, text))

    async def _begin(
        self,
        session: SessionId,
        fact: ev.SessionOpened,
        said: Sequence[ev.Body],
        learned: Sequence[ev.Body],
        claim: Claimed,
    ) -> cmd.Answer:
        """Record the opening, what the person said with it, and what Stead learned for it; then let it run."""
        d = self._deps
        prompt = instructions(d.directives(), fact.directory, interactive=fact.interactive, channel=fact.channel)
        fact = msgspec.structs.replace(fact, instructions=prompt)
        self._sessions.bind(session, fact)
        stream = Stream.open(session, fact, claim.id, d)
        stream.add(*said, actor="person", cause=claim.id)
        stream.add(*learned, cause=claim.id)
        claim = of(claim, session)
        events = await stream.commit(claim)
        self._sessions.adopt(stream).wake()
        return answer(claim, events)


def opened(command: cmd.OpenSession, chain: tuple[ev.ModelRef, ...]) -> ev.SessionOpened:
    """The fact that opens a session, but for its secrets and its instructions.

    Args:
        command: the request.
        chain: the models to use when the request names none; never empty.

    Raises:
        InvalidRequest: the goal, the folder or a figure cannot be; the text says which and what it may be.
    """
    if command.goal is not None:
        check_text(command.goal, "goal")
    if command.checks and command.goal is None:
        raise InvalidRequest("acceptance checks belong to a goal; an interactive session has none")
    usual = cmd.SESSION_BUDGET if command.goal is None else cmd.DEFAULT_BUDGET
    budget = command.budget or usual
    require_budget(budget)
    _check_bounds(command)
    directory = folder(command.directory)
    constraints = tuple(text.strip() for text in command.constraints if text.strip())
    owed = None if command.goal is None else ev.Contract(command.goal.strip())
    name = owed.goal.splitlines()[0] if owed else Path(directory).name
    return ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title=command.title.strip()[:TITLE_CHARS] or name[:TITLE_CHARS],
        directory=directory,
        tools=command.tools,
        chain=command.chain or chain,
        budget=budget,
        limits=command.limits,
        profile=command.profile,
        instructions="",  # composed when it begins
        contract=owed,
        constraints=constraints,
        rules=constraint_rules(constraints),
        hosts=_allowed_hosts(command.hosts),
        checks=all_checked(command.checks),
        second_opinion=command.second_opinion,
        mode=command.mode,
        ignore=command.ignore,
    )


def _check_bounds(command: cmd.OpenSession) -> None:
    if len(command.constraints) > _MOST or sum(map(len, command.constraints)) >= cmd.GOAL_LIMIT_BYTES:
        raise InvalidRequest(f"at most {_MOST} constraints, under 1 MB together")
    if len(command.ignore) > _MOST or any(not pattern.strip() for pattern in command.ignore):
        raise InvalidRequest(f"at most {_MOST} patterns to leave out, none of them empty")
    require_limits(command.limits)
    if command.mode == "trial" and command.profile is Profile.READONLY:
        raise InvalidRequest("the readonly profile changes nothing, so there is nothing to try; leave one of them out")


def _allowed_hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    """Patterns of hosts in their one spelling."""
    if len(hosts) > _MOST:
        raise InvalidRequest(f"a session may name {_MOST} hosts, not {len(hosts)}; *.name stands for all below it")
    return tuple(dict.fromkeys(str(parse_host(host)) for host in spelled_out(hosts)))


def _granted(
    allow: Sequence[str], directory: str, project: Sequence[tuple[str, Grant]], now_ms: int, door: str
) -> tuple[ev.GrantMade, ...]:
    """What the session may do without asking: what the person allows with it, and what its folder was granted."""
    asked = [Grant(tool, approvals.ANY, now_ms + approvals.GRANT_MS) for tool in allow]
    held = [grant for folder, grant in project if folder == directory and grant.expires_at_ms > now_ms]
    return tuple(
        ev.GrantMade(
            tool=grant.tool,
            shape=grant.shape,
            scope=GrantScope.SESSION,
            directory="",
            expires_at_ms=grant.expires_at_ms,
            door=door,
            sources=grant.sources,
            bound=grant.bound,
        )
        for grant in dict.fromkeys([*asked, *held])
    )


def _empty_folder(directory: str) -> str:
    real = folder(directory)
    if os.listdir(real):
        raise InvalidRequest(f"{directory!r} is not empty; a fork gets a folder of its own, make a new one")
    return real


async def _files_at(actor: Actor, session: Session, at: int) -> tuple[str, str]:
    """The tree that is nearest to a moment, and which one that is."""
    if at == session.seq:
        taken = await actor.keeper.take(session, "fork", "")
        return taken.root, "with the files as they are now"
    before = [mark for mark in session.marks if mark.seq <= at]
    mark = before[-1] if before else next(iter(session.marks), None)
    if mark is None:
        raise Conflict("there is no checkpoint of the files; leave the folder out to fork the conversation alone")
    return mark.root, f"with the files of checkpoint {mark.id}, from before turn {mark.turn}"


def _without_memory(carried: ev.Carried) -> ev.Carried:
    """What goes to another folder: what was said of memory was for the place of the first one alone."""
    messages = (
        msgspec.structs.replace(message, told="") if isinstance(message, UserMessage) else message
        for message in carried.messages
    )
    return msgspec.structs.replace(carried, messages=tuple(messages))
