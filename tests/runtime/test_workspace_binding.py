"""What of a session's changes waits for the person: decided by what its model has read, before every call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.domain import events as ev
from stead.domain.errors import InvalidRequest
from stead.domain.ids import CommandId, SessionId
from stead.domain.policies import Integrity, Label, Profile
from stead.domain.tools import Declaration, ToolEffect
from stead.domain.trials import Barred, Hold, unbarred
from stead.guardian.flow import kinds
from stead.runtime.registry import Sessions
from stead.runtime.sessions import Actor
from stead.runtime.stream import Stream
from stead.runtime.workspace_binding import bind_workspace
from tests.build import SESSION, created, desk
from tests.fakes.world import DECLARATIONS, CountingTool, OpenMachines, ScriptedModels, Turn, World, settled

NONE = CommandId("")
WRITE = ("write", '{"path":"a.txt"}')
READ = ("read", '{"path":"a.txt"}')
MAIL = ("inbox", "{}")


class Bindings(OpenMachines):
    """Machines without walls that remember what they were told to hold; ``gone``: the folder is there no longer."""

    def __init__(self) -> None:
        super().__init__()
        self.holds: list[Hold] = []
        self.gone = False

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
        if self.gone:
            raise InvalidRequest(f"{directory!r} is gone")
        self.holds.append(hold)


class Writer(CountingTool):
    """Counts, and remembers what was held while it ran."""

    def __init__(self, name: str, declaration: Declaration, machines: Bindings) -> None:
        super().__init__(name, declaration, Counter())
        self.machines = machines
        self.under: list[Hold] = []

    async def run(self, permit, arguments, context):  # type: ignore[no-untyped-def]  # as the one that it extends
        self.under.append(self.machines.holds[-1])
        return await super().run(permit, arguments, context)


def opening(mode: Literal["workspace", "trial"] = "workspace") -> ev.SessionOpened:
    return msgspec.structs.replace(created(), mode=mode, profile=Profile.WORK)


async def worked(folder: Path, *script: Turn, facts: Sequence[ev.Body] = ()) -> tuple[Bindings, Writer, World]:
    """Have a model do these in the profile ``work``, after facts that are there before it begins."""
    machines = Bindings()
    writer = Writer("write", DECLARATIONS["write"], machines)
    tools = [
        writer,
        CountingTool("read", DECLARATIONS["read"], Counter()),
        CountingTool("inbox", Declaration(ToolEffect.READ, idempotent=True), Counter()),
    ]
    world = World(folder, ScriptedModels(script), tools=tools, machines=machines)
    d = world.deps
    stream = Stream.open(SESSION, opening(), NONE, d)
    stream.add(*facts)
    await stream.commit()
    actor = Actor(SESSION, d, stream)
    actor.wake()
    await settled(actor)
    world.close()
    return machines, writer, world


async def test_a_strangers_text_holds_every_change_that_comes_after_it(tmp_path: Path) -> None:
    _, writer, _ = await worked(tmp_path, (READ,), (WRITE,), (MAIL,), (WRITE,), (READ,), (WRITE,))
    assert writer.under == ["obeyed", "all", "all"]


@pytest.mark.parametrize(
    ("fact", "hold"),
    [
        (ev.MessageReceived("Do it.", "chat", Label(Integrity.UNTRUSTED)), "all"),
        (ev.MessageReceived("Do it.", "web", Label(Integrity.PERSON)), "obeyed"),
        (ev.ProjectRulesRead((), Label()), "obeyed"),
    ],
)
async def test_words_of_others_are_strangers_and_the_folders_rules_are_not(
    tmp_path: Path, fact: ev.Body, hold: Hold
) -> None:
    _, writer, _ = await worked(tmp_path, (WRITE,), facts=(fact,))
    assert writer.under == [hold]


async def test_a_folder_that_is_gone_pauses_the_session_before_anything_runs(tmp_path: Path) -> None:
    machines = Bindings()
    machines.gone = True
    writer = Writer("write", DECLARATIONS["write"], machines)
    world = World(tmp_path, ScriptedModels(((WRITE,),)), tools=[writer], machines=machines)
    d = world.deps
    stream = Stream.open(SESSION, opening(), NONE, d)
    await stream.commit()
    actor = Actor(SESSION, d, stream)
    actor.wake()
    await settled(actor)
    world.close()
    assert writer.under == []
    assert stream.session.phase == "paused"


sources = st.lists(st.sampled_from(["workspace", "web:b.example workspace", "inbox", "memory", "machine", "message:x"]))


@given(sources | st.none(), st.sampled_from(["workspace", "trial"]))
def test_all_is_held_on_trial_after_any_stranger_and_where_nobody_knows(
    read: list[str] | None, mode: Literal["workspace", "trial"]
) -> None:
    machines = Bindings()
    bind_workspace(machines, SESSION, opening(mode), read)
    clean = mode == "workspace" and read is not None and set(read) <= {"workspace"}
    assert machines.holds == ["obeyed" if clean else "all"]
    assert clean is (mode == "workspace" and read is not None and not kinds(read))


async def test_a_session_that_has_just_begun_is_held_as_far_as_what_it_brings_along_wants(tmp_path: Path) -> None:
    machines = Bindings()
    world = World(tmp_path, ScriptedModels(()), machines=machines)
    d = world.deps
    for spoken in (Label(Integrity.PERSON), Label(Integrity.UNTRUSTED)):
        sessions, id = Sessions(d), SessionId(d.new_id("s"))
        sessions.bind(id, desk())
        stream = Stream.open(id, desk(), NONE, d)
        stream.add(ev.MessageReceived("Look.", "chat", spoken))
        await stream.commit()
        sessions.adopt(stream)
    world.close()
    assert machines.holds == ["all", "obeyed", "all", "all"]
