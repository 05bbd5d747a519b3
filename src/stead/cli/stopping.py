"""``stop``: out of band, and quick. With a whole id, or for everything, it is one request.

Layer: cli.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli.finding import find_objective
from stead.cli.invocation import Command, CommandError, Invocation
from stead.cli.output import clean_line


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", default="", help="an objective; without one, everything is stopped")
    parser.add_argument("--all", action="store_true", help="stop everything (the default)")
    parser.add_argument("--why", default="", help="recorded with the stop")


def _stop(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.id and arguments.all:
        raise CommandError("an ID and --all exclude each other", "stead stop --help")
    client = invocation.client
    session = find_objective(client, arguments.id) if arguments.id else ""
    answer = client.post(f"/objectives/{session}/stop" if session else "/stop", {"why": arguments.why})
    said = "Stopped everything: processes are killed and objectives hold. Go on with: stead resume ID"
    if session:
        said = f"Stopped {session}: its processes are killed and it holds. Go on with: stead resume {session}"
    return invocation.report(answer, said, *([clean_line(answer["text"])] if answer["text"] else []))


COMMANDS = {"stop": Command(_configure, _stop)}
