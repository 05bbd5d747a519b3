"""``service``: the processes of a session that run on, such as a development server.

Layer: cli. What a service printed was written by a machine; what a terminal would obey is taken out of it.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.daemon_control import open_browser
from stead.cli.forms import SESSION, Act, Listing, Row, arg, family, number
from stead.cli.invocation import Invocation
from stead.cli.output import clean, clean_line
from stead.client import Json


def _logs(invocation: Invocation, arguments: Namespace) -> int:
    log = invocation.client.get(f"/sessions/{arguments.id}/services/{arguments.name}")
    return invocation.report(log, clean(log["text"]).rstrip("\n"))


def _open(invocation: Invocation, arguments: Namespace) -> int:
    path = f"/sessions/{arguments.id}/services/{arguments.name}/preview"
    url = invocation.client.post(path, {"port": arguments.port})["url"]
    return invocation.report({"url": url, "opened": open_browser(invocation.home, url)}, clean_line(url))


def _state(row: Json) -> Json:
    return {**row, "state": "running" if row["status"] == "running" else f"ended ({row['why']} {row['exit_code']})"}


def _stopped(log: Json) -> str:
    return f"The service {log['service']['name']} {_state(log['service'])['state']}."


_LIST = Listing(
    "/sessions/{id}/services",
    "NAME: {name} | STATE: {state} | PORTS: {shown_ports} | COMMAND: {command:60}",
    "It has no services.",
    view=lambda row: {**_state(row), "shown_ports": " ".join(map(str, row["ports"]))},
)
_NAME = arg("name NAME", "which of its services")
_PORT = number("--port PORT", 0, "which of its ports (0 for the lowest)", least=0, most=65_535)
_ROWS: dict[str, Row] = {
    "list": ("list the services of a session", (SESSION,), _LIST),
    "logs": ("show the last 64 KiB that one printed", (SESSION, _NAME), _logs),
    "stop": ("end one", (SESSION, _NAME), Act("POST /sessions/{id}/services/{name}/stop", _stopped)),
    "open": ("show what one serves in the browser", (SESSION, _NAME, _PORT), _open),
}
COMMANDS = {"service": family("service", _ROWS)}
