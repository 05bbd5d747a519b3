"""``service``: the processes of a session that run on, such as a development server.

Layer: cli. What a service printed was written by a machine; what a terminal would obey is taken out of it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from stead.cli.daemon_control import open_browser
from stead.cli.finding import find_session
from stead.cli.invocation import OK, Command, CommandError, Invocation
from stead.cli.output import clean, clean_line
from stead.client import Json


def _configure(parser: ArgumentParser) -> None:
    parser.usage = "stead service list|logs|stop|open SESSION [NAME] [--port PORT]"
    parser.add_argument("action", choices=("list", "logs", "stop", "open"), help="open: show what it serves")
    parser.add_argument("session", metavar="SESSION", help="whose, or the beginning of its id")
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="which of its services")
    parser.add_argument(
        "--port", type=int, default=0, metavar="PORT", help="with open: which of its ports (the lowest)"
    )


def _service(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    path = f"/sessions/{find_session(client, arguments.session)}/services"
    if arguments.action == "list":
        rows = list(client.items(path))
        out.rows(rows, ["NAME", "STATE", "PORTS", "COMMAND"], list(map(_cells, rows)), "It has no services.")
        return OK
    if not arguments.name:
        raise CommandError(f"{arguments.action} needs a NAME", f"stead service list {arguments.session}")
    match arguments.action:
        case "logs":
            log = client.get(f"{path}/{arguments.name}")
            return invocation.report(log, clean(log["text"]).rstrip("\n"))
        case "stop":
            log = client.post(f"{path}/{arguments.name}/stop")
            return invocation.report(log, f"The service {arguments.name} {_state(log['service'])}.")
        case _:
            url = client.post(f"{path}/{arguments.name}/preview", {"port": arguments.port})["url"]
            opened = open_browser(invocation.home, url)
            return invocation.report({"url": url, "opened": opened}, clean_line(url))


def _cells(row: Json) -> list[str]:
    return [row["name"], _state(row), " ".join(map(str, row["ports"])), clean_line(row["command"], 60)]


def _state(row: Json) -> str:
    return "running" if row["status"] == "running" else f"ended ({row['why']} {row['exit_code']})"


COMMANDS = {"service": Command(_configure, _service)}
