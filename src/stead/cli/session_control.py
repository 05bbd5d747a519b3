"""What is done to a session as a whole, the same for an objective and an interactive session.

Layer: cli. Two nouns name these: ``stead VERB`` and ``stead session VERB``.
"""

from __future__ import annotations

from stead.cli.forms import Act, arg, fields

ONE = "/sessions/{id}"
_LOSS = "What it said and did is erased for good, its checkpoints too; your folder stays as it is."
PAUSE = Act(f"POST {ONE}/pause", "{id} pauses after the current step. Resume it with: stead resume {id}")
RESUME = Act(f"POST {ONE}/resume", "{id} is running again. Watch it: stead watch {id}")
DELETE = Act(f"POST {ONE}/delete", "{id} is deleted.", confirm=f"{{id}}: {{title:80}}\n{_LOSS}", about=ONE)
STOP = Act(
    f"POST {ONE}/stop",
    "Stopped {id}: its processes are killed and it is paused. Resume it with: stead resume {id}\n{text}",
    fields("why"),
)
WHY = arg("--why TEXT", "recorded with the stop")
