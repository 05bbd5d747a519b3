"""``rules``: what must never happen, what must be asked, what is always allowed; in the person's own sentences.

Layer: cli. A sentence is compiled by the daemon; here it is shown how it was understood, so that nobody relies on a
rule that says something else.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from stead.cli.invocation import OK, Command, CommandError, Invocation, add_yes_option
from stead.cli.output import clean_line, reveal_line
from stead.client import Json

_PLACES = {"tools": "tools", "paths": "files", "hosts": "hosts", "programs": "programs"}


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    actions.add_parser("list", help="show the rules and how each is understood (the default)")
    add = actions.add_parser("add", help='make a sentence a rule, like "never change infra/"')
    add.add_argument("text", metavar="SENTENCE")
    add.add_argument("--dir", default="", metavar="DIR", help="for this folder alone (else everywhere)")
    remove = actions.add_parser("remove", help="take a rule back")
    remove.add_argument("id", metavar="ID", help="or its beginning")
    add_yes_option(remove)


def _rules(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action or "list":
        case "list":
            return _list(invocation)
        case "add":
            return _add(invocation, arguments.text, arguments.dir)
        case _:
            return _remove(invocation, arguments.id, yes=arguments.yes)


def _list(invocation: Invocation) -> int:
    rows = list(invocation.client.items("/rules"))
    cells = [
        [
            row["id"],
            row["verdict"],
            clean_line(row["text"], 60),
            understood(row),
            clean_line(row["directory"] or "everywhere"),
        ]
        for row in rows
    ]
    empty = 'There are no standing rules. Make one: stead rules add "never change infra/"'
    invocation.out.rows(rows, ["ID", "VERDICT", "RULE", "UNDERSTOOD AS", "FOLDER"], cells, empty)
    return OK


def _add(invocation: Invocation, text: str, folder: str) -> int:
    directory = os.path.realpath(os.path.expanduser(folder)) if folder else ""
    before = {row["id"] for row in invocation.client.items("/rules")}
    answer = invocation.client.post("/rules", {"text": text, "directory": directory})
    rows = list(invocation.client.items("/rules"))
    made = next((row for row in rows if row["id"] not in before), rows[-1])
    said = f"{made['id']}: {made['verdict']} {understood(made)}."
    next_step = f"It holds at once. Take it back: stead rules remove {made['id']}"
    return invocation.report({**answer, "rule": made}, said, next_step)


def _remove(invocation: Invocation, typed: str, *, yes: bool) -> int:
    found = [row for row in invocation.client.items("/rules") if row["id"].startswith(typed)]
    if len(found) != 1:
        raise CommandError(f"{typed!r} names {len(found)} rules", "stead rules", code="not_found")
    id = found[0]["id"]
    invocation.confirm("remove", f"{id} holds no longer: {reveal_line(found[0]['text'])}", yes=yes)
    answer = invocation.client.delete(f"/rules/{id}")
    return invocation.report(answer, f"{id} holds no longer.")


def understood(rule: Json) -> str:
    """A compiled rule in words, field by field; what is not said here is not part of it."""
    what = " or ".join(rule["effects"]) or "any call"
    if rule["changing"]:
        what += " that changes something"
    named = [f"{word} {', '.join(rule[key])}" for key, word in _PLACES.items() if rule[key]]
    if not named:
        return clean_line(what, 200)
    where = f"anywhere but {' and '.join(named)}" if rule["elsewhere"] else f"with {' and '.join(named)}"
    return clean_line(f"{what} {where}", 200)


COMMANDS = {"rules": Command(_configure, _rules)}
