"""``service``: Stead itself as a service of the system; and the processes of a session that run on, as a server does.

Layer: cli. What a service printed was written by a machine; what a terminal would obey is taken out of it.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli import service_commands
from stead.cli.daemon_control import open_browser
from stead.cli.finding import find_session
from stead.cli.forms import SESSION, Act, Listing, Row, arg, family, number
from stead.cli.invocation import CommandError, Invocation
from stead.cli.logs import FOLLOW, LINES, logs
from stead.cli.output import clean, clean_line
from stead.client import Json


def _logs(invocation: Invocation, arguments: Namespace) -> int:
    if not arguments.id:
        return logs(invocation, Namespace(follow=arguments.follow, lines=arguments.lines))
    if not arguments.name:
        raise CommandError("the NAME of one of its services is missing", f"stead service list {arguments.id}")
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
_SYSTEM = arg("--system", "for the whole machine, at its start; needs root (else yours alone, at your sign-in)")
_PRINT = arg("--print", "show its file, and do nothing")
_LOG_OF = (
    arg("[id ID]", "of the session (else the log of Stead itself)", find_session),
    arg("[name NAME]", "which of its services"),
)
_ROWS: dict[str, Row] = {
    "install": ("have the system start Stead and keep it running", (_SYSTEM, _PRINT), service_commands.install),
    "uninstall": ("end that; all of your data stays", (_SYSTEM,), service_commands.uninstall),
    "status": ("show whether the system runs Stead, and how that stands", (), service_commands.status),
    "list": ("list the services of a session", (SESSION,), _LIST),
    "logs": ("show Stead's own log, or the last 64 KiB that a session's printed", (*_LOG_OF, FOLLOW, LINES), _logs),
    "stop": ("end one", (SESSION, _NAME), Act("POST /sessions/{id}/services/{name}/stop", _stopped)),
    "open": ("show what one serves in the browser", (SESSION, _NAME, _PORT), _open),
}
COMMANDS = {"service": family("service", _ROWS)}
