"""``watch``: an objective, or a session, from its id.

Layer: cli.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli.finding import find_objective
from stead.cli.invocation import Command, Invocation, add_verbose_option
from stead.cli.watching import Watch


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("id", help="of the objective, or its beginning")
    parser.add_argument("--wait", action="store_true", help="without a terminal: wait for answers given elsewhere")
    add_verbose_option(parser)


def _watch(invocation: Invocation, arguments: Namespace) -> int:
    session = find_objective(invocation.client, arguments.id)
    row = invocation.client.get(f"/objectives/{session}")  # an unknown one has no events: it would be watched for ever
    if row["kind"] == "session":
        from stead.cli.session_talking import attach

        return attach(invocation, session, wait=arguments.wait, whole=False)
    return Watch(invocation, session, wait=arguments.wait).follow()


COMMANDS = {"watch": Command(_configure, _watch)}
