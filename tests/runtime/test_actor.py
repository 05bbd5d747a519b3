"""One actor over a real journal: what it does, what it never does, and what a crash leaves."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from stead.domain import events as ev
from stead.domain.commands import Decide
from stead.domain.errors import Conflict, ModelFault
from stead.domain.folding import fold
from stead.domain.ids import CommandId
from stead.domain.live import Transient
from stead.domain.ports import ModelRequest, Reply
from stead.domain.sessions import Session
from stead.runtime import approvals
from stead.runtime.bus import Bus
from stead.runtime.sessions import Actor
from stead.runtime.stream import SNAPSHOT_EVERY, Stream
from tests.build import SESSION, created, words
from tests.fakes.world import ScriptedModels, Turn, World, settled

NONE = CommandId("")
SHELL = ("shell", '{"command":"make"}')
READ = ("read", '{"path":"a.txt"}')


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[list[World]]:
    """Worlds to be closed after the test."""
    made: list[World] = []
    yield made
    for world in made:
        world.close()


async def begun(world: World, opening: ev.SessionOpened | None = None) -> Actor:
    """An objective of the world's script, just created and woken."""
    d = world.deps
    stream = Stream.open(SESSION, opening or created(), NONE, d)
    await stream.commit()
    actor = Actor(SESSION, d, stream)
    actor.wake()
    return actor


async def answer(actor: Actor, world: World, what: str) -> None:
    """Answer the open question."""
    question = [event.body for event in world.events(SESSION) if isinstance(event.body, ev.ApprovalRequested)][-1]
    answers = {"once": "once", "session": "session", "project": "project", "deny": "deny"}
    command = Decide(question.id, question.digest, answers[what])  # type: ignore[arg-type]  # one of the four
    await actor.tell(
        lambda session: approvals.answer(session, command, door="cli", now_ms=world.clock.now_ms()), None, cause=NONE
    )
    await settled(actor)


def start(worlds: list[World], folder: Path, *script: Turn, effects: Counter[str] | None = None) -> World:
    world = World(folder, ScriptedModels(script), effects)
    worlds.append(world)
    return world


class Batches(Bus):
    """A bus that remembers what was published together, which is what was committed together."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[list[str]] = []

    def publish(self, items: Iterable[ev.Event | Transient]) -> None:
        if events := [item for item in items if isinstance(item, ev.Event)]:
            self.commits.append(words(events))
        super().publish(items)


async def test_between_an_answer_and_the_next_request_lie_two_commits(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, (READ,))
    bus = Batches()
    world.deps = replace(world.deps, bus=bus)
    await settled(await begun(world))
    assert bus.commits == [
        ["session.opened"],
        ["model.requested"],
        ["model.replied", "call.judged", "tool.started"],
        ["tool.finished", "plan.made", "model.requested"],
        ["model.replied", "objective.ended"],
    ]


async def test_a_call_that_needs_a_person_waits_and_runs_once_after_the_yes(
    worlds: list[World], tmp_path: Path
) -> None:
    world = start(worlds, tmp_path, (SHELL,))
    actor = await begun(world)
    await settled(actor)
    assert not world.effects
    await answer(actor, world, "once")
    assert list(world.effects.values()) == [1]
    assert words(world.events(SESSION))[-1] == "objective.ended"


async def test_a_second_answer_is_refused(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, (SHELL,))
    actor = await begun(world)
    await settled(actor)
    await answer(actor, world, "deny")
    with pytest.raises(Conflict):
        await answer(actor, world, "once")
    assert not world.effects


async def test_a_yes_is_void_when_the_named_file_changed_meanwhile(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, (("write", '{"path":"a.txt","text":"x"}'),))
    actor = await begun(world)
    await settled(actor)
    world.machines.files["a.txt"] = "f" * 64
    await answer(actor, world, "once")
    assert not world.effects
    assert words(world.events(SESSION))[-3:] == ["call.judged", "approval.lapsed", "approval.requested"]
    await answer(actor, world, "once")
    assert sum(world.effects.values()) == 1


async def test_a_grant_for_the_session_covers_later_writes(worlds: list[World], tmp_path: Path) -> None:
    writes = [(("write", f'{{"path":"{name}.txt","text":"x"}}'),) for name in "abc"]
    world = start(worlds, tmp_path, *writes)
    actor = await begun(world)
    await settled(actor)
    await answer(actor, world, "session")
    assert sum(world.effects.values()) == 3


async def test_stop_cuts_a_running_call_off_and_holds(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, (READ,))
    tool = world.tools["read"]
    tool.hold = asyncio.Event()
    actor = await begun(world)
    async with asyncio.timeout(5):
        await tool.running.wait()
    await actor.halt()
    await actor.tell(lambda session: (ev.SessionStopped("cli", "enough"),), None, cause=NONE)
    actor.release()
    await settled(actor)
    ends = [event.body for event in world.events(SESSION) if isinstance(event.body, ev.ToolFinished)]
    assert [end.outcome for end in ends] == ["cancelled"]
    assert world.machines.killed == [SESSION]
    assert sum(world.effects.values()) == 1
    tool.hold = None
    await actor.tell(lambda session: (ev.SessionResumed(),), None, cause=NONE)
    await settled(actor)
    assert words(world.events(SESSION))[-1] == "objective.ended"


async def test_stop_cuts_a_streaming_request_off(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, ("hello",))
    world.models.hold = asyncio.Event()
    actor = await begun(world)
    async with asyncio.timeout(5):
        await world.models.asked.wait()
    await actor.halt()
    await actor.tell(lambda session: (ev.SessionStopped("cli", "enough"),), None, cause=NONE)
    actor.release()
    await settled(actor)
    failed = [event.body for event in world.events(SESSION) if isinstance(event.body, ev.ModelFailed)]
    assert [fault.kind for fault in failed] == ["stopped"]
    assert failed[0].spend.tokens > 0


async def test_a_failed_turn_runs_no_call_and_is_asked_again(worlds: list[World], tmp_path: Path) -> None:
    fault = ModelFault("acme/m1: the stream ended without a stop reason", kind="truncated", charged=True)
    world = start(worlds, tmp_path, fault, (READ,))
    await settled(await begun(world))
    assert words(world.events(SESSION))[1:4] == ["model.requested", "model.failed", "model.requested"]
    assert sum(world.effects.values()) == 1


async def test_a_refused_key_pauses_with_the_reason(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, ModelFault("acme: the key is refused", kind="auth", charged=False))
    await settled(await begun(world))
    assert isinstance(last := world.events(SESSION)[-1].body, ev.SessionPaused)
    assert "key" in last.why


async def test_of_two_runners_on_one_session_one_stops(worlds: list[World], tmp_path: Path) -> None:
    effects: Counter[str] = Counter()
    one = start(worlds, tmp_path, (SHELL,), effects=effects)
    actor = await begun(one)
    await settled(actor)
    two = start(worlds, tmp_path, (SHELL,), effects=effects)
    rival = two.actor(SESSION)
    rival.wake()
    await settled(rival)
    await asyncio.gather(answer(actor, one, "once"), answer(rival, two, "once"), return_exceptions=True)
    assert max(effects.values()) == 1
    seqs = [event.session_seq for event in one.events(SESSION)]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_the_journal_folds_to_the_live_state(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path, ("Looking.", READ), (SHELL, READ))
    actor = await begun(world)
    await settled(actor)
    live: Session = (await actor.stream()).session
    assert fold(world.events(SESSION)) == live


async def test_an_objective_whose_model_is_gone_is_paused_with_the_reason(worlds: list[World], tmp_path: Path) -> None:
    world = start(worlds, tmp_path)
    await settled(await begun(world, created(chain=(ev.ModelRef("gone", "m"),))))
    assert isinstance(last := world.events(SESSION)[-1].body, ev.SessionPaused)
    assert "'m'" in last.why


async def test_a_fault_of_ours_pauses_the_session_where_people_see_it(worlds: list[World], tmp_path: Path) -> None:
    class Broken(ScriptedModels):
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
            raise ZeroDivisionError

    world = World(tmp_path, Broken(()))
    worlds.append(world)
    await settled(await begun(world))
    assert isinstance(last := world.events(SESSION)[-1].body, ev.SessionPaused)
    assert "stead logs" in last.why


async def test_a_snapshot_gives_the_same_state_and_a_strange_one_is_passed_over(
    worlds: list[World], tmp_path: Path
) -> None:
    world = start(worlds, tmp_path, (READ,), (SHELL,))
    actor = await begun(world)
    await settled(actor)
    live = (await actor.stream()).session
    d = world.deps

    def load() -> Session:
        stream = Stream.load(SESSION, d)
        assert stream is not None
        return stream.session

    first = world.events(SESSION)[:5]
    early = msgspec.json.encode(fold(first))
    for state in (b"6:%d:" % first[-1].seq + early, b"2:" + early, b"0:{}", b"nonsense"):
        await d.snapshots.save(SESSION, 5, state)
        assert load() == live


async def test_snapshots_of_a_session_that_grows_cost_by_what_is_new(worlds: list[World], tmp_path: Path) -> None:
    d = start(worlds, tmp_path).deps
    stream = Stream.open(SESSION, created(), NONE, d)
    sizes: set[int] = set()
    for _ in range(40):
        stream.add(*[ev.NoticeGiven("Go on.", "completion")] * SNAPSHOT_EVERY)
        await stream.commit()
        sizes.update(kept[0] for kept in (d.snapshots.load(SESSION),) if kept)
    events = stream.session.seq
    assert sum(sizes) < 10 * events, "each holds the whole session, so their distance grows with it"
    assert events - max(sizes) <= events // 8 + SNAPSHOT_EVERY, "loading the session folds a small part of it"
    assert (loaded := Stream.load(SESSION, d)) is not None
    assert loaded.session == stream.session
