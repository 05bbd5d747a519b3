"""Subagents: how one is opened, how its end comes back to its parent, and how a whole branch is reached at once.

Layer: runtime. Locks are taken from parent to child only: a subagent that has ended wakes its parent and waits for
nothing, and the parent looks for itself. The first facts of a subagent are written with the parent's in one
transaction, so that no crash starts one twice or leaves one without a parent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from stead.brain import agent_report
from stead.brain.directives import instructions
from stead.brain.rule_sentences.grammar import constraint_rules
from stead.domain import events as ev
from stead.domain.agents import MAX_DEPTH, SPAWN, Order, Parent
from stead.domain.checks import CheckItem
from stead.domain.errors import CallerError, NotFound, SteadError
from stead.domain.ids import CallKey, SessionId
from stead.domain.policies import GrantScope, Integrity, Profile
from stead.domain.secrets import Secret
from stead.domain.sessions import Agent, Session, child_id, open_agents, taint_of
from stead.domain.specialists import Specialist, choose, filled
from stead.guardian.narrowing import Caps, Narrowed, narrowed
from stead.runtime.deps import Deps, Opening
from stead.runtime.pricing import unpriced
from stead.runtime.sessions import Actor
from stead.runtime.specialists import Specialists
from stead.runtime.steps import ending
from stead.screen.inbound import screen

_TITLE_CHARS = 80


class Giver(Protocol):
    """Gives a session what it may know of secrets; see ``SecretBook.given``."""

    def given(self, names: tuple[str, ...], session: SessionId) -> tuple[Secret, ...]:
        """Those of these names."""


class Actors(Protocol):
    """Finds actors; see ``Sessions``."""

    def actor(self, id: SessionId) -> Actor:
        """The session's."""

    async def halt(self, *actors: Actor) -> list[Actor]:
        """Cut off these, and all below them."""


class Parts(Protocol):
    """What is made after the subagents are, and is there before the first one is started."""

    @property
    def deps(self) -> Deps:
        """What every session works with."""

    @property
    def sessions(self) -> Actors:
        """Their actors."""

    @property
    def book(self) -> Giver:
        """The secrets."""


class Subagents:
    """Implements ``deps.SubagentService``.

    Args:
        parts: of the daemon, asked for when needed.
        specialists: those there are.
    """

    def __init__(self, parts: Callable[[], Parts], specialists: Specialists) -> None:
        self._parts = parts
        self._specialists = specialists

    async def opening(self, session: Session, key: CallKey, order: Order) -> Opening | str:
        """See ``deps.SubagentService``."""
        kind = choose(order.role, order.specialist, order.tools)
        try:
            specialist = await asyncio.to_thread(self._specialists.specialist, kind)
            caps = Caps(specialist.tools, specialist.max_iterations, specialist.tool_budget, specialist.timeout_secs)
            given = narrowed(session, order, caps, _waiting(session) + 1)
            if isinstance(given, str):
                return f"Nothing was started: {given}."
            return await self._opening(session, key, order, specialist, given)
        except CallerError as error:
            return f"Nothing was started: {error}."

    async def _opening(
        self, session: Session, key: CallKey, order: Order, specialist: Specialist, given: Narrowed
    ) -> Opening:
        deps, spec = self._parts().deps, session.spec
        known = session.agents.get(key)
        id = child_id(session.id, key, known.times + 1 if known else 1)
        parent = Parent(
            session=session.id,
            key=key,
            depth=spec.parent.depth + 1 if spec.parent else 1,
            root=spec.parent.root if spec.parent else session.id,
            specialist=specialist.kind,
            taint=taint_of(session),
        )
        chain = spec.chain
        if specialist.model:
            provider, _, model = specialist.model.partition("/")
            chain = (ev.ModelRef(provider, model),)
            await deps.models.prepare(chain)
        values = _values(order, parent, given, spec, await asyncio.to_thread(self._mission, session, parent.root))
        title = f"{specialist.kind}: {order.task.strip().splitlines()[0]}"[:_TITLE_CHARS]
        opened = msgspec.structs.replace(
            spec,
            title=title,
            tools=given.tools,
            chain=chain,
            budget=ev.Budget(given.allotment.tokens, given.allotment.usd_micros),
            limits=given.limits,
            profile=given.profile,
            instructions=instructions(deps.directives(), spec.directory, interactive=False, channel=spec.channel),
            contract=ev.Contract(filled(specialist, values)),
            rules=constraint_rules(spec.constraints) if spec.rules is None else spec.rules,
            hosts=given.hosts,
            secrets=self._parts().book.given(given.secrets, id),
            checks=(),
            second_opinion=False,
            unpriced=await asyncio.to_thread(unpriced, chain, deps.models),
            attachments=(),
            parent=parent,
        )
        spawned = ev.AgentSpawned(
            key=key,
            session=id,
            title=title,
            specialist=specialist.kind,
            source=specialist.source,
            depth=parent.depth,
            allotment=given.allotment,
            dropped=given.dropped,
        )
        return Opening(spawned, opened, (*_checks(order), *_grants(session, deps.clock.now_ms())))

    def _mission(self, session: Session, root: SessionId) -> str:
        """What the person wants of the session above all others; its record is read without its lock."""
        if root == session.id:
            return session.spec.contract.goal if session.spec.contract else next(reversed(session.words), "")
        said = ""
        for event in self._parts().deps.journal.events(session=root):
            body = event.body if isinstance(event, ev.Event) else None
            match body:
                case ev.SessionOpened(contract=ev.Contract(goal=goal)):
                    return goal
                case ev.MessageReceived(text=text, label=label) if label.integrity is Integrity.PERSON:
                    said = text
                case _:
                    continue
        return said

    def _actor(self, id: SessionId) -> Actor:
        return self._parts().sessions.actor(id)

    def wake(self, id: SessionId) -> None:
        """See ``deps.SubagentService``."""
        self._actor(id).wake()

    async def settled(self, session: Session) -> tuple[ev.Body, ...]:
        """See ``deps.SubagentService``."""
        facts: list[ev.Body] = []
        waits = session.phase == "active" and not session.resting
        for agent in open_agents(session):
            spawned, child = agent.spawned, await self._state(agent)
            if child is not None and child.end is None:
                if waits and child.phase == "paused" and child.paused is not None:
                    why = f"its subagent {child.id} is paused: {child.paused.why}"
                    facts.append(msgspec.structs.replace(child.paused, why=why))
                    waits = False
                continue
            if child is not None and open_agents(child):
                self.wake(child.id)  # it has to hear first how its own ended
                continue
            end = agent_report.ended(spawned, child) if child else agent_report.lost(spawned, session)
            facts.append(end)
            call = session.calls.get(spawned.key)
            if call is not None and call.step == "started":
                report = agent_report.report(call.tool, spawned, end, child)
                seen = screen(report.text)
                facts.append(msgspec.structs.replace(report, text=seen.text, warnings=seen.warnings))
        return tuple(facts)

    async def _state(self, agent: Agent) -> Session | None:
        try:
            return await self._actor(agent.spawned.session).state()
        except NotFound:
            return None

    async def below(self, session: Session) -> tuple[SessionId, ...]:
        """See ``deps.SubagentService``."""
        found: list[SessionId] = []
        for agent in open_agents(session):
            if state := await self._state(agent):
                found += (*await self.below(state), state.id)
        return tuple(found)

    async def cancel(self, session: Session, key: CallKey | None = None) -> None:
        """See ``deps.SubagentService``."""
        only = {key: session.agents[key]} if key is not None else session.agents
        part = msgspec.structs.replace(session, agents=only)
        halted = await self._parts().sessions.halt(*(self._actor(agent.spawned.session) for agent in open_agents(part)))
        try:
            branch = [self._actor(id) for id in await self.below(part)]
            halted += await self._parts().sessions.halt(*(actor for actor in branch if actor not in halted))
            for actor in branch:
                await self._end(actor)
        finally:
            for actor in halted:
                actor.release()

    async def _end(self, actor: Actor) -> None:
        """End a subagent as cancelled, if it has not ended by itself."""
        async with actor.lock:
            stream = await actor.stream()
            if stream.session.end is None:
                stream.add(*await self.settled(stream.session))
                stream.add(*ending(stream.session, "cancelled", "cancelled", "Cancelled: no longer wanted."))
                try:
                    await stream.commit()
                except SteadError:
                    actor.forget()
                    raise
        actor.wake()


def _waiting(session: Session) -> int:
    """How many calls of the reply are still to start a subagent, this one included."""
    return sum(
        call.tool == SPAWN and call.step in ("new", "approved", "started") and call.key not in session.agents
        for call in session.calls.values()
    )


def _values(order: Order, parent: Parent, given: Narrowed, spec: ev.SessionOpened, mission: str) -> dict[str, str]:
    """What stands in the places of a specialist's text."""
    return {
        "mission": mission,
        "task": order.task.strip(),
        "depth": str(parent.depth),
        "max_depth": str(MAX_DEPTH),
        "max_iterations": str(given.allotment.iterations),
        "goal_id": parent.root,
        "working_dir": spec.directory,
        "is_scheduled": "true" if spec.scheduled else "false",
        "parent_session_id": parent.session,
        "execution_mode": "readonly" if given.profile is Profile.READONLY else spec.mode,
    }


def _checks(order: Order) -> tuple[ev.ChecksSet, ...]:
    """How the model that starts it would have its work checked: they can send it back, and verify nothing."""
    items = tuple(CheckItem(f"c{at}", check, "model", accepted=False) for at, check in enumerate(order.checks, 1))
    return (ev.ChecksSet(items, "model"),) if items else ()


def _grants(session: Session, now_ms: int) -> tuple[ev.GrantMade, ...]:
    """What the parent may do unasked its subagent may, but for what is bound to the parent itself."""
    return tuple(
        ev.GrantMade(
            tool=grant.tool,
            shape=grant.shape,
            scope=GrantScope.SESSION,
            directory="",
            expires_at_ms=grant.expires_at_ms,
            door="parent",
            sources=grant.sources,
        )
        for grant in session.grants
        if grant.expires_at_ms > now_ms and not grant.bound
    )
