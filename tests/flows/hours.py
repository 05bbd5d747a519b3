"""A home over hours that the test sets, and a model that counts what it is asked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.models import Seen, Turn
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import served

HOUR_MS = 3_600_000


class Hours:
    """A home whose clock the test sets, with a model that counts what it is asked."""

    def __init__(self, tmp_path: Path, project: Path, **env: str) -> None:
        self._clock = tmp_path / "clock"
        set_clock(self._clock, 0)
        self.project = project
        self.house = LivingHome(
            tmp_path / "hours", env={"CLOCK": str(self._clock), **env}, module="tests.flows.clocked_daemon", forked=True
        )
        self.house.start()
        self.asked: list[str] = []
        self.turns: list[Turn] = []
        self._model = served(self._reply)
        use_model(self.house, self._model.__enter__().openai)
        self.hours = 0

    def _reply(self, seen: Seen) -> Turn:
        self.asked.append(json.dumps(seen.body["messages"]))
        return self.turns.pop(0) if self.turns else Turn("Seen.")

    def row(self) -> Json:
        """The schedule."""
        (row,) = self.house.get("/schedules")["items"]
        return dict(row)

    def runs(self) -> list[Json]:
        """Its runs, oldest first."""
        found = self.house.get(f"/schedules/{self.row()['schedule']['name']}/runs")["items"]
        return [run for run in reversed(found) if run.get("session")]

    def set_clock(self, hours: int) -> None:
        """It is so much later; the clock was set behind the host's back, so a change of nothing has Stead look."""
        self.hours += hours
        set_clock(self._clock, self.hours * HOUR_MS + 60_000)
        self.house.post("/schedules", self.row()["schedule"])

    def later(self, hours: int = 1) -> None:
        """Let time pass, until what is watched was looked at and a run of it has ended."""
        before = self.row()["checked_ms"]
        self.set_clock(hours)
        self.house.until(lambda: self.row()["checked_ms"] > before, "a look", last=self.row())
        self.house.until(self._rests, "the run to end")

    def _rests(self) -> bool:
        row = self.row()
        return not (row["running"] or row["waiting"])

    def close(self) -> None:
        """Let it all go."""
        self.house.stop()
        self._model.__exit__(None, None, None)
