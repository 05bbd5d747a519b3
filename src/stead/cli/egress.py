"""``egress``: which hosts the machines of a folder may reach, and what a session's machine did reach.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.finding import find_folder
from stead.cli.forms import OBJECTIVE, Act, Listing, Row, arg, family
from stead.cli.invocation import Invocation
from stead.cli.templates import fill
from stead.client import Json

_HOST = (
    "NAME or *.NAME, with :PORT for another than 80 and 443; localhost:PORT, 192.168.1.20:PORT, NAME.internal:*; or"
    " registries, for those of packages"
)


def _place(arguments: Namespace) -> Json:
    last = {"grants_last": True} if getattr(arguments, "grants_last", False) else {}
    return {"host": arguments.host, "directory": arguments.dir, **last}


def _allowed(said: Json) -> str:
    """With the address at which commands reach a host of this computer."""
    local = said["host"][9:] if said["host"].lower().startswith("localhost:") else ""
    way = "[ Commands reach it through the proxy, at host.docker.internal{local}.]"
    return fill("{host} may be reached from {dir}." + way, {**said, "local": local})


def _named(row: Json) -> Json:
    """What is allowed; a word for many hosts with all of them."""
    return {**row, "hosts": [] if row["hosts"] == [row["host"]] else row["hosts"]}


def _log(invocation: Invocation, arguments: Namespace) -> int:
    events = [event for page in invocation.client.events(arguments.id) for event in page]
    used = [{**event["body"], "ts": event["ts"]} for event in events if event["body"]["type"] == "egress.used"]
    return _LOG.show(invocation, used, arguments)


def _reached(used: Json) -> Json:
    host = f"{used['host']}:{used['port']}" if used["host"] else f"({used['connections']} connections)"
    return {**used, "host": host, "request": f"{used['method']} {used['path']}"}


_LIST = Listing(
    "/egress/hosts",
    "HOST: {host}[ ({hosts})]{grants_last?, and grants last} | FOLDER: {directory}",
    "No host is allowed. Allow one: stead egress allow HOST",
    view=_named,
)
_LOG = Listing(
    "",
    "WHEN: {ts:moment} | VERDICT: {verdict} | HOST: {host} | REQUEST: {request:60} | >UP: {up_bytes}"
    " | >DOWN: {down_bytes} | RULE: {reason.rule}",
    "Its machine reached for nothing.",
    view=_reached,
)
_WHERE = (arg("host HOST", _HOST), arg("--dir DIR", "the folder (else the current one)", find_folder, default="."))
_LAST = arg("--grants-last", "with registries: what you allowed ahead also holds after installing from them")
_REMOVE = Act("POST /egress/hosts/remove", "{host} may no longer be reached from {dir}.", _place)
_ROWS: dict[str, Row] = {
    "list": ("show which hosts are allowed, by folder (the default)", (), _LIST),
    "allow": (
        "let machines that show a folder reach a host",
        (*_WHERE, _LAST),
        Act("POST /egress/hosts", _allowed, _place),
    ),
    "remove": ("take that back", _WHERE, _REMOVE),
    "log": ("list the connections of a session's machine", (OBJECTIVE,), _log),
}
COMMANDS = {"egress": family("egress", _ROWS, "list")}
