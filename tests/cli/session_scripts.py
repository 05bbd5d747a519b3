"""What happens in a turn of a session in the simulator, event by event, as the product records it."""

from __future__ import annotations

import json
from typing import Any

from stead.domain.checkpoints import FileChange, Version
from stead.domain.events import FileChanged, PlanMade, PlanStep
from stead.domain.ids import ApprovalId, CallKey
from stead.domain.work_rows import CallRow
from tests.cli.scripts import finish, judge, reply, start
from tests.cli.session_api import edit_row, take_checkpoint
from tests.cli.simulator import Sitting

DIFF = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
CHANGE = FileChange("notes.txt", "changed", "file", 6, 1, 1, "", DIFF)
ADDED = FileChange("query.sql", "changed", "file", 4, 1, 1, "", "@@ -1,1 +1,1 @@\n--- old\n+++ new\n")
"""A removed line that begins with two dashes, as an SQL comment does."""


def tidy(sitting: Sitting, text: str) -> None:
    """Reads, asks, edits one file, and rests; what the person edits into the call is what runs."""
    sitting.plan = (PlanStep("Read notes.txt", "done"), PlanStep("Write 2 for two", "doing"))
    sitting.happen(PlanMade(sitting.plan, "model"))
    reply(sitting, 1, "I will look first.", ("read", {"path": "notes.txt"}))
    judge(sitting, "call_1_0", "read", "allow")
    start(sitting, "call_1_0", "read", {"path": "notes.txt"})
    finish(sitting, "call_1_0", "read", "one\ntwo\n")
    wanted = {"path": "notes.txt", "old": "two", "new": "2"}
    reply(sitting, 2, "Now the edit.", ("edit", wanted))
    judge(sitting, "call_2_0", "edit", "ask", "edits ask once")
    row = CallRow(CallKey("call_2_0"), "edit", json.dumps(wanted), "asking", ApprovalId("a_00000000000000aa"), False)
    sitting.calls = [row]
    answer = sitting.ask("call_2_0", "edit", wanted)
    if answer in ("", "deny"):
        finish(sitting, "call_2_0", "edit", "the person refused", "denied")
        sitting.calls = []
        sitting.rest("done", "Then I leave it.")
        return
    ran: dict[str, Any] = json.loads(answer) if answer.startswith("{") else wanted
    change(sitting, "call_2_0", ran)
    sitting.calls = []
    reply(sitting, 3, "notes.txt says 2 now.")
    sitting.rest("done", "notes.txt says 2 now.", CHANGE)


def change(sitting: Sitting, key: str, arguments: dict[str, Any]) -> None:
    """A call that changes a file, with the turn's checkpoint before it."""
    start(sitting, key, "edit", arguments)
    sitting.stream({"type": "progress", "session": sitting.id, "what": "checkpoint", "done": 0, "total": 1204})
    sitting.stream({"type": "output.delta", "session": sitting.id, "key": key, "offset": 0, "text": DIFF})
    sitting.happen(take_checkpoint(sitting, why="turn"))
    version = Version(str(arguments["path"]), "c" * 64, 0o644, 6)
    edit_row(sitting, key, CHANGE)
    sitting.happen(FileChanged(CallKey(key), version, version, CHANGE))
    finish(sitting, key, "edit", "edited notes.txt")


def quiet(sitting: Sitting, text: str) -> None:
    """Says one thing and rests."""
    reply(sitting, sitting.turns, f"You said: {text}")
    sitting.rest("done", f"You said: {text}")


def stuck(sitting: Sitting, text: str) -> None:
    """Ends by a limit."""
    reply(sitting, 1, "Again.")
    sitting.rest("stall", "the same call three times")
