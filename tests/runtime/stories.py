"""Random stories of a room: what a bad model may say, what a person may do, when the power goes; and how one is lived.

A story is data, so that Hypothesis can shorten the one that fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Literal, get_args

import msgspec
from hypothesis import strategies as st

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.errors import CallerError, ModelFault
from stead.domain.ids import SessionId
from stead.domain.messages import USE_TOOL
from stead.domain.ports import ModelRequest
from stead.domain.sessions import Session
from tests.runtime.room import Room, Said, Turn, WireModels, made, used

DAY_MS = 24 * 3600 * 1000
IN_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""What is tried here is the order of things and not the disk, whose turn comes in the storage's own tests."""

Deed = Literal[
    "say",
    "interrupt",
    "once",
    "session",
    "trust",
    "deny",
    "edit",
    "edit outside",
    "cancel",
    "retry",
    "plan",
    "pause",
    "resume",
    "stop",
    "keep",
    "restore",
    "fork",
    "close",
    "hold tools",
    "hold model",
    "hold checkpoints",
    "let go",
    "tomorrow",
    "crash",
]


class Act(msgspec.Struct, frozen=True):
    """Something that happens to a room.

    Args:
        deed: what.
        which: of several sessions, calls or questions, counted round.
        pace: how often everything else has its turn before it; 0 waits until all is quiet.
    """

    deed: Deed
    which: int = 0
    pace: int = 0


class Story(msgspec.Struct, frozen=True):
    """What the model says, what happens meanwhile, in a window of so many tokens, to a session or an objective."""

    turns: tuple[Turn, ...]
    acts: tuple[Act, ...]
    window_tokens: int = 100_000
    alone: bool = False


_ARGUMENTS = (
    '{"path":"a.txt"}',
    '{"path":"long"}',
    '{"path":"../a"}',
    '{"command":"make"}',
    '{"to":"bo@example.com","text":"see https://example.com/x"}',
    '{"about":"bees"}',
    "{}",
    '{"path":"a.t',
    "[1]",
    "null",
    "",
    '{"a":' * 40,
    '{"path":"' + "x" * 600 + '"}',
    '{"steps":[{"title":"tidy","status":"doing"}],"calls":[{"tool":"mail","arguments":{}}]}',
)
_NAMES = (
    "read",
    "read",
    "page",
    "write",
    "shell",
    "mail",
    "plan",
    "teleport",
    "use_tool",
    "a b/ü",
    "x" * 90,
    "edit_call",
)
_calls = st.one_of(
    st.tuples(st.sampled_from(_NAMES), st.sampled_from(_ARGUMENTS)),
    st.sampled_from(
        [
            ("read", '{"path":"long"}'),
            ("read", '{"path":"long","again":1}'),
            ("read", '{"path":"a.txt"}'),
            ("page", '{"about":"bees"}'),
            ("write", '{"path":"a.txt","text":"x"}'),
            ("shell", '{"command":"make"}'),
            used("mail", to="bo@example.com", text="hi"),
            (USE_TOOL, '{"name":"use_tool","arguments":{"name":"mail"}}'),
            used("nowhere"),
        ]
    ),
)
_parts = st.one_of(_calls, _calls, _calls, st.sampled_from(["Looking.", "I wrote a.txt.", "", "tests pass"]))
_turns: st.SearchStrategy[Turn] = st.one_of(
    st.builds(Said, st.lists(_parts, max_size=6).map(tuple)),
    st.builds(Said, st.lists(_calls, min_size=1, max_size=6).map(tuple)),
    st.builds(
        Said,
        st.lists(_parts, max_size=4).map(tuple),
        st.sampled_from(["stop", "length", "content_filter", "tool_call"]),
        st.sampled_from(["", "Hm."]),
    ),
    st.builds(lambda charged: ModelFault("no", kind="server", charged=charged), st.booleans()),
)
_read_much = st.builds(
    lambda paths, last: Said((*(("read", f'{{"path":"long","n":{n}}}') for n in paths), *last)),
    st.lists(st.integers(0, 99), min_size=1, max_size=3),
    st.lists(_calls, max_size=1),
)
_OFTEN: tuple[Deed, ...] = ("say", "once", "edit", "cancel", "retry", "hold tools", "hold checkpoints", "crash")
_acts = st.builds(
    Act,
    st.sampled_from(get_args(Deed) + 2 * _OFTEN),
    st.integers(0, 5),
    st.sampled_from([0, 0, 0, 1, 2, 4, 9]),
)
stories = st.builds(
    Story,
    st.one_of(st.lists(_turns, min_size=3, max_size=16), st.lists(_read_much, min_size=8, max_size=16)).map(tuple),
    st.lists(_acts, min_size=8, max_size=24).map(tuple),
    st.sampled_from([100_000, 9_000, 6_000]),
    st.sampled_from([False, False, True]),
)


class Life:
    """A story being lived; ``room`` is the life of the runtime that it has come to.

    Args:
        story: which.
        folder: of the home.
    """

    def __init__(self, story: Story, folder: Path) -> None:
        self.story = story
        self.room = Room(folder, WireModels(story.turns, window_tokens=story.window_tokens))
        self.ids: list[SessionId] = []
        self.said: set[str] = {"tidy the notes"}
        """Every text that the person wrote."""

    async def run(self) -> None:
        """Live it to its end: then everything is let go, and the sessions are as quiet as they get."""
        await self._begin()
        for act in self.story.acts:
            if act.pace:
                for _ in range(act.pace):
                    await asyncio.sleep(0)
            else:
                await self._quiet()
            with contextlib.suppress(CallerError):  # the world had moved on; nothing may have been recorded
                await self._do(act)
        self._let_go()
        for id in self.ids:
            with contextlib.suppress(CallerError):
                await self.room.do(cmd.Resume(id))
            await self.room.settled(id)

    async def _begin(self) -> None:
        if self.story.alone:
            self.ids = [(await self.room.do(cmd.OpenSession(str(self.room.project), goal="tidy the notes"))).session]
            return
        self.ids = [await self.room.open()]
        await self._say(self.ids[0], interrupt=False)

    async def _quiet(self) -> None:
        """Wait until nothing goes on by itself, as far as nothing is held."""
        async with asyncio.timeout(_PATIENCE_S):
            while any(actor.busy and not self._held(actor.id) for actor in self.room.sessions.live()):
                await asyncio.sleep(0.001)

    def _held(self, id: SessionId) -> bool:
        return self.room.actor(id).performing and (
            self.room.models.hold is not None
            or self.room.kept.waiting > 0
            or any(tool.at_work for tool in self.room.tools.values())
        )

    def _let_go(self) -> None:
        for tool in self.room.tools.values():
            if tool.hold is not None:
                tool.hold.set()
                tool.hold = None
        if self.room.models.hold is not None:
            self.room.models.hold.set()
            self.room.models.hold = None
        if self.room.kept.hold is not None:
            self.room.kept.hold.set()
            self.room.kept.hold = None

    async def _say(self, id: SessionId, *, interrupt: bool) -> None:
        text = f"Word {len(self.said)}: write to bo@example.com."
        self.said.add(text)
        await self.room.say(id, text, interrupt=interrupt)

    async def _do(self, act: Act) -> None:
        room, id = self.room, self.ids[act.which % len(self.ids)]
        if act.deed in ("keep", "restore"):
            self._let_go()  # these wait for their checkpoint
        match act.deed:
            case "say" | "interrupt":
                await self._say(id, interrupt=act.deed == "interrupt")
            case "once" | "session" | "trust":
                await room.decide(id, act.deed)
            case "deny":
                await room.decide(id, "deny", "Not like this.")
            case "edit" | "edit outside" | "cancel" | "retry":
                await self._change_call(act, id)
            case "plan":
                await room.do(cmd.SetPlan(id, (ev.PlanStep("as the person wants it", "doing"),)))
            case "pause":
                await room.do(cmd.Pause(id))
            case "resume":
                await room.do(cmd.Resume(id))
            case "stop":
                await room.do(cmd.Stop(id, "enough"))
            case "keep":
                await room.do(cmd.TakeCheckpoint(id))
            case "restore":
                marks = (await room.state(id)).marks
                if marks:
                    mark = marks[act.which % len(marks)]
                    await room.do(cmd.RestoreCheckpoint(id, mark.id, files=False))
            case "fork":
                if len(self.ids) < 3:
                    seq = (await room.state(id)).seq
                    self.ids.append((await room.do(cmd.ForkSession(id, at=1 + act.which * seq // 6))).session)
            case "close":
                await room.do(cmd.CloseSession(id))
            case "hold tools":
                room.hold(*(name for name, tool in room.tools.items() if tool.hold is None))
            case "hold checkpoints":
                room.kept.hold = room.kept.hold or asyncio.Event()
            case "hold model":
                room.models.hold = room.models.hold or asyncio.Event()
            case "let go":
                self._let_go()
            case "tomorrow":
                room.world.clock.ms += DAY_MS
                room.actor(id).wake()
            case "crash":
                self.room = await room.crash()

    async def _change_call(self, act: Act, id: SessionId) -> None:
        room, state = self.room, await self.room.state(id)
        keys = [call.key for call in state.calls.values() if (call.step == "done") is (act.deed == "retry")]
        if act.deed == "retry" and not act.which % 3:
            keys = [call.key for call in made(state)]
        if not keys:
            return
        key = keys[act.which % len(keys)]
        match act.deed:
            case "edit":
                self.said.add(path := f"mine-{len(self.said)}.txt")
                await room.do(cmd.EditCall(id, key, f'{{"path":"{path}"}}'))
            case "edit outside":
                self.said.add("/etc/passwd")
                await room.do(cmd.EditCall(id, key, '{"path":"/etc/passwd"}'))
            case "cancel":
                await room.do(cmd.CancelCall(id, key, "Not needed."))
            case _:
                self.said.add(f"Make the call {key} again.")
                await room.do(cmd.RetryCall(id, key))


class Lived(msgspec.Struct):
    """What there is to look at of a story that was lived.

    Args:
        events: of each session, as the journal has them.
        states: of each, as its actor had it in the end.
        requests: that models were sent, in their order.
        effects: what ran, and how often; see ``Room``.
        said: every text that the person wrote.
    """

    events: dict[SessionId, list[ev.Event]]
    states: dict[SessionId, Session]
    requests: list[ModelRequest]
    effects: Counter[str]
    said: set[str]
    faults: list[str]
    """What the runtime logged as its own."""


class _Faults(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))


_PATIENCE_S = 60
"""A story that is stuck is found, and none that a loaded machine lives slowly."""


def live(story: Story) -> Lived:
    """Live a story in a new home."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        return asyncio.run(_live(story, Path(folder)))


async def _live(story: Story, folder: Path) -> Lived:
    life, faults = Life(story, folder), _Faults()
    logging.getLogger("stead").addHandler(faults)
    try:
        await life.run()
        room = life.room
        async with asyncio.timeout(_PATIENCE_S):
            while True:  # what is in the journal a moment before it is applied is waited for
                states = {id: await room.state(id) for id in life.ids}
                events = {id: room.world.events(id) for id in life.ids}
                if all(events[id][-1].session_seq == states[id].seq for id in life.ids):
                    break
                await asyncio.sleep(0)
        return Lived(events, states, room.models.requests, room.effects, life.said, faults.told)
    finally:
        logging.getLogger("stead").removeHandler(faults)
        await life.room.leave()
