"""A daemon to do jobs with: its model does what a job says, the person says yes to everything, and all is counted."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench import meters
from bench.jobs.job import PERSON, Done, Job, Model, Registry, Unexpected, differing, files_of
from bench.jobs.registry import registry
from stead.client import ApiError
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import in_thread, served
from tests.flows.sitting import Sitting, sit_down

PROFILE = "work"
"""How strict a session is in which the bar is measured."""
COMPARED = "ask"
"""The profile that the same jobs are done in for comparison; "" for none."""
TURN_LIMIT_S = 300.0
_SHOWN = 600
"""Characters of a result that a report shows."""


@dataclass
class Outcome:
    """What became of a job.

    Args:
        job: its name.
        faults: what is wrong with the result; empty for a job that is done.
        questions: what the person was asked, in words.
        reviews: what waited for them at the end of turns, in words; each is a question, too.
        seconds: from the first message until the session was put away.
        cpu_s: of the daemon and its machines.
        slowest: its call that took longest.
        trouble: calls that failed, tests that were to fail among them.
    """

    job: str
    faults: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    reviews: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_s: float = 0.0
    slowest: str = ""
    trouble: list[str] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """How often the person was needed."""
        return len(self.questions) + len(self.reviews)

    def report(self) -> str:
        """Everything that a reader wants to know of a job that failed or asked."""
        parts = {"fault": self.faults, "asked": self.questions, "review": self.reviews, "failed": self.trouble}
        return "\n".join([self.job, *(f"  {kind}: {line}" for kind, lines in parts.items() for line in lines)])


class Worker:
    """The scripted model: goes through one job's part, a reply for each request."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.surprises: list[str] = []
        self._model: Model = _idle()
        self._last: tuple[int, Turn] = (-1, Turn())
        self._begun = False

    def begin(self, model: Model) -> None:
        """Take on a job."""
        self.calls, self.surprises = [], []
        self._model, self._last, self._begun = model, (-1, Turn()), False

    def __call__(self, seen: Seen) -> Turn:
        """Answer one request; the same one again gets the same answer."""
        messages = seen.body["messages"]
        at = sum(message["role"] == "assistant" for message in messages)
        if self._last[0] != at:
            self._last = (at, self._next(messages[-1]))
        return self._last[1]

    def _next(self, newest: Json) -> Turn:
        try:
            told = newest["content"] if newest["role"] == "tool" else ""
            said = self._model.send(told) if self._begun else next(self._model)
        except StopIteration:
            self.surprises.append(f"no more was expected than: {str(newest['content'])[:_SHOWN]}")
            return Turn("I have nothing more to do.")
        except Unexpected as surprise:
            self.surprises.append(f"{self.calls[-1].text[:_SHOWN]}: {str(surprise)[:_SHOWN]}")
            self._model = _idle()
            self._begun = False
            return Turn("This did not go as it should. I stop here.")
        self._begun = True
        if isinstance(said, str):
            return Turn(said)
        self.calls.append(said)
        return Turn("", calls=(said,))


def _idle() -> Model:
    yield "I stopped."
    while True:
        yield "I stopped before."


@dataclass
class Workplace:
    """A running daemon in whose folder jobs are done, one after the other."""

    root: Path
    house: LivingHome
    worker: Worker
    registry: Registry
    profile: str

    def do(self, job: Job) -> Outcome:
        """Do one job from its first message until its session is put away, and look at the result.

        Raises:
            AssertionError: the judge has nothing to say of the untouched project, so it could not fail.
        """
        if missing := job.missing():
            return Outcome(job.name, [f"the system has no {' and no '.join(missing)}"])
        folder = self.root / self.profile / job.name.replace(" ", "-")
        folder.mkdir(parents=True)
        job.make(folder)
        before = files_of(folder)
        assert self._judged(job, folder, frozenset()), f"{job.name}: the judge takes nothing for everything"
        outcome, held = Outcome(job.name), set[str]()
        self.worker.begin(job.model(self.registry))
        began, cpu_s = time.monotonic(), meters.cpu_s(self.pid)
        desk = sit_down(self.house, folder, title=job.name, profile=self.profile)
        for number, message in enumerate(job.says):
            if number:
                job.meanwhile(folder)
            desk.turn(message, timeout_s=TURN_LIMIT_S)
            changed = differing(before, files_of(folder))
            waiting = self._review(desk)
            outcome.reviews += [", ".join(waiting.values())[:_SHOWN]] if waiting else []
            outcome.faults += [f"{path} was in the folder before the review" for path in job.held if path in changed]
            held |= set(waiting)
        self.house.post(f"{desk.path}/close")
        desk.house.until(lambda: desk.row()["status"] == "closed", "the session to be put away")
        outcome.seconds = time.monotonic() - began
        outcome.cpu_s = meters.cpu_s(self.pid) - cpu_s
        outcome.questions = [
            f"{body['tool']} ({body['reason']['rule']}): {body['arguments'][:_SHOWN]}"
            for body in desk.bodies("approval.requested")
        ]
        ends = desk.bodies("tool.finished")
        outcome.trouble = [
            f"{body['tool']} {body['outcome']}: {body['text'][-_SHOWN:].strip()}"
            for body in ends
            if body["outcome"] != "ok"
        ]
        took_ms, call = max(
            (body["duration_ms"], call.text) for body, call in zip(ends, self.worker.calls, strict=True)
        )
        outcome.slowest = f"{took_ms / 1000:.1f} s: {call}"
        outcome.faults += [f"stopped at: {text}" for text in self.worker.surprises]
        outcome.faults += [f"{path} was not held for review" for path in job.held if path not in held]
        outcome.faults += self._judged(job, folder, differing(before, files_of(folder)))
        return outcome

    @property
    def pid(self) -> int:
        """The daemon's."""
        assert self.house.process is not None
        return self.house.process.pid

    def _judged(self, job: Job, folder: Path, touched: frozenset[str]) -> list[str]:
        copy = self.root / "copy"
        shutil.copytree(folder, copy, symlinks=True)
        try:
            return [fault[:_SHOWN] for fault in job.judge(Done(copy, touched))]
        finally:
            shutil.rmtree(copy)

    def _review(self, desk: Sitting) -> dict[str, str]:
        """Look at what waits at the end of a turn, and let all of it into the folder; gives it by path, in words."""
        path = f"/objectives/{desk.id}/trial"
        try:
            waiting = self.house.get(path)["changes"]
        except ApiError as error:
            if error.status == 404:
                return {}
            raise
        seen = [row["digest"] for row in waiting if row["digest"]]
        for row in waiting:
            if row["unseen"] and not row["digest"]:
                whole = self.house.get(path, path=row["path"])["changes"]
                seen += [one["digest"] for one in whole if one["digest"]]
        self.house.post(f"{path}/apply", {"include_protected": True, "seen": seen})
        return {row["path"]: f"{row['path']} ({row['why'] or row['held'] or row['kind']})" for row in waiting}


@contextlib.contextmanager
def workplace(root: Path, profile: str = PROFILE) -> Iterator[Workplace]:
    """A daemon with a scripted model, and a registry that its machines may be allowed to reach."""
    worker = Worker()
    root.mkdir(exist_ok=True)
    name, address = PERSON
    (root / ".gitconfig").write_text(f"[user]\n\tname = {name}\n\temail = {address}\n", "utf-8")
    with in_thread(registry()) as at, served(worker) as model:
        house = LivingHome(root / "home", {"FETCH_PORT": str(at.port)}, "tests.flows.loopback_daemon")
        try:
            house.start()
            use_model(house, model.openai)
            yield Workplace(root, house, worker, at, profile)
            assert not model.flaws, json.dumps(model.flaws)
        finally:
            house.stop()
