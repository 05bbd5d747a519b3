"""R2: from a person's STOP to the death of what it stops, while other sessions keep the loop busy.

In the middle of a tool it is a ``sleep`` in the sandbox with every process between it and the daemon, each watched by
a pidfd. In the middle of a stream it is the model's connection, seen to close at the server. STOP comes by HTTP, by the
command line, whose time holds the start of its own interpreter, from an editor (``session/cancel``), where the end of
the prompt is timed as well, and from ``stead chat`` by Esc, whose time holds the 0.1 s in which it may begin another
key.
"""

from __future__ import annotations

import math
import os
import random
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Protocol

from bench.bar import Bar
from bench.rig import Rig, goal_of, rig
from tests.attacks.test_hostile_editors import HELLO, Wire
from tests.cli.conftest import Cli
from tests.cli.terminal import Terminal, at_terminal
from tests.fakes.models import Call, Seen, Turn
from tests.flows.agents import spawn
from tests.machines.bench import fresh_nap, napping

TRIES = int(os.environ.get("STEAD_BENCH_TRIES", "60"))
BUSY = 3
TARGET_MS = 300
QUIET_MS = 250
DEADLINE_S = 20.0
_ENDLESS = "be busy"
"""The goal, and with it the title, of the sessions that keep the loop busy."""

Times = dict[tuple[str, str], list[float]]
"""Milliseconds, by surface and moment."""


class Surface(Protocol):
    """Where a person works and stops."""

    def give(self, goal: str) -> str:
        """Begin; gives the id."""

    def stop(self, id: str) -> None:
        """STOP."""

    def settle(self, id: str) -> float:
        """Wait until the surface is ready for the next one; gives when it said that this one had stopped, or 0."""


def measure() -> list[Bar]:
    """Every surface, both moments, in turns."""
    with rig([]) as r:
        taken, start_ms = stop_times(r, TRIES)
    interpreter = f"an empty Python takes {statistics.median(start_ms):.0f} ms of each"
    notes = {"CLI": interpreter, "chat": "100 ms of each are the wait for the rest of a key"}
    ids = {"API": "R2", "CLI": "R2.cli", "ACP": "R2.acp", "chat": "R2.chat"}
    quiet = _bar("R2.quiet", "ACP", taken, "answered", QUIET_MS, "from session/cancel to the answer of the prompt")
    return [*(_bar(id, name, taken, "", TARGET_MS, notes.get(name, "")) for name, id in ids.items()), quiet]


def stop_times(r: Rig, tries: int, busy_sessions: int = BUSY) -> tuple[Times, list[float]]:
    """The times of so many tries from each surface, beside busy sessions, and those that an empty Python takes."""
    taken: Times = {}
    start_ms: list[float] = []
    r.model.script = busy
    with ExitStack() as stack:
        surfaces: dict[str, Surface] = {"API": _Api(r), "CLI": _Cli(r)}
        surfaces |= {"ACP": stack.enter_context(_editor(r)), "chat": _Chat(r, stack)}
        for _ in range(tries):
            _keep_busy(r, busy_sessions)
            for name, surface in surfaces.items():
                for moment, timed in _MOMENTS.items():
                    ms, answered_ms = timed(r, surface)
                    taken.setdefault((name, moment), []).append(ms)
                    if answered_ms:
                        taken.setdefault((name, f"{moment} answered"), []).append(answered_ms)
            start_ms.append(_interpreter_ms())
    return taken, start_ms


def percentile(times: Sequence[float], percent: float) -> float:
    """By the nearest rank."""
    return sorted(times)[math.ceil(len(times) * percent / 100) - 1]


def _bar(id: str, surface: str, taken: Times, what: str, target_ms: int, note: str) -> Bar:
    rows = {at: times for (by, at), times in taken.items() if by == surface and at.endswith("answered") == bool(what)}
    figure = max(percentile(times, 99) for times in rows.values())
    parts = [f"{TRIES} tries each while {BUSY} sessions work"]
    for moment, times in rows.items():
        p50, p99 = (percentile(times, at) for at in (50, 99))
        parts.append(f"mid-{moment} p50 {p50:.0f}, p99 {p99:.0f}, slowest {max(times):.0f} ms")
    parts += [note] if note else []
    unit = f"ms, p99 of STOP by {surface}"
    return Bar(id, figure, unit, f"< {target_ms}", figure < target_ms, {}, "; ".join(parts))


# -- what the model says ---------------------------------------------------------------------------------------------


def busy(seen: Seen) -> Turn:
    """The goal says what a session is for: a call that sleeps, a long answer, three subagents, calls without an end."""
    goal = goal_of(seen)
    if goal.startswith("tree"):
        return Turn("", tuple(spawn(f"nap {nap}") for nap in goal.split()[1:]))
    at = sum(message["role"] == "assistant" for message in seen.body["messages"])
    if "nap" in goal:
        return Turn("", (Call("shell", {"command": f"sleep {goal.split()[-1]}"}),))
    if "talk" in goal:
        return Turn("word " * 4000, delay_s=0.02)
    return Turn(f"Still at it: {at}.", (Call("plan", {"steps": [{"title": f"step {at}"}]}),))


def _keep_busy(r: Rig, many: int) -> None:
    under_way = [row for row in r.house.get("/objectives", status="running")["items"] if row["title"] == _ENDLESS]
    for _ in range(many - len(under_way)):
        r.give(_ENDLESS)


# -- the two moments -------------------------------------------------------------------------------------------------


def _stop_tool_ms(r: Rig, surface: Surface, goal: str = "nap", calls: int = 1) -> tuple[float, float]:
    naps = [fresh_nap() for _ in range(calls)]
    id = surface.give(" ".join((goal, *naps)))
    r.house.until(lambda: all(napping(nap) for nap in naps), "every sleep to begin")
    with _watched([pid for nap in naps for one in napping(nap) for pid in _up_to(one, r.pid)]) as died_at:
        began = time.monotonic()
        surface.stop(id)
        took = died_at() - began
    return took * 1000, max(0.0, surface.settle(id) - began) * 1000


def _stop_stream_ms(r: Rig, surface: Surface) -> tuple[float, float]:
    before = len(r.model.requests())
    id = surface.give("talk")
    r.house.until(lambda: any(goal_of(seen) == "talk" for seen in r.model.requests()[before:]), "the stream to begin")
    time.sleep(random.uniform(0.02, 0.2))
    left_at: list[float] = []
    watcher = Thread(target=_wait_for_leave, args=(r, left_at))
    r.model.left.clear()
    watcher.start()
    began = time.monotonic()
    surface.stop(id)
    watcher.join(DEADLINE_S)
    if not left_at:
        raise AssertionError(f"the connection to the model was still open {DEADLINE_S:g} s after STOP")
    return (left_at[0] - began) * 1000, max(0.0, surface.settle(id) - began) * 1000


def _stop_tree_ms(r: Rig, surface: Surface) -> tuple[float, float]:
    """A session with three subagents, each in a call that sleeps."""
    return _stop_tool_ms(r, surface, "tree", 3)


_MOMENTS = {"tool": _stop_tool_ms, "stream": _stop_stream_ms, "tree": _stop_tree_ms}


def _up_to(pid: int, daemon: int) -> Iterator[int]:
    """A process and those above it, the daemon excluded: the whole chain of its sandbox."""
    while pid not in (daemon, 0):
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])


@contextmanager
def _watched(pids: list[int]) -> Iterator[Callable[[], float]]:
    """Gives a function that waits until all are dead, and says when the last one died."""
    handles = [os.pidfd_open(pid) for pid in dict.fromkeys(pids)]
    ends: list[float] = []
    watcher = Thread(target=_wait_for_deaths, args=(handles, ends))
    watcher.start()

    def died_at() -> float:
        watcher.join(DEADLINE_S)
        if not ends:
            raise AssertionError(f"processes of the sandbox lived on for {DEADLINE_S:g} s after STOP")
        return ends[0]

    try:
        yield died_at
    finally:
        watcher.join(DEADLINE_S)
        for handle in handles:
            os.close(handle)


def _wait_for_deaths(handles: list[int], ends: list[float]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    for handle in handles:
        if not select.select([handle], [], [], deadline - time.monotonic())[0]:
            return
    ends.append(time.monotonic())


def _wait_for_leave(r: Rig, left_at: list[float]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if r.model.left.is_set():
            left_at.append(time.monotonic())
            return
        time.sleep(0.001)


# -- the surfaces ----------------------------------------------------------------------------------------------------


class _Api:
    def __init__(self, r: Rig) -> None:
        self._r = r

    def give(self, goal: str) -> str:
        return self._r.give(goal)

    def stop(self, id: str) -> None:
        self._r.house.post(f"/objectives/{id}/stop", {"why": "bench"})

    def settle(self, id: str) -> float:
        return 0.0


class _Cli(_Api):
    def stop(self, id: str) -> None:
        command = [sys.executable, "-m", "stead", "stop", id]
        environment = self._r.house.environment
        subprocess.run(command, env=environment, capture_output=True, check=True, timeout=DEADLINE_S)


class AcpSurface:
    """An editor, by bare lines."""

    def __init__(self, wire: Wire, directory: str) -> None:
        self._wire = wire
        self._directory = directory
        self._last = 0
        self._since = 0

    def _ask(self, method: str, params: dict[str, object]) -> int:
        self._last += 1
        self._wire.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def _answer(self, id: int) -> dict[str, object]:
        return dict(self._wire.until(lambda line: line.get("id") == id and "method" not in line, self._since)["result"])

    def give(self, goal: str) -> str:
        """As ``Surface.give``."""
        self._since = len(self._wire.lines)
        new = self._ask("session/new", {"cwd": self._directory, "mcpServers": []})
        id = str(self._answer(new)["sessionId"])
        self._ask("session/prompt", {"sessionId": id, "prompt": [{"type": "text", "text": goal}]})
        return id

    def stop(self, id: str) -> None:
        """As ``Surface.stop``."""
        self._prompt = self._last
        self._answered_s: list[float] = []
        watcher = self._watcher = Thread(target=self._wait)
        watcher.start()
        self._wire.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": id}})

    def _wait(self) -> None:
        if self._answer(self._prompt) != {"stopReason": "cancelled"}:
            raise AssertionError("the prompt was not cancelled")
        self._answered_s.append(time.monotonic())

    def settle(self, id: str) -> float:
        """As ``Surface.settle``."""
        self._watcher.join(DEADLINE_S)
        self._answer(self._ask("session/close", {"sessionId": id}))
        return self._answered_s[0]


@contextmanager
def _editor(r: Rig) -> Iterator[AcpSurface]:
    wire = Wire(r.house, r.project)
    try:
        wire.send(HELLO)
        wire.until(lambda line: line.get("id") == 0)
        yield AcpSurface(wire, str(r.project))
    finally:
        wire.leave()


class _Chat:
    def __init__(self, r: Rig, stack: ExitStack) -> None:
        self._r = r
        self._cli = Cli(r.house.home, r.project)
        self._stack = stack.enter_context(ExitStack())
        self._terminal: Terminal | None = None

    def give(self, goal: str) -> str:
        terminal = self._terminal = self._stack.enter_context(at_terminal(self._cli, "chat", rows=40, columns=100))
        terminal.shows("[idle]")
        terminal.type(f"{goal}\r")
        reader = Thread(target=terminal.shows, args=("stopped from cli",))  # a terminal that is not read stands still
        self._reader = reader
        reader.start()
        return ""

    def stop(self, id: str) -> None:
        assert self._terminal
        self._terminal.type("\x1b")

    def settle(self, id: str) -> float:
        self._reader.join(DEADLINE_S)
        self._stack.close()
        return 0.0


def _interpreter_ms() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", ""], check=True, timeout=DEADLINE_S)
    return (time.monotonic() - began) * 1000
