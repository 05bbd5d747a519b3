"""``trigger``: what comes in from outside and has a goal run: signed webhooks, files, mail.

Layer: cli. A trigger is a schedule that comes due when something arrives, so what is not said here is said there.
"""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from stead.cli.acceptance import DONE_WHEN
from stead.cli.figures import moment
from stead.cli.forms import OBJECTIVE, Act, Listing, Row, arg, family, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.schedules import REMOVE, find, job_of, put, require_new, shown
from stead.cli.templates import lines
from stead.cli.work_options import WORK
from stead.client import Json

_FORMS = ("standard", "github", "stripe", "dropbox", "slack")
_WAYS = "webhook:github, folder:/srv/inbox or mail:imap.example.com"


def _source(arguments: Namespace) -> Json:
    """Where something comes from, as a request has it."""
    kind, _, what = arguments.source.partition(":")
    if kind == "folder" and what:
        return {"type": "drop", "path": os.path.abspath(os.path.expanduser(what))}
    if kind not in ("webhook", "mail") or not what:
        raise CommandError(f"{arguments.source!r} is nothing to wait for", f"--from {_WAYS}")
    if not arguments.key:
        raise CommandError("it needs a secret, by which what comes is known", "stead secret add NAME, then --key NAME")
    if kind == "webhook":
        if what not in _FORMS:
            raise CommandError(f"there is no form {what!r}", f"one of {', '.join(_FORMS)}")
        return {"type": "webhook", "form": what, "secret": arguments.key}
    host, _, port = what.partition(":")
    if not arguments.user or not (port or "993").isdecimal():
        raise CommandError("a mailbox needs its host and a user", "--from mail:imap.example.com --user me@example.com")
    return {
        "type": "mailbox",
        "host": host,
        "port": int(port or 993),
        "user": arguments.user,
        "secret": arguments.key,
        "folder": arguments.mailbox or "INBOX",
        "senders": arguments.sender,
        "proof": arguments.proof,
    }


def _add(invocation: Invocation, arguments: Namespace) -> int:
    require_new(invocation, arguments.name)
    when = {"type": "arrival", "source": _source(arguments), "waiting": arguments.waiting, "hourly": arguments.hourly}
    job = job_of(invocation, arguments)
    code = put(invocation, {"name": arguments.name, "when": when, "job": job})
    row = _row_of(invocation, arguments.name)
    if row["url"] and not invocation.out.as_json:
        invocation.out.line(f"  send to: {row['url']}")
    return code


def _row_of(invocation: Invocation, name: str) -> Json:
    for row in invocation.client.items("/triggers"):
        if row["name"] == name:
            return dict(row)
    raise CommandError(f"there is no trigger {name!r}", "stead trigger list")


def _show(invocation: Invocation, arguments: Namespace) -> int:
    trigger, schedule = _row_of(invocation, arguments.name), find(invocation, arguments.name)
    return invocation.report({**schedule, **trigger}, *shown(invocation, schedule), *lines(_SHOWN, _view(trigger)))


def _view(row: Json) -> dict[str, Any]:
    refused = row["refused"]
    last = f"{moment(refused['last_ms'])}: {refused['why']}" if refused["times"] else ""
    return {**row, "times": refused["times"] or "", "why": last, "at": row["url"] or row["fault"]}


def _tested(answer: Json) -> str:
    if answer["status"] == 200:
        return f"{answer['url']} took it; a run begins. See: stead schedule history"
    return f"{answer['url']} answered {answer['status']}. See: stead trigger show"


_SHOWN = "[  send to: {url}]\n[  fault: {fault}]\n[  refused since the start: {times}, the last at {why}]"
_LIST = Listing(
    "/triggers",
    "NAME: {name} | COMES DUE: {words:60} | WHERE: {at:60} | REFUSED: {times}",
    "Nothing waits for anything. Add a trigger: stead trigger add NAME GOAL --from webhook:github --key NAME",
    view=_view,
)
_NAME = arg("name NAME", "of its schedule: a small letter, then up to 30 of a-z, 0-9 and -")
_FROM = (
    arg("--from FROM", f"what to wait for, such as {_WAYS}", required=True, dest="source"),
    arg("--key NAME", "the secret that proves a webhook, or opens the mailbox; see: stead secret add"),
    arg("--user USER", "to sign in to the mailbox as"),
    arg("--mailbox FOLDER", "the mailbox's folder (INBOX)"),
    arg("--sender DOMAIN...", "take mail from this domain alone, where --proof says that it is"),
    arg("--proof SERVER", "whose Authentication-Results are believed: the name of the mailbox's own server"),
    number("--waiting N", 20, "how many runs may wait for the one before (20)", most=50),
    number("--hourly N", 60, "how many may come in within an hour (60)", most=100),
)
_ROWS: dict[str, Row] = {
    "list": ("show what waits for something to come in (the default)", (), _LIST),
    "add": (
        "run a goal whenever something comes in, with what you allow it here and nothing else",
        (
            _NAME,
            arg("goal GOAL", 'what to reach each time; "-" reads it from standard input'),
            *_FROM,
            arg("--dir D", "the folder to work in (else the current one)", default="."),
            arg("--constraint C...", "a rule to keep"),
            DONE_WHEN,
            *WORK,
        ),
        _add,
    ),
    "review": ("take an objective up again whenever something comes in", (_NAME, OBJECTIVE, *_FROM), _add),
    "show": ("show one: what it waits for, what its runs may use, what it refused", (_NAME,), _show),
    "test": (
        "send it a signed webhook, as its sender would; its run begins",
        (_NAME,),
        Act("POST /triggers/{name}/test", _tested),
    ),
    "remove": REMOVE,
}
COMMANDS = {"trigger": family("trigger", _ROWS, "list")}
