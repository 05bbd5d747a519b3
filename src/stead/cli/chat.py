"""``chat``: work in a folder together with the model, at this terminal.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.finding import find_session
from stead.cli.forms import OneOf, arg, command
from stead.cli.invocation import NEEDS_PERSON, CommandError, Invocation
from stead.cli.session_talking import DIRECTORY, OPENED, attach, last_session, open_session
from stead.cli.work_options import folder_of


def _chat(invocation: Invocation, arguments: Namespace) -> int:
    if not invocation.interactive:
        way = "stead session new DIR -m TEXT, or stead run GOAL"
        raise CommandError("there is no terminal to work at", way, exit_code=NEEDS_PERSON)
    directory = folder_of(arguments.directory, "stead chat DIR")
    session: str = arguments.resume
    if arguments.goes_on:
        session = last_session(invocation, directory)
    elif not session:
        session = open_session(invocation, directory, arguments)["session"]
    return attach(invocation, session, wait=False, whole=False)


_WHICH = OneOf(
    arg("--continue", "go on with the session that was used last in the folder", dest="goes_on"),
    arg("--resume ID", "go on with this session, wherever it works", find_session),
)
COMMANDS = {"chat": command(_chat, DIRECTORY, _WHICH, *OPENED)}
