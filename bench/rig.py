"""What benches of the whole daemon share: a home, a folder to work in, a scripted model over HTTP on loopback.

The daemon runs as in the product: sandbox, policy, encrypted journal with durable writes, all on. The model server runs
in the bench's own process, so that its CPU is not counted.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stead.client.stream import Stream
from stead.domain.ends import WELL
from tests.fakes.models import Call, Seen, ServedModel, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import by_turn, served

UNLIMITED = {"tokens": "unlimited", "usd_micros": "unlimited"}
PATIENT = {"iterations": 1000, "stall": 100, "repetition": 100}


@dataclass
class Rig:
    """A running daemon and where it works."""

    house: LivingHome
    project: Path
    model: ServedModel
    watching: Stream
    """One watcher, by whom the bench hears of ends; a poll would cost the daemon more than it measures."""

    @property
    def pid(self) -> int:
        """The daemon's."""
        assert self.house.process is not None
        return self.house.process.pid

    def run(self, goal: str = "work", *, timeout_s: float = 60) -> str:
        """One objective from creation to its end; gives its id."""
        id = self.give(goal)
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for envelope in self.watching.next(1.0):
                body = envelope["body"]
                if body["type"] == "objective.ended" and envelope["stream"] == id:
                    if body["status"] not in WELL:
                        raise AssertionError(f"the run ended as {body['status']}: {body['summary']}")
                    return id
        raise AssertionError(f"the run did not end within {timeout_s} s")

    def give(self, goal: str = "work") -> str:
        """Create an objective that may use every tool."""
        return self.house.give(goal, self.project, budget=UNLIMITED, limits=PATIENT, allow=["shell", "write", "edit"])


def goal_of(seen: Seen) -> str:
    """The goal of one line that a request's conversation began with; what memory says stands before it."""
    first = next(message["content"] for message in seen.body["messages"] if message["role"] == "user")
    return str(first).rstrip().rpartition("\n")[2]


@contextlib.contextmanager
def rig(turns: Sequence[Turn], *, preset: str = "compatible", **home: Any) -> Iterator[Rig]:
    """A daemon whose model answers each conversation with these turns, then ends it; ``home`` says more of the home."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name, served(by_turn(*turns)) as model:
        project = Path(name) / "project"
        project.mkdir()
        (project / "README.md").write_text("# Quill\n\nNotes.\n", "utf-8")
        house = LivingHome(Path(name) / "home", **home)
        house.start()
        try:
            use_model(house, model.anthropic if preset == "anthropic" else model.openai, preset=preset)
            if preset == "anthropic":
                house.post("/providers/acme/key", {"key": "sk-ant-invented"})
            watching = house.client().stream(house.get("/status")["head"])
            watching.next(1.0)
            yield Rig(house, project, model, watching)
            watching.close()
        finally:
            house.stop()


def reads(count: int) -> list[Turn]:
    """Turns with one sandboxed read each, all different."""
    return [Turn("", calls=(Call("read", {"path": "README.md", "line": n + 1}),)) for n in range(count)]


def plans(count: int) -> list[Turn]:
    """Turns with one in-process call each, all different."""
    return [Turn("", calls=(Call("plan", {"steps": [{"title": f"step {n}"}]}),)) for n in range(count)]


def commands(count: int) -> list[Turn]:
    """Turns with one shell command each, all different."""
    return [Turn("", calls=(Call("shell", {"command": f"true {n}"}),)) for n in range(count)]
