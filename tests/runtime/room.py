"""A room to work in: the runtime as doors have it, over the small world of ``fakes.world``; it may crash and come back.

The model says what a script tells it, through the same mapping from the wire as a real one's words; the person speaks
through the runtime's commands. What runs is counted outside, so that it outlives every crash.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checkpoints import Progress, Tree
from stead.domain.errors import Conflict, InvalidRequest, ModelFault
from stead.domain.ids import HOME, CallKey, CommandId, SessionId
from stead.domain.messages import USE_TOOL, ToolCall, Usage
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity, Profile
from stead.domain.ports import Machines, ModelInfo, ModelRequest, Reply
from stead.domain.sessions import Call, Session
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.domain.trials import Landing, Trials
from stead.machines.checkpoints import FolderCheckpoints
from stead.providers.replies import ReplyBuilder
from stead.runtime.commands import Runtime
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook
from stead.runtime.sessions import Actor
from tests.build import info
from tests.fakes.world import DECLARATIONS, KEYS, ScriptedModels, World, settled

DOOR = "cli"
SAID_BY = "here"
"""The provider whose words the model's are."""
BIG = "A line of the file that is read, long enough to be worth trimming. " * 60

Stop = Literal["stop", "length", "tool_call", "content_filter"]


class Said(msgspec.Struct, frozen=True):
    """One reply: texts, and calls as (tool, JSON or what a model takes for it). ``stop`` "" is the fitting one."""

    parts: tuple[str | tuple[str, str], ...]
    stop: Stop | Literal[""] = ""
    thinking: str = ""

    @property
    def ended(self) -> Stop:
        """The stop reason."""
        calls = any(isinstance(part, tuple) for part in self.parts)
        return self.stop or ("tool_call" if calls else "stop")


Turn = Said | ModelFault


def calls(*made: tuple[str, str]) -> Said:
    """A reply of calls alone."""
    return Said(made)


class WireModels(ScriptedModels):
    """Replies as they come off a wire: every call with the same id, as bad models do, so ours must keep them apart.

    Args:
        turns: by request, over all sessions of the room; "Done." after the last.
        window_tokens: of the model.
    """

    def __init__(self, turns: Sequence[Turn], *, window_tokens: int = 100_000) -> None:
        super().__init__(())
        self.turns = list(turns)
        self.window_tokens = window_tokens
        self.left = iter(self.turns)

    def info(self, ref: ev.ModelRef) -> ModelInfo:
        super().info(ref)
        return info(ref, window=self.window_tokens)

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        self.requests.append(request)
        self.asked.set()
        if self.hold is not None:
            await self.hold.wait()
        turn = next(self.left, Said(("Done.",)))
        if isinstance(turn, ModelFault):
            raise turn
        said = ReplyBuilder(lambda _: None)
        if turn.thinking:
            said.thinking("thinking", turn.thinking, signature="signed")
        for at, part in enumerate(turn.parts):
            if isinstance(part, str):
                said.text(at, part)
            else:
                said.call(at, *part)
        size = sum(len(msgspec.json.encode(message)) for message in request.messages) // 4 + 200
        return Reply(
            parts=said.parts(request.number, SAID_BY, ""),
            stop=turn.ended,
            model=request.chain[0],
            usage=Usage(input=size, output=10),
            spend=ev.Spend(tokens=size + 10),
            attempts=(),
            duration_ms=1,
            first_token_ms=1,
        )


class Worker:
    """A tool that is counted, and does not finish while it is held. Takes any JSON object.

    ``ran`` has the key and the canonical arguments of every run.
    """

    def __init__(self, name: str, declaration: Declaration, effects: Counter[str], text: str = "done") -> None:
        schema: dict[str, object] = {"type": "object", "properties": {}, "required": []}
        self.spec = ToolSpec(name, f"{name}.", schema, declaration)
        self._effects = effects
        self._text = text
        self.ran: list[tuple[CallKey, Mapping[str, object]]] = []
        self.hold: asyncio.Event | None = None
        self.meeting: asyncio.Barrier | None = None
        """Where every run waits for others to be at work too."""
        self.running = asyncio.Event()
        self.at_work = 0
        self.most_at_work = 0
        self.landings: list[Landing] = []
        """What becomes of the changes of its next runs."""

    def parse(self, arguments: str) -> Mapping[str, object]:
        try:
            parsed: dict[str, object] = msgspec.json.decode(arguments, type=dict[str, object])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidRequest(f"the arguments are no JSON object: {error}") from error
        return parsed

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        permit.spend(self.spec.name, arguments)
        permit.require_live(context.session)
        self._effects[f"{context.session} {permit.call} {self.spec.name}"] += 1
        self.ran.append((permit.call, arguments))
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        self.running.set()
        try:
            if self.meeting is not None:
                await self.meeting.wait()
            if self.hold is not None:
                await self.hold.wait()
        finally:
            self.at_work -= 1
        text = self._text if arguments.get("path") != "long" else BIG
        landing = self.landings.pop(0) if self.landings else Landing()
        return ToolOutcome("ok", text, size_bytes=len(text), landing=landing)


class PlanTool(Worker):
    """Makes the plan that it is told, with what it would grant."""

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        await super().run(permit, arguments, context)
        made = msgspec.convert({"steps": (), "by": "model", **arguments}, ev.PlanMade, strict=False)
        return ToolOutcome("ok", "The plan is set.", facts=(msgspec.structs.replace(made, by="model"),))

    def parse(self, arguments: str) -> Mapping[str, object]:
        parsed = super().parse(arguments)
        try:
            msgspec.convert({"steps": (), "by": "model", **parsed}, ev.PlanMade, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidRequest(str(error)) from error
        return parsed


def workers(effects: Counter[str]) -> dict[str, Worker]:
    """The tools of a room, by name."""
    found = {
        **DECLARATIONS,
        "page": Declaration(ToolEffect.FETCH, authority_args=("about",), idempotent=True),
        "mail": Declaration(ToolEffect.SEND, authority_args=("to",), content_args=("text",)),
    }
    tools = {name: Worker(name, declared, effects) for name, declared in found.items()}
    notes = Declaration(
        ToolEffect.THINK, output_trust=Integrity.TRUSTED, sensitivity=Confidentiality.PUBLIC, idempotent=True
    )
    return {**tools, "plan": PlanTool("plan", notes, effects), USE_TOOL: Worker(USE_TOOL, notes, effects)}


class HeldCheckpoints(FolderCheckpoints):
    """The real ones, which do not begin while they are held."""

    hold: asyncio.Event | None = None
    waiting = 0

    async def take(self, directory: str, ignore: Sequence[str], progress: Progress) -> Tree:
        if self.hold is not None:
            self.waiting += 1
            try:
                await self.hold.wait()
            finally:
                self.waiting -= 1
        return await super().take(directory, ignore, progress)


class Room:
    """One life of the runtime over a folder; ``crash`` begins the next.

    Args:
        folder: where the home and the project are made.
        models: the model.
        effects: what has run, over all lives.
        machines: real ones; those of the small world otherwise.
        more: tools beside those that count.
        trials: what keeps the changes that wait; those of the small world otherwise.
    """

    def __init__(
        self,
        folder: Path,
        models: WireModels,
        effects: Counter[str] | None = None,
        *,
        machines: Machines | None = None,
        more: Sequence[Tool] = (),
        trials: Trials | None = None,
    ) -> None:
        self.folder = folder
        self.models = models
        self.effects = effects if effects is not None else Counter()
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        home = folder / "home"
        home.mkdir(exist_ok=True)
        self.tools = workers(self.effects)
        tools: list[Tool] = [*self.tools.values(), *more]
        self.world = World(
            home, models, self.effects, tools=tools, machines=machines, kept=HeldCheckpoints, trials=trials
        )
        d = self.world.deps
        self.sessions = Sessions(d)
        self.home = self.world.home
        self.home.load()
        self.world.directives = lambda: self.home.state.directives
        self.world.holder = lambda id: self.home if id == HOME else self.actor(id)
        self.book = SecretBook(
            self.world.journal.vault,
            digest_key=KEYS.digests,
            environment=dict,
            clock=d.clock,
            tools=[tool.spec for tool in tools],
            on_use=lambda fact: None,
        )
        nothing: object = None  # what is done here asks no provider desk
        self.runtime = Runtime(
            d,
            self.sessions,
            self.home,
            book=self.book,
            providers=nothing,  # type: ignore[arg-type]
            questions=self.world.views,
            digest_key=KEYS.digests,
        )
        self._ids = itertools.count(self.world.journal.head())

    @property
    def kept(self) -> HeldCheckpoints:
        """Where folders are kept."""
        assert isinstance(self.world.kept, HeldCheckpoints)
        return self.world.kept

    async def do(self, command: cmd.Command, door: str = DOOR) -> cmd.Answer:
        """Carry out what the person says."""
        return await self.runtime.handle(command, id=CommandId(f"c_{next(self._ids)}_{id(self)}"), door=door)

    async def open(self, **fields: Any) -> SessionId:
        """Sit down to work in the project, and be asked before anything is changed unless said otherwise."""
        return (await self.do(cmd.OpenSession(str(self.project), **{"profile": Profile.ASK, **fields}))).session

    async def say(self, id: SessionId, text: str = "Go on.", *, interrupt: bool = False) -> None:
        """Say something to a session."""
        await self.do(cmd.SendMessage(id, text, interrupt))

    async def tell(self, id: SessionId, text: str = "Go on.") -> Session:
        """Say something, and wait for what comes of it."""
        await self.say(id, text)
        return await self.settled(id)

    async def settled(self, id: SessionId) -> Session:
        """Wait until the session does nothing more by itself; gives its state."""
        await settled(self.actor(id))
        return await self.state(id)

    async def state(self, id: SessionId) -> Session:
        """The session as it is."""
        return await self.actor(id).state()

    def actor(self, id: SessionId) -> Actor:
        """The session's actor."""
        return self.sessions.actor(id)

    def bodies(self, id: SessionId) -> list[ev.Body]:
        """The facts of a session, oldest first."""
        return [event.body for event in self.world.events(id)]

    async def decide(
        self,
        id: SessionId,
        answer: Literal["once", "trust", "session", "project", "deny"] = "once",
        reason: str = "",
        *,
        key: str = "",
    ) -> None:
        """Answer the session's open question, or the one about this call."""
        open_ones = [call for call in await self.calls(id) if call.step == "asking" and key in ("", call.key)]
        if not open_ones:
            raise Conflict("there is no open question")
        asked = open_ones[0]
        await self.do(cmd.Decide(asked.approval, asked.digest, answer, reason, whole=True))

    async def calls(self, id: SessionId) -> list[Call]:
        """The calls of the reply that is being worked off."""
        return list((await self.state(id)).calls.values())

    def hold(self, *names: str) -> asyncio.Event:
        """Let these tools not finish until the event is set."""
        gate = asyncio.Event()
        for name in names:
            self.tools[name].hold = gate
            self.tools[name].running.clear()
        return gate

    async def began(self, name: str) -> None:
        """Wait until a run of the tool is at work."""
        async with asyncio.timeout(10):
            await self.tools[name].running.wait()

    async def crash(self) -> Room:
        """Drop everything but the disk, wherever it was; gives the next life, which goes on by itself."""
        ids = [actor.id for actor in self.sessions.live()]
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self.close()
        again = Room(self.folder, self.models, self.effects)
        again.models.hold = None
        again.world.clock.ms = self.world.clock.ms + 1000
        again.sessions.resume(ids)
        return again

    async def leave(self) -> None:
        """Go in good order."""
        await self.sessions.close()
        self.close()

    def close(self) -> None:
        """Let the files go."""
        self.world.close()


def results(session: Session) -> dict[str, str]:
    """What the model reads of each finished call, by its key."""
    from stead.domain.sessions import results as told

    return {result.key: result.text for result in told(session)}


def made(session: Session) -> list[ToolCall]:
    """Every call that the model has made, as it stands in the conversation."""
    parts = (part for message in session.messages for part in getattr(message, "parts", ()))
    return [part for part in parts if isinstance(part, ToolCall)]


def used(name: str, **arguments: object) -> tuple[str, str]:
    """A call by way of ``use_tool``."""
    return USE_TOOL, json.dumps({"name": name, "arguments": arguments})
