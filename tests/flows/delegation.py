"""External agents in a living home: set up by the command line, and given tasks by a scripted model."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.fakes.models import Call, Turn
from tests.flows.counting import counting
from tests.flows.house import Json, LivingHome
from tests.flows.mcp_homes import use
from tests.flows.sitting import Sitting, sit_down

PEAR = (Path(__file__).parents[1] / "fakes" / "acp_agent.py").read_text("utf-8")
VENDOR = "api.pears.example.com"


def add(house: LivingHome, *options: str, host: str = VENDOR) -> None:
    """Set the fake agent up, as a person does."""
    done = house.cli("agent", "add", "pear", "--host", host, *options, "--command", f"python3 -c {shlex.quote(PEAR)}")
    assert done.returncode == 0, done.stderr + done.stdout


def handing(*lines: str, **more: object) -> Call:
    """A call that hands the agent a task."""
    return use("delegate", agent="pear", task="\n".join(lines), **more)


def hand_over(
    house: LivingHome, project: Path, task: Call, *, answer: str = "once", profile: str = "work", timeout_s: float = 60
) -> Sitting:
    """A session whose model makes this call, with every question answered in one way."""
    with handed(house, project, task, profile=profile) as sitting:
        sitting.rest(answer=answer, timeout_s=timeout_s)
    return sitting


@contextlib.contextmanager
def handed(house: LivingHome, project: Path, task: Call, *, profile: str = "work") -> Iterator[Sitting]:
    """The same, under way."""
    turns = iter([Turn("", calls=(task,)), *[Turn("Done.")] * 5])
    with counting(house, lambda _: next(turns), "compatible"):
        sitting = sit_down(house, project, profile=profile)
        sitting.say("count the pears")
        yield sitting


def delegate(
    house: LivingHome, project: Path, *lines: str, answer: str = "once", profile: str = "work", **more: object
) -> Sitting:
    """A session whose model hands the agent these lines."""
    return hand_over(house, project, handing(*lines, **more), answer=answer, profile=profile)


def answered(sitting: Sitting, timeout_s: float = 30, **answers: str) -> None:
    """Answer each question as said for its tool until the session rests; one that is not named stays open."""

    def rests() -> bool:
        for question in sitting.house.get("/approvals", session=sitting.id)["items"]:
            if said := answers.get(question["tool"]):
                body = {"answer": said, "digest": question["digest"], "whole": True, "reason": "not today"}
                sitting.house.post(f"/approvals/{question['id']}/decision", body)
        return sitting.row()["status"] in ("idle", "paused")

    sitting.house.until(rests, "the session to rest", timeout_s=timeout_s)


def report(sitting: Sitting) -> str:
    """What the model read of the run."""
    (end,) = [body for body in sitting.bodies("tool.finished") if body["tool"] == "delegate"]
    return str(end["text"])


def requests(sitting: Sitting) -> Sequence[tuple[str, str, bool]]:
    """Tool, verdict of the gate at first, and whether leave was given, of what the agent asked for."""
    judged = {body["key"]: body["verdict"] for body in reversed(sitting.bodies("call.judged"))}
    given = {body["key"]: body["given"] for body in sitting.bodies("call.answered")}
    return [
        (body["tool"], judged.get(body["key"], ""), given[body["key"]]) for body in sitting.bodies("call.delegated")
    ]


def asked(sitting: Sitting) -> list[Json]:
    """The questions that a person was asked."""
    return sitting.bodies("approval.requested")
