"""``run``: give a goal, start the daemon if needed, and watch.

Layer: cli. What can be seen to be wrong is refused before anything starts; the daemon is the authority on the rest.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from stead.cli.invocation import OK, Command, CommandError, Invocation, add_verbose_option
from stead.cli.output import clean_line
from stead.cli.starting import ensure_daemon
from stead.cli.watching import Watch
from stead.cli.work_options import add_work_options, folder_of, work_fields
from stead.client import Json

GOAL_LIMIT_BYTES = 1_000_000


def _configure(parser: ArgumentParser) -> None:
    parser.usage = "stead run GOAL [options]"
    parser.add_argument("goal", metavar="GOAL", help='what to reach, in your words; "-" reads it from standard input')
    parser.add_argument("--dir", default=".", metavar="D", help="the folder to work in (else the current one)")
    parser.add_argument("--constraint", action="append", default=[], metavar="C", help="a rule to keep; repeatable")
    add_work_options(parser)
    leaving = parser.add_mutually_exclusive_group()
    leaving.add_argument("--detach", action="store_true", help="leave it running in the background")
    leaving.add_argument("--wait", action="store_true", help="without a terminal: wait for answers given elsewhere")
    add_verbose_option(parser)


def _goal(text: str) -> str:
    if text == "-":
        content = sys.stdin.buffer.read(GOAL_LIMIT_BYTES + 1)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            if len(content) <= GOAL_LIMIT_BYTES:
                raise CommandError(f"the goal on standard input is not UTF-8: {error}", "convert it first") from error
            text = content.decode("utf-8", "replace")
    size = len(text.encode("utf-8", "surrogateescape"))
    if not text.strip():
        raise CommandError("the goal is empty", 'stead run "what to reach"')
    if size >= GOAL_LIMIT_BYTES:
        raise CommandError(
            "the goal has 1 MB or more", "put long material into a file of the folder and name the file in the goal"
        )
    return text


def _request(arguments: Namespace) -> Json:
    body: Json = {"goal": _goal(arguments.goal), "directory": folder_of(arguments.dir, "--dir DIR")}
    return body | {"constraints": arguments.constraint} | work_fields(arguments)


def _run(invocation: Invocation, arguments: Namespace) -> int:
    body = _request(arguments)
    client, out = ensure_daemon(invocation), invocation.out
    answer = client.post("/objectives", body)
    session: str = answer["session"]
    if answer["text"]:
        out.note(f"note: {clean_line(answer['text'])}")
    if out.as_json:
        out.json({"type": "started", "id": session})
    if not arguments.detach:
        return Watch(invocation, session, wait=arguments.wait).follow()
    if not out.as_json:
        out.line(
            f"{session} runs in the background.\nwatch it:  stead watch {session}\nstop it:   stead stop {session}"
        )
    return OK


COMMANDS = {"run": Command(_configure, _run)}
