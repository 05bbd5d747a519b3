"""External agents in a living home: set up by the command line, and given tasks by a scripted model."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from tests.fakes.models import Call
from tests.flows.house import Json, LivingHome
from tests.flows.mcp_homes import carry_out, use
from tests.flows.sitting import Sitting

PEAR = (Path(__file__).parents[1] / "fakes" / "acp_agent.py").read_text("utf-8")
VENDOR = "api.pears.example.com"


def add(house: LivingHome, *options: str, host: str = VENDOR) -> None:
    """Set the fake agent up, as a person does."""
    done = house.cli("agent", "add", "pear", "--host", host, *options, "--command", f"python3 -c {shlex.quote(PEAR)}")
    assert done.returncode == 0, done.stderr + done.stdout


def handing(*lines: str, **more: object) -> Call:
    """A call that hands the agent a task."""
    return use("delegate", agent="pear", task="\n".join(lines), **more)


def delegate(house: LivingHome, project: Path, *lines: str, answer: str = "once", **more: object) -> Sitting:
    """A session whose model hands the agent these lines, with every question answered in one way."""
    return carry_out(house, project, handing(*lines, **more), answer=answer)


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
