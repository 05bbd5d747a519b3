"""What is done to a session as a whole, the same for an objective and an interactive session.

Layer: cli. Two nouns name these: ``stead VERB`` and ``stead session VERB``.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.forms import YES, Act, Argument, arg, fields
from stead.cli.invocation import Invocation
from stead.cli.labels import model_name
from stead.cli.model_settings import EFFORTS
from stead.cli.templates import fill
from stead.cli.work_options import parse_model
from stead.client import Json
from stead.domain.trash import KEPT_DAYS

ONE = "/sessions/{id}"
_LOSS = "What it said and did is erased for good, its checkpoints too; your folder stays as it is."
PAUSE = Act(f"POST {ONE}/pause", "{id} pauses after the current step. Resume it with: stead resume {id}")
RESUME = Act(f"POST {ONE}/resume", "{id} is running again. Watch it: stead watch {id}")
ERASE = Act(
    *(f"POST {ONE}/delete", "{id} is erased.", fields(now=True)), confirm=f"{{id}}: {{title:80}}\n{_LOSS}", about=ONE
)
_TRASH = Act(
    f"POST {ONE}/delete",
    f"{{id}} is deleted. It is kept for {KEPT_DAYS} days: stead undelete {{id}}\nErase it at once: "
    "stead delete {id} --now",
)
UNDELETE = Act(f"PUT {ONE}/labels", "{id} is back, with all that it had.", fields(trashed=False))
DELETING = (arg("--now", "erase it for good, at once; nothing brings it back"), YES)
STOP = Act(
    f"POST {ONE}/stop",
    "Stopped {id}: its processes are killed and it is paused. Resume it with: stead resume {id}\n{text}",
    fields("why"),
)
TO_MODEL = arg("--to-model", "also what needs none, such as: status, stop, list sessions")
WHY = arg("--why TEXT", "recorded with the stop")


def delete(invocation: Invocation, arguments: Namespace) -> int:
    """Put a session into the trash, which can be taken back; or with ``--now`` erase it, which cannot and asks."""
    return (ERASE if arguments.now else _TRASH)(invocation, arguments)


def switch(invocation: Invocation, arguments: Namespace) -> int:
    """Let other models serve a session or objective from its next request on; with none named, say which do."""
    client, path = invocation.client, ONE.format(id=arguments.id)
    wanted: Json = {"chain": [parse_model(model) for model in arguments.models]} if arguments.models else {}
    if arguments.effort:
        wanted["effort"] = "" if arguments.effort == "none" else arguments.effort
    answer: Json = client.post(f"{path}/model", wanted) if wanted else {}
    row = client.get(path)
    names = {"id": arguments.id, "names": [model_name(ref) for ref in row["chain"]]}
    said = "{id} uses {names:then}"
    if wanted:
        said += " from its next request on"
    return invocation.report(answer or {"id": arguments.id, "chain": row["chain"]}, fill(f"{said}.", names))


SWITCH: tuple[Argument, ...] = (
    arg("[models PROVIDER/MODEL...]", "the model, then its fallbacks (else it is said which it uses)"),
    arg("--effort EFFORT", "how hard they are to think", choices=(*EFFORTS, "none"), default=""),
)
