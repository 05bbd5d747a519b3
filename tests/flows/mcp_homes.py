"""MCP servers in a living home: set up by the command line, and called by a scripted model."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from tests.fakes.models import Call, Seen, Turn
from tests.flows.counting import counting, texts_of
from tests.flows.house import Json, LivingHome
from tests.flows.sitting import Sitting, sit_down

PEARS = (Path(__file__).parents[1] / "fakes" / "mcp_stdio.py").read_text("utf-8")

RESULT = "{{result}}"


def add(
    house: LivingHome, name: str, mode: str = "honest", *options: str, approve: bool = True, cwd: Path | None = None
) -> Json:
    """Set a stdio server up, as a person does; gives its tools by name."""
    done = house.cli("mcp", "add", name, *options, "--command", shlex.join(["python3", "-c", PEARS, mode]), cwd=cwd)
    assert done.returncode == 0, done.stderr + done.stdout
    if approve:
        reviewed = house.cli("mcp", "review", name, "--yes")
        assert reviewed.returncode == 0, reviewed.stderr
    return {tool["tool"]: tool for tool in house.get(f"/mcp/{name}/tools")["items"]}


def use(name: str, /, **arguments: object) -> Call:
    """A call of a tool that stands in no request."""
    return Call("use_tool", {"name": name, "arguments": arguments})


def carry_out(house: LivingHome, project: Path, *calls: Call, answer: str = "once") -> Sitting:
    """A session whose model makes these calls, one a turn. ``RESULT`` in one is the name of the last long result."""
    left = iter(calls)

    def reply(seen: Seen) -> Turn:
        call = next(left, None)
        if call is None:
            return Turn("Done.")
        named = re.findall(r"\br[0-9a-f]{12}\b", texts_of(seen))
        arguments = json.loads(json.dumps(call.arguments).replace(RESULT, named[-1] if named else RESULT))
        return Turn("", calls=(Call(call.tool, arguments),))

    with counting(house, reply, "compatible"):
        sitting = sit_down(house, project)
        sitting.say("count the pears")
        house.until(lambda: sitting.row()["status"] != "idle", "the turn to begin")
        sitting.rest(answer=answer)
    return sitting


def told(sitting: Sitting) -> Sequence[tuple[str, str, str]]:
    """Tool, outcome and text of every call that has ended."""
    return [(body["tool"], body["outcome"], body["text"]) for body in sitting.bodies("tool.finished")]


def home_events(house: LivingHome, kind: str) -> list[Json]:
    """The bodies of the home's events of a type."""
    return [event["body"] for event in house.events("home") if event["body"]["type"] == kind]


def everything(house: LivingHome) -> str:
    """All that was recorded and logged."""
    return json.dumps(house.events()) + house.home.log.read_text("utf-8")
