"""``run``: give a goal, start the daemon if needed, and watch.

Layer: cli. What can be seen to be wrong is refused before anything starts; the daemon is the authority on the rest.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from stead.cli.budgets import add_budget_options, budget_of
from stead.cli.invocation import OK, Command, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.starting import ensure_daemon
from stead.cli.watching import Watch
from stead.client import Json

GOAL_LIMIT_BYTES = 1_000_000


def _configure(parser: ArgumentParser) -> None:
    parser.usage = "stead run GOAL [options]"
    parser.add_argument("goal", metavar="GOAL", help='what to reach, in your words; "-" reads it from standard input')
    parser.add_argument("--dir", default=".", metavar="D", help="the folder to work in (else the current one)")
    parser.add_argument("--title", default="", metavar="T", help="a name for lists (else the goal's first line)")
    parser.add_argument("--constraint", action="append", default=[], metavar="C", help="a rule to keep; repeatable")
    add_budget_options(parser)
    _add_list(parser, "--allow", "TOOL", "tools to use without asking")
    _add_list(parser, "--tools", "TOOL", "offer the model these alone")
    _add_list(parser, "--model", "PROVIDER/MODEL", "model to use, then its fallbacks")
    _add_list(parser, "--host", "HOST", "hosts that its commands may reach without asking")
    _add_list(parser, "--secret", "NAME", "secrets that the model is told of, by name")
    strictness = (
        "strictness; readonly changes nothing; trusted-project takes the folder's files for your own words, and writes "
        "and runs what is in it without asking, until something from elsewhere was read"
    )
    parser.add_argument(
        "--profile", choices=("default", "readonly", "trusted-project"), default="default", help=strictness
    )
    parser.add_argument("--trial", action="store_true", help="keep all changes aside until you have looked at them")
    _add_list(parser, "--unprotect", "PATH", "protected files that it may write, such as AGENTS.md")
    leaving = parser.add_mutually_exclusive_group()
    leaving.add_argument("--detach", action="store_true", help="leave it running in the background")
    leaving.add_argument("--wait", action="store_true", help="without a terminal: wait for answers given elsewhere")


def _add_list(parser: ArgumentParser, name: str, metavar: str, explanation: str) -> None:
    parser.add_argument(name, metavar=metavar, help=explanation, action="extend", nargs="+", default=[])


def parse_model(text: str) -> Json:
    """``provider/model`` as a reference; the model's own name may have slashes in it."""
    provider, separator, model = text.partition("/")
    if not (provider and separator and model):
        raise CommandError(f"{text!r} is no PROVIDER/MODEL", "stead providers list")
    return {"provider": provider, "model": model}


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


def _directory(text: str) -> str:
    path = os.path.realpath(os.path.expanduser(text))
    if not os.path.exists(path):
        raise CommandError(f"there is no directory {text!r}", "give one that exists: --dir DIR")
    if not os.path.isdir(path):
        raise CommandError(f"{text!r} is not a directory", "give the folder to work in: --dir DIR")
    if not os.access(path, os.R_OK | os.X_OK):
        raise CommandError(f"you may not read the directory {text!r}", "choose another, or change its permissions")
    return path


def _split(values: list[str]) -> list[str]:
    return [name for value in values for name in value.split(",") if name]


def _request(arguments: Namespace) -> Json:
    body: Json = {"goal": _goal(arguments.goal), "directory": _directory(arguments.dir)}
    body |= {"title": arguments.title, "constraints": arguments.constraint, "profile": arguments.profile}
    body |= {"tools": _split(arguments.tools), "allow": _split(arguments.allow)}
    if arguments.trial:
        body["mode"] = "trial"
    if released := _split(arguments.unprotect):
        body["unprotected"] = released
    if hosts := _split(arguments.host):
        body["hosts"] = hosts
    if secrets := _split(arguments.secret):
        body["secrets"] = secrets
    body["chain"] = [parse_model(name) for name in arguments.model]
    if budget := budget_of(arguments):
        body["budget"] = budget
    return body


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
