"""``stop``: out of band, and quick. With a whole id, or for everything, it is one request.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.finding import find_objective
from stead.cli.forms import command, flag, option, optional
from stead.cli.invocation import CommandError, Invocation
from stead.cli.templates import lines


def _stop(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.id and arguments.all:
        raise CommandError("an ID and --all exclude each other", "stead stop --help")
    path = f"/objectives/{arguments.id}/stop" if arguments.id else "/stop"
    answer = invocation.client.post(path, {"why": arguments.why})
    said = "Stopped everything: processes are killed and objectives hold. Go on with: stead resume ID\n{text}"
    if arguments.id:
        said = "Stopped {id}: its processes are killed and it holds. Go on with: stead resume {id}\n{text}"
    return invocation.report(answer, *lines(said, {**answer, "id": arguments.id}))


_ID = optional("id ID", "an objective; without one, everything is stopped", find=find_objective)
_ALL = flag("--all", "stop everything (the default)")
COMMANDS = {"stop": command(_stop, _ID, _ALL, option("--why WHY", "recorded with the stop"))}
