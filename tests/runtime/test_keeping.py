"""What a session changes can be had back: checkpoints before turns, edits one by one, conversations, forks."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import msgspec
import pytest

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.checkpoints import Checkpoints, FileChange, InUse, Progress, Restored, Tree, Version
from stead.domain.commands import SendMessage
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.domain.ids import HOME, CallKey, CommandId, SessionId
from stead.domain.permits import Permit
from stead.domain.policies import GrantScope
from stead.domain.sessions import status
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome, ToolSpec
from stead.machines.checkpoints import FolderCheckpoints
from stead.runtime.answers import claim_of
from stead.runtime.opening import Opener
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook
from stead.runtime.session_commands import SessionCommands, forget_kept
from tests.build import MODEL, words
from tests.fakes.world import ScriptedModels, Turn, World, settled

_IDS = itertools.count()
Command = cmd.OpenSession | cmd.ForkSession | cmd.SessionWord | cmd.FileCommand
NONE = SessionId("")


class PenTool:
    """``write`` and ``shell`` as plain work on the folder: both append a line to the file that they name."""

    def __init__(self, name: str, declaration: Declaration, folder: Path) -> None:
        self.spec = ToolSpec(name, f"{name}.", {"type": "object", "properties": {}, "required": []}, declaration)
        self._folder = folder
        self.ran = asyncio.Event()

    def parse(self, arguments: str) -> Mapping[str, object]:
        parsed: dict[str, object] = msgspec.json.decode(arguments, type=dict[str, object])
        return parsed

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        permit.spend(self.spec.name, arguments)
        path = self._folder / str(arguments.get("path") or arguments.get("command"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{self.spec.name}\n")
        self.ran.set()
        return ToolOutcome("ok", f"appended to {path.name}")


class SlowCheckpoints:
    """The real ones, but a ``take`` begins only when it is let, and may be made to fail."""

    def __init__(self, real: FolderCheckpoints) -> None:
        self._real = real
        self.let = asyncio.Event()
        self.asked = asyncio.Event()
        self.fault: Exception | None = None

    async def take(self, directory: str, ignore: Sequence[str], progress: Progress) -> Tree:
        self.asked.set()
        await self.let.wait()
        if self.fault:
            raise self.fault
        return await self._real.take(directory, ignore, progress)

    async def differences(
        self, directory: str, ignore: Sequence[str], old: str, new: str = ""
    ) -> tuple[FileChange, ...]:
        return await self._real.differences(directory, ignore, old, new)

    async def restore(
        self, directory: str, ignore: Sequence[str], root: str, paths: Sequence[str] = (), part: str = ""
    ) -> Restored:
        return await self._real.restore(directory, ignore, root, paths, part)

    async def amend(self, root: str, versions: Sequence[Version]) -> str:
        return await self._real.amend(root, versions)

    async def forget(self, in_use: Callable[[], InUse]) -> int:
        return await self._real.forget(in_use)


@dataclass
class Desk:
    """A session over a real folder, journal and store, with tools that only append lines."""

    world: World
    folder: Path
    sessions: Sessions
    opener: Opener
    commands: SessionCommands
    session: SessionId = NONE

    async def do(self, command: Command) -> cmd.Answer:
        claim = claim_of(CommandId(f"c{next(_IDS)}"), "d", HOME, "")
        match command:
            case cmd.OpenSession():
                return await self.opener.open(command, claim, "cli")
            case cmd.ForkSession():
                return await self.opener.fork(command, claim, "cli")
            case cmd.TakeCheckpoint() | cmd.RestoreCheckpoint() | cmd.UndoEdit():
                return await self.commands.change_files(command, claim, "cli")
            case _:
                return await self.commands.tell(command, claim, "cli")

    async def open(self, **fields: object) -> None:
        command = cmd.OpenSession(str(self.folder), chain=(MODEL,), **fields)  # type: ignore[arg-type]  # as named
        self.session = (await self.do(command)).session
        actor = self.sessions.actor(self.session)
        grants = [
            ev.GrantMade(tool, "any", GrantScope.SESSION, "", 2**60, "cli", ("workspace",))
            for tool in ("write", "shell")
        ]
        await actor.tell(lambda _: tuple(grants), None, cause=CommandId(""))

    async def say(self, text: str, *, wait: bool = True) -> None:
        await self.do(SendMessage(self.session, text))
        if wait:
            await settled(self.sessions.actor(self.session))

    def bodies(self, kind: type[ev.Body]) -> list[ev.Body]:
        return [event.body for event in self.world.events(self.session) if isinstance(event.body, kind)]

    def text(self, path: str = "a.txt") -> str:
        return (self.folder / path).read_text("utf-8")


WRITE = ("write", '{"path":"a.txt"}')
SHELL = ("shell", '{"command":"b.txt"}')


@asynccontextmanager
async def desk(
    root: Path, *script: Turn, slow: bool = False, **fields: object
) -> AsyncIterator[tuple[Desk, SlowCheckpoints]]:
    folder = root / "project"
    folder.mkdir(exist_ok=True)
    if not (folder / "a.txt").exists():
        (folder / "a.txt").write_text("first\n", "utf-8")
        (folder / "b.txt").write_text("b\n", "utf-8")
    declared = {
        "write": Declaration(ToolEffect.WRITE, path_args=("path",), authority_args=("path",)),
        "shell": Declaration(ToolEffect.EXECUTE, authority_args=("command",)),
    }
    tools = [PenTool(name, declaration, folder) for name, declaration in declared.items()]
    data = root / "data"
    data.mkdir(exist_ok=True)
    world = World(data, ScriptedModels(script), tools=tools)
    checkpoints = SlowCheckpoints(world.kept)
    if not slow:
        checkpoints.let.set()
    world.deps = replace(world.deps, checkpoints=cast("Checkpoints", checkpoints))
    sessions = Sessions(world.deps)
    book = cast("SecretBook", _NoSecrets())
    opener = Opener(world.deps, sessions, book, lambda: (), _copied, lambda _: None, lambda _: "")
    made = Desk(world, folder, sessions, opener, SessionCommands(world.deps, sessions))
    try:
        yield made, checkpoints
    finally:
        await sessions.close()
        world.close()


async def _copied(directory: str, target: str) -> None:
    """No machine brought anything into these folders."""


class _NoSecrets:
    """A vault with nothing in it."""

    def given(self, names: Sequence[str], session: SessionId) -> tuple[()]:
        assert not names
        return ()


async def test_before_the_first_change_of_a_turn_files_and_conversation_are_kept(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",), (WRITE,), (SHELL,)) as (d, _):
        await d.open()
        await d.say("one")
        await d.say("two")
        story = words(d.world.events(d.session))
        assert story.index("checkpoint.taken") < story.index("tool.started")
        one, two = (cast("ev.CheckpointTaken", body) for body in d.bodies(ev.CheckpointTaken))
        assert (one.turn, two.turn, one.why) == (1, 2, "turn")
        assert d.text() == "first\nwrite\nwrite\n"
        ends = [cast("ev.TurnEnded", body) for body in d.bodies(ev.TurnEnded)]
        assert [[change.path for change in end.changes] for end in ends] == [["a.txt"], ["a.txt", "b.txt"]]
        state = await d.sessions.actor(d.session).state()
        assert status(state) == "idle"


async def test_a_restore_puts_files_and_conversation_back_and_is_undone_by_another(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",), (SHELL,), ("Done too.",)) as (d, _):
        await d.open()
        await d.say("one")
        await d.say("two")
        actor = d.sessions.actor(d.session)
        before = list((await actor.state()).messages)
        second = cast("ev.CheckpointTaken", d.bodies(ev.CheckpointTaken)[1])
        await d.do(cmd.RestoreCheckpoint(d.session, second.id))
        assert (d.text(), d.text("b.txt")) == ("first\nwrite\n", "b\n")
        kept = (await actor.state()).messages
        assert kept == before[: len(kept)]
        assert kept[-1] == before[3]  # the reply of the first turn
        restored = cast("ev.CheckpointRestored", d.bodies(ev.CheckpointRestored)[0])
        await d.do(cmd.RestoreCheckpoint(d.session, restored.before))
        assert d.text("b.txt") == "b\nshell\n"
        assert (await actor.state()).messages == before


async def test_files_or_the_conversation_can_be_put_back_alone(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE, SHELL), ("Done.",)) as (d, _):
        await d.open()
        await d.say("one")
        actor = d.sessions.actor(d.session)
        mark = cast("ev.CheckpointTaken", d.bodies(ev.CheckpointTaken)[0])
        await d.do(cmd.RestoreCheckpoint(d.session, mark.id, paths=("b.txt",)))
        assert (d.text(), d.text("b.txt")) == ("first\nwrite\n", "b\n")
        assert len((await actor.state()).messages) == 5  # all of it, and a notice of what the person did
        await d.do(cmd.RestoreCheckpoint(d.session, mark.id, files=False))
        assert d.text() == "first\nwrite\n"
        assert (await actor.state()).messages == []


async def test_a_part_of_a_files_diff_is_put_back_as_the_persons_and_that_is_undone_too(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE, SHELL), ("Done.",)) as (d, _):
        await d.open()
        await d.say("one")
        mark = cast("ev.CheckpointTaken", d.bodies(ev.CheckpointTaken)[0])
        undo = cmd.RestoreCheckpoint(d.session, mark.id, True, False, ("a.txt",), "@@ -1,1 +1,2 @@\n first\n+write")
        with pytest.raises(InvalidRequest, match="a part is of one file"):
            await d.do(msgspec.structs.replace(undo, paths=()))
        await d.do(undo)
        assert (d.text(), d.text("b.txt")) == ("first\n", "b\nshell\n")
        done = cast("ev.CheckpointRestored", d.bodies(ev.CheckpointRestored)[0])
        assert (done.paths, done.conversation, done.door) == (("a.txt",), False, "cli")
        await d.do(cmd.RestoreCheckpoint(d.session, done.before, paths=("a.txt",)))
        assert d.text() == "first\nwrite\n"


async def test_a_long_first_checkpoint_holds_no_edit_up_and_is_of_before_it_all_the_same(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",), slow=True) as (d, slow):
        await d.open()
        await d.say("one")
        assert d.text() == "first\nwrite\n"
        assert not d.bodies(ev.CheckpointTaken)
        slow.let.set()
        async with asyncio.timeout(10):
            while not d.bodies(ev.CheckpointTaken):
                await asyncio.sleep(0.01)
        mark = cast("ev.CheckpointTaken", d.bodies(ev.CheckpointTaken)[0])
        await d.do(cmd.RestoreCheckpoint(d.session, mark.id))
        assert d.text() == "first\n"


async def test_a_command_waits_until_the_checkpoint_is_whole(tmp_path: Path) -> None:
    async with desk(tmp_path, (SHELL,), ("Done.",), slow=True) as (d, slow):
        await d.open()
        await d.say("one", wait=False)
        await slow.asked.wait()
        assert d.text("b.txt") == "b\n"
        assert "tool.started" not in words(d.world.events(d.session))
        slow.let.set()
        await settled(d.sessions.actor(d.session))
        assert d.text("b.txt") == "b\nshell\n"


async def test_a_checkpoint_that_a_crash_cut_off_is_taken_by_the_next_daemon(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, (WRITE,), (SHELL,), slow=True) as (d, _):
        await d.open()
        await d.say("one", wait=False)
        async with asyncio.timeout(10):
            while "file.changed" not in words(d.world.events(d.session)):
                await asyncio.sleep(0.01)
        session = d.session
    # The second request may be lost with the first daemon; then the third is the one that has the command run.
    async with desk(tmp_path, (), (SHELL,), (SHELL,), ("Done.",)) as (d, _):
        d.session = session
        actor = d.sessions.actor(session)
        actor.wake()
        await settled(actor)
        mark = cast("ev.CheckpointTaken", d.bodies(ev.CheckpointTaken)[-1])
        await d.do(cmd.RestoreCheckpoint(session, mark.id))
        assert (d.text(), d.text("b.txt")) == ("first\n", "b\n")


async def test_a_checkpoint_that_fails_is_said_and_each_edit_is_kept_all_the_same(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",)) as (d, slow):
        slow.fault = StorageFault("the disk is full; free some space")
        await d.open()
        await d.say("one")
        failed = cast("ev.CheckpointFailed", d.bodies(ev.CheckpointFailed)[0])
        assert "full" in failed.why
        changed = cast("ev.FileChanged", d.bodies(ev.FileChanged)[0])
        await d.do(cmd.UndoEdit(d.session, changed.key))
        assert d.text() == "first\n"


async def test_an_edit_is_undone_and_had_again_unless_the_file_changed_since(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",)) as (d, _):
        await d.open()
        await d.say("one")
        key = CallKey("call_1_0")
        await d.do(cmd.UndoEdit(d.session, key))
        assert d.text() == "first\n"
        with pytest.raises(Conflict, match="undone already"):
            await d.do(cmd.UndoEdit(d.session, key))
        await d.do(cmd.UndoEdit(d.session, key, again=True))
        assert d.text() == "first\nwrite\n"
        (d.folder / "a.txt").write_text("mine\n", "utf-8")
        with pytest.raises(Conflict):
            await d.do(cmd.UndoEdit(d.session, key))
        assert d.text() == "mine\n"
        state = await d.sessions.actor(d.session).state()
        assert any("undid your edit" in getattr(message, "text", "") for message in state.messages)


async def test_a_fork_goes_on_from_any_event_in_a_folder_of_its_own(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",), (SHELL,), ("Done too.",)) as (d, _):
        await d.open()
        await d.say("one")
        at = len(d.world.events(d.session))
        await d.say("two")
        empty = tmp_path / "fork"
        empty.mkdir()
        answer = await d.do(cmd.ForkSession(d.session, at, str(empty)))
        assert (empty / "a.txt").read_text("utf-8") == "first\n"  # as before the turn that the moment is in
        fork = await d.sessions.actor(answer.session).state()
        source = await d.sessions.actor(d.session).state()
        assert fork.messages == source.messages[: len(fork.messages)]
        assert next(getattr(message, "text", "") for message in fork.messages) == "one"
        assert (fork.grants, fork.planned, fork.trusted, status(fork)) == ([], [], {}, "idle")
        with pytest.raises(InvalidRequest, match="not empty"):
            await d.do(cmd.ForkSession(d.session, at, str(empty)))
        with pytest.raises(InvalidRequest, match="none of them"):
            await d.do(cmd.ForkSession(d.session, 10_000))


async def test_a_fork_at_any_event_has_a_conversation_that_is_whole(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE, SHELL), ("Done.",)) as (d, _):
        await d.open()
        await d.say("one")
        for at in range(1, len(d.world.events(d.session)) + 1):
            fork = await d.sessions.actor((await d.do(cmd.ForkSession(d.session, at))).session).state()
            calls = sum(len(getattr(message, "parts", ())) for message in fork.messages if hasattr(message, "parts"))
            results = sum(len(message.results) for message in fork.messages if hasattr(message, "results"))
            assert calls - results in (0, 1)  # the last reply has a text part alone


async def test_a_session_on_trial_or_readonly_keeps_no_checkpoints_and_says_so(tmp_path: Path) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",)) as (d, _):
        await d.open(mode="trial")
        await d.say("one")
        assert not d.bodies(ev.CheckpointTaken)
        with pytest.raises(Conflict, match="keeps no checkpoints"):
            await d.do(cmd.TakeCheckpoint(d.session))


async def test_closing_keeps_everything_and_a_message_opens_it_again(tmp_path: Path) -> None:
    async with desk(tmp_path, ("Hello.",), ("Again.",)) as (d, _):
        await d.open()
        await d.say("one")
        await d.do(cmd.CloseSession(d.session))
        actor = d.sessions.actor(d.session)
        assert status(await actor.state()) == "closed"
        with pytest.raises(Conflict, match="closed already"):
            await d.do(cmd.CloseSession(d.session))
        await d.say("two")
        state = await actor.state()
        assert (status(state), state.turn) == ("idle", 2)
        assert len(state.messages) == 4


async def test_project_rules_are_told_as_data_and_again_when_they_change(tmp_path: Path) -> None:
    async with desk(tmp_path, ("One.",), ("Two.",), ("Three.",)) as (d, _):
        (d.folder / "AGENTS.md").write_text("Run make check.\n", "utf-8")
        await d.open()
        await d.say("one")
        await d.say("two")
        (d.folder / "AGENTS.md").write_text("Run make test.\n", "utf-8")
        await d.say("three")
        told = [cast("ev.ProjectRulesRead", body) for body in d.bodies(ev.ProjectRulesRead)]
        assert [rules.files[0].text for rules in told] == ["Run make check.\n", "Run make test.\n"]
        state = await d.sessions.actor(d.session).state()
        assert state.sources == ["workspace"]
        assert "Run make check." not in "".join(state.words)


async def test_deleting_a_session_drops_what_it_alone_had_kept_and_nothing_that_is_not_on_record_yet(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, (WRITE,), ("Done.",)) as (d, _):
        await d.open()
        await d.say("one")
        gone = cast("ev.FileChanged", d.bodies(ev.FileChanged)[0])
        (d.folder / "c.txt").write_text("kept a moment ago\n", "utf-8")
        (fresh,) = await d.world.kept.keep(str(d.folder), ["c.txt"])
        await d.do(cmd.CloseSession(d.session))
        actor = d.sessions.actor(d.session)
        await actor.tell(lambda _: (ev.SessionDeleted(),), None, cause=CommandId(""))
        await d.world.journal.erase(d.session)
        await forget_kept(d.world.deps)
        (d.folder / "c.txt").unlink()
        await d.world.kept.put_back(str(d.folder), fresh, Version("c.txt", ""))
        assert d.text("c.txt") == "kept a moment ago\n"
        held = d.world.deps.pinned.with_recorded(InUse()).contents
        assert {fresh.content, gone.before.content} <= held
        d.world.deps.pinned.with_recorded(InUse(contents=held))  # as after a restart: nothing speaks of them any more
        await forget_kept(d.world.deps)
        left = Version("a.txt", gone.after.content, gone.after.mode)
        with pytest.raises(NotFound):
            await d.world.kept.put_back(str(d.folder), gone.before, left)
