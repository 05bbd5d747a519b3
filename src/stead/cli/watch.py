"""``watch``: an objective, or a session, from its id.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.forms import OBJECTIVE, command
from stead.cli.invocation import Invocation
from stead.cli.watching import Watch
from stead.cli.work_options import VERBOSE, WAIT


def _watch(invocation: Invocation, arguments: Namespace) -> int:
    session = arguments.id
    row = invocation.client.get(f"/objectives/{session}")  # an unknown one has no events: it would be watched for ever
    if row["kind"] == "session":
        from stead.cli.session_talking import attach

        return attach(invocation, session, wait=arguments.wait, whole=False)
    return Watch(invocation, session, wait=arguments.wait).follow()


COMMANDS = {"watch": command(_watch, OBJECTIVE, WAIT, VERBOSE)}
