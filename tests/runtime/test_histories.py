"""Random histories: a hostile model, a fickle person and a power cut, in any order.

Whatever happens, no effect runs without a verdict that allows it before it in the journal, each effect runs at most
once (unless twice is the same as once), every call gets one result, and the journal folds to the live state.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.commands import Decide
from stead.domain.errors import Conflict, InvalidRequest, ModelFault
from stead.domain.folding import fold
from stead.domain.ids import CallDigest, CommandId
from stead.domain.messages import AssistantMessage, ResultsMessage, ToolCall
from stead.domain.sessions import Session
from stead.runtime import approvals
from stead.runtime.session_words import facts_of
from stead.runtime.sessions import Actor
from tests.build import SESSION
from tests.fakes.world import ScriptedModels, Turn, World, settled
from tests.runtime.test_actor import begun

NONE = CommandId("")
DAY_MS = 24 * 3600 * 1000

calls = st.tuples(
    st.sampled_from(["read", "write", "shell", "mail", "teleport"]),
    st.sampled_from(
        ['{"path":"a"}', '{"path":"../a"}', '{"command":"make"}', '{"to":"bo@example.com"}', "{}", '{"path":"b","n":1}']
    ),
)
turns: st.SearchStrategy[Turn] = st.one_of(
    st.lists(st.one_of(calls, st.sampled_from(["Looking.", "I wrote a.txt."])), max_size=4).map(tuple),
    st.builds(lambda charged: ModelFault("no", kind="server", charged=charged), st.booleans()),
)
acts = st.lists(
    st.sampled_from(
        [
            "once",
            "session",
            "deny",
            "stale",
            "forged",
            "pause",
            "resume",
            "speak",
            "stop",
            "crash",
            "crash in call",
            "tomorrow",
        ]
    ),
    min_size=2,
    max_size=12,
)


@example(script=[(("shell", '{"command":"make"}'),)], acts=["crash in call"])
@example(script=[(("write", '{"path":"a"}'), ("write", '{"path":"b"}'))], acts=["crash in call", "crash"])
@given(script=st.lists(turns, min_size=1, max_size=6), acts=acts)
def test_no_order_of_events_makes_an_effect_run_unallowed_or_twice(script: list[Turn], acts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_live(Path(folder), script, acts))


async def _live(folder: Path, script: list[Turn], acts: list[str]) -> None:
    effects: Counter[str] = Counter()
    world = World(folder, ScriptedModels(script), effects)
    try:
        actor = await begun(world)
        for act in acts:
            await settled(actor)
            if act.startswith("crash"):
                world, actor = await _crash(world, actor, effects, in_call=act == "crash in call")
            else:
                await _act(world, actor, act)
        await settled(actor)
        async with actor.lock:
            live = (await actor.stream()).session
        events = world.events(SESSION)
        assert fold(events) == live
        _check(events, effects, live)
    finally:
        world.close()


async def _crash(world: World, actor: Actor, effects: Counter[str], *, in_call: bool) -> tuple[World, Actor]:
    """Drop everything but the disk; perhaps in the middle of a call that the person has just allowed."""
    if in_call:
        for tool in world.tools.values():
            tool.hold = asyncio.Event()
            tool.running.clear()
        await _act(world, actor, "session")
        await asyncio.wait(
            [asyncio.create_task(tool.running.wait()) for tool in world.tools.values()],
            timeout=0.02,
            return_when="FIRST_COMPLETED",
        )
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
    world.close()
    again = World(world.folder, ScriptedModels(world.models.script), effects)
    again.clock.ms = world.clock.ms + 1000
    fresh = again.actor(SESSION)
    fresh.wake()
    return again, fresh


async def _act(world: World, actor: Actor, act: str) -> None:
    if act == "tomorrow":
        world.clock.ms += DAY_MS
        actor.wake()
        return
    try:
        if act in ("once", "session", "deny", "stale", "forged"):
            questions = [event.body for event in world.events(SESSION) if isinstance(event.body, ev.ApprovalRequested)]
            if questions:
                await _answer(world, actor, act, questions[0] if act == "stale" else questions[-1])
            return
        if act == "stop":
            await actor.halt()
        commands: dict[str, cmd.SessionWord] = {
            "pause": cmd.Pause(SESSION),
            "resume": cmd.Resume(SESSION),
            "speak": cmd.SendMessage(SESSION, "hurry"),
            "stop": cmd.Stop(SESSION),
        }
        command = commands[act]
        await actor.tell(lambda session: facts_of(command, session, "cli", ScriptedModels(())), None, cause=NONE)
    except (Conflict, InvalidRequest):
        return  # the world had moved on; nothing may have been recorded, which the checks at the end see
    finally:
        actor.release()


async def _answer(world: World, actor: Actor, act: str, question: ev.ApprovalRequested) -> None:
    digest = CallDigest("0" * 64) if act == "forged" else question.digest
    command = Decide(question.id, digest, "deny" if act == "deny" else "session" if act == "session" else "once")
    now_ms = world.clock.now_ms()
    await actor.tell(lambda session: approvals.answer(session, command, door="cli", now_ms=now_ms), None, cause=NONE)


def _check(events: list[ev.Event], effects: Counter[str], live: Session) -> None:
    assert all(count == 1 for name, count in effects.items() if not name.endswith(" read")), effects
    allowed: set[str] = set()
    asked: dict[str, str] = {}
    yes: set[tuple[str, str]] = set()
    started: set[str] = set()
    for event in events:
        match event.body:
            case ev.CallJudged(key=key, verdict="allow", digest=digest, reason=reason):
                if reason.rule == "approved":
                    assert (key, digest) in yes
                allowed.add(key)
            case ev.ApprovalRequested(key=key, digest=digest):
                asked[key] = digest
            case ev.ApprovalGiven(key=key, digest=digest):
                assert asked[key] == digest
                yes.add((key, digest))
            case ev.ToolStarted(key=key):
                assert key in allowed
                allowed.discard(key)
                started.add(key)
            case _:
                continue
    assert {name.split()[1] for name in effects} <= started
    for one, other in zip(live.messages, [*live.messages[1:], None], strict=True):
        if isinstance(one, AssistantMessage):
            keys = [part.key for part in one.parts if isinstance(part, ToolCall)]
            if keys and not live.calls:
                assert isinstance(other, ResultsMessage)
                assert [result.key for result in other.results] == keys
