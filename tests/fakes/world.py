"""A small working world for the runtime: a model with a script, a machine without walls, tools that count.

Each is a full implementation of its port, so that the runtime runs as in the product; what it changes is counted
outside of it. The journal beside it is always the real one.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain import events as ev
from stead.domain.channel_wire import Manifest
from stead.domain.channels import ChannelCheck, ChannelCommand, ChannelRow, PairingCode, WantedPairing
from stead.domain.checks import Check
from stead.domain.commands import Answer
from stead.domain.directives import Directives
from stead.domain.errors import Conflict, MachineUnavailable, ModelFault, NotFound
from stead.domain.forgetting import Holder
from stead.domain.ids import CallKey, SessionId
from stead.domain.messages import ReplyPart, Text, ToolCall, Usage
from stead.domain.notifications import PushKey, TargetCheck, TargetCommand, TargetFact, TargetRow, TargetState
from stead.domain.permits import Permit
from stead.domain.ports import Claimed, Isolation, Machines, ModelInfo, ModelRequest, Ran, Reply
from stead.domain.providers import Role
from stead.domain.secrets import Secret
from stead.domain.services import ServiceLog, ServicePreview, ServiceRow
from stead.domain.terminals import Ended, Terminal, TerminalRow
from stead.domain.tools import Declaration, Tool, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.domain.trials import Barred, Hold, Landing, Trials, unbarred
from stead.guardian.reach import Reach
from stead.machines.checkpoints import FolderCheckpoints
from stead.machines.held_changes import HeldChanges
from stead.machines.looking import HostFolders
from stead.machines.project import ProjectFolder
from stead.runtime.agents import Subagents
from stead.runtime.bus import Bus
from stead.runtime.deps import Deps
from stead.runtime.gate import Gate
from stead.runtime.home import HomeStream
from stead.runtime.pinned_blobs import PinnedBlobs
from stead.runtime.session_commands import forget_kept
from stead.runtime.sessions import Actor
from stead.runtime.specialists import Specialists
from stead.runtime.trust import Trust
from stead.storage.contents import ContentStore
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keys import derive_keys
from stead.storage.views import Views
from tests.build import MODEL, START_MS, info
from tests.fakes.attachments import given_attachments
from tests.fakes.remembering import remembering

Turn = Sequence[str | tuple[str, str]] | ModelFault
"""What the model says to one request: texts and (tool, JSON) calls, or a fault."""


class Ticking:
    """A clock that goes on by a millisecond whenever it is looked at, and as far as one says."""

    def __init__(self) -> None:
        self.ms = START_MS

    def now_ms(self) -> int:
        self.ms += 1
        return self.ms


class ScriptedModels:
    """Answers request N with turn N of its script, and ends with "Done." after the last."""

    def __init__(self, script: Sequence[Turn], *, refs: Sequence[ev.ModelRef] = (MODEL,)) -> None:
        self.script = list(script)
        self.refs = tuple(refs)
        self.requests: list[ModelRequest] = []
        self.hold: asyncio.Event | None = None
        self.asked = asyncio.Event()

    def info(self, ref: ev.ModelRef) -> ModelInfo:
        if ref not in self.refs:
            raise NotFound(f"no model {ref.model!r} is configured")
        return info(ref)

    def role(self, role: Role) -> tuple[ev.ModelRef, ...]:
        return ()

    async def prepare(self, chain: Sequence[ev.ModelRef]) -> None:
        """Its windows are known."""

    def default_chain(self) -> tuple[ev.ModelRef, ...]:
        return self.refs

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        self.requests.append(request)
        self.asked.set()
        if self.hold is not None:
            await self.hold.wait()
        at = request.number - 1
        turn = self.script[at] if at < len(self.script) else ("Done.",)
        if isinstance(turn, ModelFault):
            raise turn
        parts: list[ReplyPart] = []
        for part in turn:
            if isinstance(part, str):
                on_text(part)
                parts.append(Text(part))
            else:
                parts.append(ToolCall(CallKey(f"call_{request.number}_{len(parts)}"), part[0], part[1]))
        calls = any(isinstance(part, ToolCall) for part in parts)
        return Reply(
            parts=tuple(parts),
            stop="tool_call" if calls else "stop",
            model=request.chain[0],
            usage=Usage(input=100, output=10),
            spend=ev.Spend(tokens=110),
            attempts=(),
            duration_ms=1,
            first_token_ms=1,
        )


class OpenMachines:
    """Machines without walls: knows bindings and fingerprints, and remembers whom it was told to kill."""

    def __init__(self) -> None:
        self.bound: dict[SessionId, str] = {}
        self.files: dict[str, str] = {}
        self.killed: list[SessionId] = []

    def isolation(self, *, again: bool = False) -> Isolation:
        return Isolation(available=True, driver="simulated", statement="No walls: a simulation.", missing=())

    def bind(
        self,
        session: SessionId,
        directory: str,
        *,
        writable: bool,
        hold: Hold = "obeyed",
        hosts: Sequence[str] = (),
        barred: Barred = unbarred,
    ) -> None:
        self.bound[session] = directory

    async def fingerprint(self, session: SessionId, paths: Sequence[str]) -> Mapping[str, str]:
        return {path: self.files.get(path, "absent") for path in paths}

    async def kill(self, session: SessionId, *, resting: bool = False) -> bool:
        self.killed.append(session)
        return True

    async def close(self) -> None:
        self.bound.clear()


class NoNotifications:
    """Nobody is told anything elsewhere."""

    async def rows(self) -> tuple[TargetRow, ...]:
        return ()

    async def test(self, name: str) -> TargetCheck:
        raise AssertionError("there is no target here")

    async def push_key(self) -> PushKey:
        raise AssertionError("there is no target here")

    async def carry_out(self, command: TargetCommand, claim: Claimed, door: str) -> Answer:
        raise AssertionError("there is no target here")

    async def tried(self, command: TargetCommand, known: Mapping[str, TargetState]) -> TargetFact:
        raise AssertionError("there is no target here")


class NoChannels:
    """Nobody reaches the home from a chat."""

    turn = asyncio.Event()

    async def rows(self) -> tuple[ChannelRow, ...]:
        return ()

    def kinds(self) -> tuple[Manifest, ...]:
        return ()

    async def test(self, name: str) -> ChannelCheck:
        raise AssertionError("there is no channel here")

    async def pair(self, name: str, wanted: WantedPairing) -> PairingCode:
        raise AssertionError("there is no channel here")

    async def carry_out(self, command: ChannelCommand, claim: Claimed, door: str) -> Answer:
        raise AssertionError("there is no channel here")


class NoTerminals:
    """A host on which no terminal can be made."""

    async def open(self, session: SessionId, id: str, rows: int, columns: int, line: str = "") -> None:
        raise MachineUnavailable("a simulation has no terminals")

    async def close(self, session: SessionId, id: str) -> Ended:
        raise NotFound(f"there is no terminal {id!r}")

    async def stop(self, session: str) -> bool:
        return False

    def rows(self, session: SessionId) -> tuple[TerminalRow, ...]:
        return ()

    def at(self, session: SessionId, id: str) -> Terminal:
        raise NotFound(f"there is no terminal {id!r}")


class NoSecretsGiven:
    """No secret is handed on to any session."""

    def given(self, names: Sequence[str], session: SessionId) -> tuple[Secret, ...]:
        """None."""
        return ()


class NoProofs:
    """A host on which nothing can be looked at."""

    async def attempt(self, permit: Permit, command: str, *, timeout_s: float, on_output: Callable[[str], None]) -> Ran:
        """None."""
        raise MachineUnavailable("there is no machine")

    async def examine(self, permit: Permit, check: Check) -> tuple[bool, str, str]:
        """None."""
        raise MachineUnavailable("there is no machine")


class NoServices:
    """A host on which no service can be started."""

    async def start(self, permit: Permit, name: str, command: str) -> tuple[ServiceLog, Landing]:
        raise MachineUnavailable("a simulation has no services")

    async def rows(self, session: SessionId) -> tuple[ServiceRow, ...]:
        return ()

    async def log(self, session: SessionId, name: str) -> ServiceLog:
        raise NotFound(f"there is no service {name!r}")

    async def stop(self, session: SessionId, name: str, *, record: bool = False) -> tuple[ServiceLog, Landing]:
        raise NotFound(f"there is no service {name!r}")

    async def preview(self, session: SessionId, name: str, port: int) -> ServicePreview:
        raise NotFound(f"there is no service {name!r}")


class CountingTool:
    """A tool whose only effect is to be counted, by the text of its arguments. Takes any JSON object."""

    def __init__(self, name: str, declaration: Declaration, effects: Counter[str]) -> None:
        self.spec = ToolSpec(name, f"{name}.", {"type": "object", "properties": {}, "required": []}, declaration)
        self._effects = effects
        self.hold: asyncio.Event | None = None
        self.running = asyncio.Event()

    def parse(self, arguments: str) -> Mapping[str, object]:
        parsed: dict[str, object] = msgspec.json.decode(arguments, type=dict[str, object])
        return parsed

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        permit.spend(self.spec.name, arguments)
        permit.require_live(context.session)
        self._effects[f"{context.session} {permit.call} {self.spec.name}"] += 1
        self.running.set()
        if self.hold is not None:
            await self.hold.wait()
        context.progress("working")
        return ToolOutcome("ok", "done", size_bytes=4)


DECLARATIONS = {
    "read": Declaration(ToolEffect.READ, path_args=("path",), idempotent=True),
    "write": Declaration(ToolEffect.WRITE, path_args=("path",), authority_args=("path",)),
    "shell": Declaration(ToolEffect.EXECUTE, authority_args=("command",)),
    "mail": Declaration(ToolEffect.SEND, authority_args=("to",)),
}

KEYS = derive_keys(bytes(range(32)))


def _store(folder: Path) -> ContentStore:
    """The folder's store; another one while another world has it open, for tests with two worlds on one journal."""
    try:
        return ContentStore(folder / "contents", KEYS.checkpoints)
    except Conflict:
        return ContentStore(folder / "contents of the second", KEYS.checkpoints)


class World:
    """Everything that an actor works with. ``effects`` outlives crashes; the journal's file does too.

    ``tools`` take the place of those that only count, and ``machines`` of those without walls; ``kept`` keeps folders,
    ``trials`` what waits for the person.
    """

    def __init__(
        self,
        folder: Path,
        models: ScriptedModels,
        effects: Counter[str] | None = None,
        *,
        tools: Sequence[Tool] = (),
        machines: Machines | None = None,
        kept: type[FolderCheckpoints] = FolderCheckpoints,
        trials: Trials | None = None,
    ) -> None:
        self.folder = folder
        self.models = models
        self.effects = effects if effects is not None else Counter()
        self.machines = OpenMachines()
        self.aside = HeldChanges(Home(folder), self.machines.kill)
        self.tools = {name: CountingTool(name, declared, self.effects) for name, declared in DECLARATIONS.items()}
        self.clock = Ticking()
        self.bus = Bus()
        self.journal: JournalFile = open_journal(folder / "journal.db", KEYS)
        numbers = itertools.count(self.journal.head() + 1)
        self.closed = False
        self.directives: Callable[[], Directives] = Directives
        """What the person tells models always; a room puts its home's here."""
        self.home = HomeStream(journal=self.journal, bus=self.bus, clock=self.clock)
        """Facts of the home; a room puts its own here."""
        self.new_id: Callable[[str], str] = lambda prefix: f"{prefix}_{next(numbers):016x}"
        self.views = Views(folder / "views.db", KEYS, self.journal)
        self.holder: Callable[[SessionId], Holder] = self.actor
        self.books, memory = remembering(
            folder,
            KEYS,
            self.journal,
            models,
            self.bus,
            self.clock,
            self.new_id,
            self.views,
            lambda id: self.holder(id),
        )
        self.book, self.sessions = NoSecretsGiven(), self
        pinned = PinnedBlobs()
        store = _store(folder)
        self.kept = kept(store, on_kept=pinned.pin)
        self.attachments = given_attachments(store, pinned, self.clock, lambda: forget_kept(self.deps))
        self.deps: Deps = Deps(
            journal=self.journal,
            snapshots=self.journal.snapshots,
            models=models,
            machines=machines or self.machines,
            terminals=NoTerminals(),
            services=NoServices(),
            proofs=NoProofs(),
            trials=trials or self.aside,
            checkpoints=self.kept,
            versions=self.kept,
            pinned=pinned,
            project=ProjectFolder(),
            folders=HostFolders(folder),
            history=self.views,
            gate=Gate(
                tools or list(self.tools.values()),
                machines or self.machines,
                reach=Reach(),
                digest_key=KEYS.digests,
                random_bytes=lambda size: bytes(size),
            ),
            bus=self.bus,
            clock=self.clock,
            directives=lambda: self.directives(),
            new_id=self.new_id,
            attachments=self.attachments,
            memory=memory,
            agents=Subagents(lambda: self, Specialists(folder / "specialists")),
            trust=Trust(lambda: self.home, self.journal.track_records),
            notifications=NoNotifications(),
            channels=NoChannels(),
            approval_ttl_s=3600,
            backoff_ms=0,
        )

    def actor(self, id: SessionId) -> Actor:
        """A fresh actor, as after a start."""
        return Actor(id, self.deps)

    async def halt(self, *actors: Actor) -> list[Actor]:
        """Cut these off; no other actor is known here."""
        await asyncio.gather(*(actor.halt() for actor in actors))
        return list(actors)

    def events(self, session: SessionId) -> list[ev.Event]:
        """What the journal has of a session."""
        return [event for event in self.journal.events(session=session) if isinstance(event, ev.Event)]

    def close(self) -> None:
        """Let the journal go."""
        if self.closed:
            return
        self.closed = True
        self.kept.close()
        self.books.close()
        self.views.close()
        self.journal.close()


async def settled(actor: Actor) -> None:
    """Wait until the actor has nothing more to do by itself."""
    async with asyncio.timeout(20):
        while actor.busy:
            driver = actor._driver
            assert driver is not None
            await asyncio.wait([driver])
