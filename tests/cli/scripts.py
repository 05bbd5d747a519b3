"""What an objective does in the simulator, event by event, as the product records it."""

from __future__ import annotations

import json
from typing import Any, Literal

from stead.domain.events import (
    CallJudged,
    ModelReplied,
    ModelRequested,
    PlanMade,
    PlanStep,
    Spend,
    ToolFinished,
    ToolStarted,
)
from stead.domain.ids import CallDigest, CallKey, RequestNo
from stead.domain.messages import Text, ToolCall, Usage
from stead.domain.policies import Label, Reason, Risk
from tests.cli.simulator import Run
from tests.cli.wire import REHEARSAL

PLAN = (PlanStep("Read README.md", "doing"), PlanStep("Write SUMMARY.md"))
CONTENT = "# Headings\n" + "".join(f"- heading {number}\n" for number in range(30))


def reply(run: Run, number: int, text: str, *calls: tuple[str, dict[str, Any]]) -> None:
    """A request and its reply, streamed in three pieces before it is recorded."""
    run.happen(requested(number))
    cut = len(text) // 3
    for start, end in ((0, cut), (cut, 2 * cut), (2 * cut, len(text))):
        piece = {"type": "text.delta", "session": run.id, "number": number, "offset": start, "text": text[start:end]}
        run.stream(piece)
    run.happen(replied(run, number, text, *calls), actor="model")


def requested(number: int = 1) -> ModelRequested:
    """A request."""
    return ModelRequested(RequestNo(number), "", 1, 1000, Spend(2000, 0))


def replied(run: Run, number: int, text: str, *calls: tuple[str, dict[str, Any]]) -> ModelReplied:
    """A whole reply, charged to the run."""
    asked = [
        ToolCall(CallKey(f"call_{number}_{index}"), tool, json.dumps(arguments))
        for index, (tool, arguments) in enumerate(calls)
    ]
    stop: Literal["tool_call", "stop"] = "tool_call" if calls else "stop"
    usage, spend = Usage(500, 120), Spend(620, 1_500)
    run.tokens += spend.tokens
    return ModelReplied(RequestNo(number), (Text(text), *asked), stop, REHEARSAL, usage, spend, (), 80, 20)


def judge(
    run: Run, key: str, tool: str, verdict: Literal["allow", "ask", "deny"], why: str = "read in the workspace"
) -> None:
    """The guardian's verdict on a call."""
    run.happen(CallJudged(CallKey(key), tool, verdict, Reason("rule.name", why), Risk.LOW, CallDigest("d" * 64)))


def start(run: Run, key: str, tool: str, arguments: dict[str, Any]) -> None:
    """A call's start."""
    run.happen(ToolStarted(CallKey(key), tool, json.dumps(arguments), CallDigest("d" * 64), True))


def finish(
    run: Run,
    key: str,
    tool: str,
    text: str,
    outcome: Literal["ok", "error", "denied", "unknown", "cancelled"] = "ok",
) -> None:
    """A call's end."""
    run.happen(ToolFinished(CallKey(key), tool, outcome, text, Label(), len(text), 12))


def summary(run: Run) -> None:
    """Reads a file, asks once, writes another: the first task that people are shown."""
    run.happen(PlanMade(PLAN, "model"))
    reply(run, 1, "I will read the file first.", ("read", {"path": "README.md"}))
    judge(run, "call_1_0", "read", "allow")
    start(run, "call_1_0", "read", {"path": "README.md"})
    finish(run, "call_1_0", "read", "# One\n# Two\n")
    wanted = {"path": "SUMMARY.md", "content": CONTENT}
    reply(run, 2, "Now the summary.", ("write", wanted))
    judge(run, "call_2_0", "write", "ask", "writes ask once")
    answer = run.ask("call_2_0", "write", wanted)
    if answer in ("", "deny"):
        finish(run, "call_2_0", "write", "the person refused", "denied")
        run.end("failed", "evidence", "SUMMARY.md was not written")
        return
    start(run, "call_2_0", "write", wanted)
    finish(run, "call_2_0", "write", "wrote SUMMARY.md")
    reply(run, 3, "SUMMARY.md has the headings.")
    run.end("unverified", "done", "SUMMARY.md has 31 lines.")


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\r\x08\x9b31m\u202egnp.exe\u200b \x07end"


def hostile(run: Run) -> None:
    """Everything that can carry text carries an attack on the terminal."""
    run.happen(PlanMade((PlanStep(HOSTILE),), "model"))
    reply(run, 1, f"text {HOSTILE}", ("shell", {"command": f"echo {HOSTILE}"}))
    judge(run, "call_1_0", "shell", "ask", HOSTILE)
    run.ask("call_1_0", "shell", {"command": f"echo {HOSTILE}\nsecond", HOSTILE: HOSTILE}, reason=HOSTILE)
    start(run, "call_1_0", "shell", {"command": f"echo {HOSTILE}"})
    run.stream({"type": "output.delta", "session": run.id, "key": "call_1_0", "offset": 0, "text": f"{HOSTILE}\n"})
    finish(run, "call_1_0", "shell", f"{HOSTILE}\n" * 9)
    finish(run, "call_1_1", HOSTILE, HOSTILE, "error")
    run.end("failed", "fault", HOSTILE)
