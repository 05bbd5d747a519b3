"""P15: what a step costs by the length of its history, on each wire: CPU of the whole step, and of its request alone.

The step is the daemon's: gate, encrypted journal, live events, the request. One session goes on and on with a plan at
each step, over several turns; the model server is in the bench's process, answers without looking, and reads the
daemon's CPU clock when a request has come. The figure of a place is the median of the steps from there on. The server
counts few tokens, so nothing is trimmed and the whole history is sent.

The request alone is ``ProviderModels.reply`` in a process of its own, by the thread's CPU clock.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise
from pathlib import Path

from bench.bar import Bar
from bench.meters import own_cpu_s
from bench.rig import UNLIMITED
from tests.fakes.http import Exchange, Request, serve
from tests.fakes.wire import Call, Turn, anthropic_events, openai_events
from tests.flows.house import LivingHome, use_model
from tests.flows.served import in_thread

WINDOW = 40
FIRST = 10
MOST = {1000: 1.3, 5000: 1.6}
"""By steps of history: how many times as much as at the first place."""
PLACES = (FIRST, *MOST)
TURN = 900
"""Requests of a turn; 1,000 are the most. No place is near the end of one."""
WIRES = {"openai": ("compatible", "P15"), "anthropic": ("anthropic", "P15.anthropic")}
DEADLINE_S = 1800.0

_ALONE = """
import json, statistics, sys, time
import uvloop
from stead.domain.events import ModelRef
from stead.domain.ids import CallKey, RequestNo, SessionId
from stead.domain.messages import AssistantMessage, ResultsMessage, Text, ToolCall, ToolResult, UserMessage
from stead.domain.policies import Label
from stead.domain.ports import ModelRequest
from stead.providers.directory import ProviderConfig
from stead.providers.models import ProviderModels

url, preset, window, *places = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])

def step(number):
    call = ToolCall(CallKey(f"call_{number}_0"), "read", json.dumps({"path": f"src/app/module_{number}.py"}))
    result = ToolResult(call.key, "read", "a line of the file\\n" * 10, Label(), source="workspace")
    return AssistantMessage((Text(f"I look at module {number}."), call)), ResultsMessage((result,))

async def main():
    models = ProviderModels({})
    models.configure([ProviderConfig("here", preset, url, "m")])
    figures = {}
    for place in places:
        messages = (UserMessage("goal", Label()), *(message for at in range(place) for message in step(at)))
        took = []
        for at in range(place, place + window):
            asked = ModelRequest(
                SessionId("s_0000000000000001"), RequestNo(at), (ModelRef("here", "m"),), "Be good.", (), messages, 500
            )
            began = time.thread_time()
            await models.reply(asked, lambda _: None)
            took.append(time.thread_time() - began)
            messages += step(at)
        figures[place] = statistics.median(took[2:]) * 1000
    await models.close()
    print(json.dumps(figures))

uvloop.run(main())
"""


def measure() -> list[Bar]:
    """Both wires, each at 10, 1,000 and 5,000 steps."""
    bars = []
    for wire, (preset, id) in WIRES.items():
        steps, alone = _steps(wire, preset), _alone(wire, preset)
        said = f"{_said('a step', steps)}; {_said('its request alone', alone)}; medians of {WINDOW}"
        for place, most in MOST.items():
            ratio = steps[place] / steps[FIRST]
            unit = f"x the CPU at {FIRST} steps ({wire})"
            bars.append(Bar(f"{id}.{place}", ratio, unit, f"≤ {most}", ratio <= most, {}, said))
    return bars


def _said(what: str, figures: dict[int, float]) -> str:
    return f"{what} {' / '.join(f'{figures[place]:.2f}' for place in PLACES)} ms at {' / '.join(map(str, PLACES))}"


def _steps(wire: str, preset: str) -> dict[int, float]:
    """Milliseconds of the daemon's CPU a step, by steps of history."""
    clock: list[float] = []
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        project = Path(name) / "project"
        project.mkdir()
        house = LivingHome(Path(name) / "home")
        house.start()
        try:
            assert house.process is not None
            pid = house.process.pid
            with in_thread(_server(wire, lambda: clock.append(own_cpu_s(pid)))) as port:
                use_model(house, _url(wire, port), preset=preset)
                if preset == "anthropic":
                    house.post("/providers/acme/key", {"key": "sk-ant-invented"})
                limits = {"iterations": 1000, "stall": 100, "repetition": 100}
                body = {"directory": str(project), "budget": UNLIMITED, "limits": limits}
                _work(house, str(house.post("/sessions", body)["session"]), clock)
        finally:
            house.stop()
    took = [(later - earlier) * 1000 for earlier, later in pairwise(clock)]
    return {place: statistics.median(took[place : place + WINDOW]) for place in PLACES}


def _work(house: LivingHome, session: str, clock: Sequence[float]) -> None:
    """Give the session word after word until it has made all the steps that are looked at."""
    last = PLACES[-1] + WINDOW + 1
    for turn in range(1, last // TURN + 2):
        house.post(f"/sessions/{session}/messages", {"text": f"work {turn}"})
        wanted = min(turn * TURN, last)
        house.until(lambda: len(clock) >= wanted, f"{wanted} steps", timeout_s=DEADLINE_S, poll_s=0.2)  # noqa: B023
        if wanted < last:
            house.until(lambda: house.get(f"/sessions/{session}")["status"] == "idle", "the turn's end")


def _alone(wire: str, preset: str) -> dict[int, float]:
    """Milliseconds of CPU of a request alone, by steps of history."""
    with in_thread(_server(wire, lambda: None)) as port:
        words = [_url(wire, port), preset, str(WINDOW), *map(str, PLACES)]
        done = subprocess.run([sys.executable, "-c", _ALONE, *words], capture_output=True, text=True, check=True)
    return {int(place): ms for place, ms in json.loads(done.stdout).items()}


def _url(wire: str, port: int) -> str:
    return f"http://127.0.0.1:{port}{'/v1' if wire == 'openai' else ''}"


@contextlib.asynccontextmanager
async def _server(wire: str, came: Callable[[], None]) -> AsyncIterator[int]:
    """Answers each request with another plan, the last one of a turn with a report, and looks at none."""
    made = openai_events if wire == "openai" else anthropic_events
    count = 0

    async def handle(request: Request, exchange: Exchange) -> None:
        nonlocal count
        if request.method == "GET":
            await exchange.send(200, b'{"data": [{"id": "m"}]}')
            return
        came()
        count += 1
        plan = Call("plan", {"steps": [{"title": f"step {count}"}]})
        turn = Turn(f"Step {count}.", calls=(plan,)) if count % TURN else Turn("Done.")
        await exchange.start()
        for event in made(turn, "m", count):
            await exchange.chunk(event)
        await exchange.finish()

    async with serve(handle) as port:
        yield port
