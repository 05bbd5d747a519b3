"""``acp``: editors as clients, over standard input and output.

Layer: cli. Standard output carries the protocol alone. An editor waits for the first answer, so nothing is asked of the
daemon before the editor asks for something of it.
"""

from __future__ import annotations

import io
import shlex
import sys
import threading
from argparse import Namespace
from contextlib import redirect_stderr, redirect_stdout
from functools import partial

from stead import __version__
from stead.cli.forms import command
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean
from stead.cli.work_options import WORK, work_fields
from stead.client import ApiError, Json

_COMMANDS = {
    "diff": "show what changed in the folder since the last checkpoint",
    "changes": "list the files that calls changed",
    "undo": "put a file back: KEY of a call, as /changes lists them",
    "checkpoint": "keep the folder and the conversation as they are now",
    "restore": "go back to a checkpoint",
    "context": "show what the next request carries",
    "compact": "replace the older part of what the model reads by a summary",
    "calls": "list the calls of this turn",
    "plan": "show the plan",
    "budget": "show or raise what the session may spend",
    "show": "show how the session stands and what it cost",
}
"""Those of ``stead session`` that an editor has no place of its own for."""


def _acp(invocation: Invocation, arguments: Namespace) -> int:
    from stead.cli.spending import SESSION_BUDGET
    from stead.cli.starting import start
    from stead.protocols.acp.agent import Agent, Commands
    from stead.protocols.acp.jsonrpc import Peer, take_over_stdio

    fields: Json = work_fields(arguments, SESSION_BUDGET)
    reader, writer = take_over_stdio()
    peer = Peer(reader, writer, lambda text: print(clean(f"stead acp: {text}"), file=sys.__stderr__, flush=True))
    commands = Commands(_COMMANDS, partial(_run, invocation, threading.Lock()))
    agent = Agent(peer, invocation.home, partial(start, invocation), fields, commands, __version__)
    peer.read(agent.take)
    return OK


def _run(invocation: Invocation, printing: threading.Lock, session: str, name: str, words: str) -> str:
    """What a command of ``stead session`` prints."""
    parser, printed = invocation.parser_of("session"), io.StringIO()
    try:
        given = shlex.split(words)
        with printing, redirect_stdout(printed), redirect_stderr(printed):
            arguments = parser.parse_args([name, session, *given])
            arguments.carry_out(invocation, arguments)
    except SystemExit:
        pass  # its help was printed
    except CommandError as error:
        return f"{clean(error.cause)}\nnext: {clean(error.next_step)}"
    except (ApiError, ValueError) as error:
        return f"not done: {clean(str(error))}"
    return f"```\n{printed.getvalue().rstrip()}\n```"


COMMANDS = {"acp": command(_acp, *WORK)}
