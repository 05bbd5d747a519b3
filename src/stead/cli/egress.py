"""``egress``: which hosts the machines of a folder may reach, and what a session's machine did reach.

Layer: cli.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from stead.cli import figures
from stead.cli.finding import find_objective
from stead.cli.invocation import OK, Command, Invocation
from stead.cli.output import clean_line
from stead.client import Json


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    actions.add_parser("list", help="show which hosts are allowed, by folder (the default)")
    for name, explanation in (("allow", "let machines that show a folder reach a host"), ("remove", "take that back")):
        action = actions.add_parser(name, help=explanation)
        text = (
            "NAME or *.NAME, with :PORT for another than 80 and 443; localhost:PORT, 192.168.1.20:PORT, NAME.internal:*"
        )
        action.add_argument("host", metavar="HOST", help=f"{text}; or registries, for those of packages")
        action.add_argument("--dir", default=".", metavar="DIR", help="the folder (else the current one)")
        if name == "allow":
            text = "with registries: what you allowed ahead also holds after installing from them"
            action.add_argument("--grants-last", action="store_true", help=text)
    log = actions.add_parser("log", help="list the connections of a session's machine")
    log.add_argument("id", help="of the objective, or its beginning")


def _egress(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action or "list":
        case "list":
            return _list(invocation)
        case "log":
            return _log(invocation, arguments.id)
        case action:
            body: Json = {"host": arguments.host, "directory": os.path.realpath(os.path.expanduser(arguments.dir))}
            path = "/egress/hosts" if action == "allow" else "/egress/hosts/remove"
            if action == "allow" and arguments.grants_last:
                body["grants_last"] = True
            answer = invocation.client.post(path, body)
            said = "may be reached from" if action == "allow" else "may no longer be reached from"
            text = f"{arguments.host} {said} {body['directory']}."
            if action == "allow" and arguments.host.lower().startswith("localhost:"):
                text += f" Commands reach it through the proxy, at host.docker.internal{arguments.host[9:]}."
            return invocation.report(answer, clean_line(text, 1000))


def _list(invocation: Invocation) -> int:
    rows = list(invocation.client.items("/egress/hosts"))
    cells = [[_name(row), row["directory"]] for row in rows]
    invocation.out.rows(rows, ["HOST", "FOLDER"], cells, "No host is allowed. Allow one: stead egress allow HOST")
    return OK


def _name(row: Json) -> str:
    """What is allowed; a word for many hosts with all of them."""
    lasts = ", and grants last" if row["grants_last"] else ""
    return row["host"] if row["hosts"] == [row["host"]] else f"{row['host']} ({', '.join(row['hosts'])}){lasts}"


def _log(invocation: Invocation, typed: str) -> int:
    client = invocation.client
    session = find_objective(client, typed)
    found: list[Json] = []
    after = 0
    while items := client.get("/events", after=after, streams=session, limit=500)["items"]:
        found += [envelope for envelope in items if envelope["body"]["type"] == "egress.used"]
        after = items[-1]["seq"]
    cells = [_cells(envelope["ts"], envelope["body"]) for envelope in found]
    headings = ["WHEN", "VERDICT", "HOST", "REQUEST", ">UP", ">DOWN", "RULE"]
    invocation.out.rows([envelope["body"] for envelope in found], headings, cells, "Its machine reached for nothing.")
    return OK


def _cells(at_ms: int, used: Json) -> list[str]:
    host = f"{used['host']}:{used['port']}" if used["host"] else f"({used['connections']} connections)"
    request = clean_line(f"{used['method']} {used['path']}".strip(), 60)
    sizes = [str(used["up_bytes"]), str(used["down_bytes"])]
    return [figures.moment(at_ms), used["verdict"], host, request, *sizes, used["reason"]["rule"]]


COMMANDS = {"egress": Command(_configure, _egress)}
