"""``agent``: external coding agents, which sessions can hand tasks to, and what became of those.

Layer: cli.
"""

from __future__ import annotations

import shlex
from argparse import Namespace

from stead.cli.forms import YES, Act, Listing, Row, arg, family
from stead.cli.invocation import FAILED, CommandError, Invocation
from stead.cli.templates import fill, lines
from stead.cli.text_input import named_values, program_words
from stead.client import Json

_TEST_S = 180.0


def _row(row: Json) -> Json:
    agent = row["agent"]
    return {**row, **agent, "how": shlex.join(agent["command"]), "reach": ", ".join(agent["hosts"])}


def _run(row: Json) -> Json:
    report = row["report"] or {"end": "running", "duration_ms": 0, "asked": 0, "refused": 0, "changed": 0}
    return {**row, **report, "seconds": report["duration_ms"] // 1000}


def _settings(arguments: Namespace) -> Json:
    return {
        "name": arguments.name,
        "command": program_words(arguments.command),
        "hosts": arguments.host,
        "settings": named_values("--set", arguments.set),
        "secrets": named_values("--secret", arguments.secret),
        "method": arguments.method,
        "mode": arguments.mode,
    }


def _show(invocation: Invocation, arguments: Namespace) -> int:
    rows = [row for row in invocation.client.items("/external-agents") if row["agent"]["name"] == arguments.name]
    if not rows:
        raise CommandError(f"no external agent {arguments.name!r} is set up", "stead agent list")
    agent = rows[0]["agent"]
    shown = {**_row(rows[0]), "set": ", ".join(agent["settings"]), "keys": ", ".join(agent["secrets"])}
    return invocation.report(rows[0], *lines(_SHOWN, shown))


def _test(invocation: Invocation, arguments: Namespace) -> int:
    check = invocation.client.post(f"/external-agents/{arguments.name}/test", timeout_s=_TEST_S)
    said = {**check, "name": arguments.name}
    if check["ok"]:
        return invocation.report(check, fill("{name} answered: {text:1000}", said))
    invocation.report(check, fill("{name} could not be asked: {text:2000}", said))
    return FAILED


_SHOWN = (
    "{name}: {how:2000}\n  reaches: {reach:2000}\n[  set: {set:1000}]\n[  keys, as placeholders: {keys:1000}]\n"
    "[  signs in by: {method}]\n[  works in its mode: {mode}]"
)
_LIST = Listing(
    "/external-agents",
    "NAME: {name} | COMMAND: {how:60} | REACHES: {reach:60} | RUNNING: {running}",
    "No external agent is set up. Add one: stead agent add NAME --command LINE --host HOST",
    view=_row,
)
_RUNS = Listing(
    "/external-agents/runs",
    "STARTED: {started_ms:moment} | AGENT: {agent} | SESSION: {session} | CALL: {key} | END: {end}"
    " | >SECONDS: {seconds} | >ASKED: {asked} | >REFUSED: {refused} | >FILES: {changed}",
    "No task was handed to an agent.",
    view=_run,
)
_NAME = arg("name NAME", "a small letter, then up to 30 of a-z, 0-9 and -")
_ADD = (
    _NAME,
    arg("--command LINE", "the program and its arguments; it runs in a machine of its own", required=True),
    arg("--host HOST...", "that its machine may reach: its vendor's"),
    arg("--set NAME=VALUE...", "a variable of its environment; no secret"),
    arg("--secret NAME=SECRET...", "a variable that holds a placeholder of a secret that is bound to one of its hosts"),
    arg("--method ID", "how it signs in, where it has to; stead agent test lists its ways"),
    arg("--mode ID", "which of its modes it works in; choose the one in which it asks"),
)
_ROWS: dict[str, Row] = {
    "list": ("show agents (the default)", (), _LIST),
    "show": ("show how one is set up", (_NAME,), _show),
    "add": (
        "add or change an agent that speaks the Agent Client Protocol",
        _ADD,
        Act("POST /external-agents", "{name} is set up. Next: stead agent test {name}", _settings),
    ),
    "test": ("start one in a machine, and have it say who it is", (_NAME,), _test),
    "runs": ("list the last tasks that agents were handed, and what they came to", (), _RUNS),
    "remove": (
        "forget an agent",
        (_NAME, YES),
        Act("DELETE /external-agents/{name}", "{name} is removed.", confirm="The agent {name} is forgotten."),
    ),
}
COMMANDS = {"agent": family("agent", _ROWS, "list")}
