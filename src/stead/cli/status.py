"""``status``: the state of the home on one screen.

Layer: cli. Bar P8 holds for it: five small requests, and no import beyond them.
"""

from __future__ import annotations

import time
from argparse import Namespace

from stead.cli import figures
from stead.cli.forms import command
from stead.cli.invocation import FAILED, OK, UNREACHABLE, Invocation
from stead.cli.output import clean_line
from stead.cli.spending import warned_line
from stead.cli.templates import fill, pairs
from stead.cli.top import top
from stead.client import ApiError, Json, NoDaemon


def model_line(status: Json) -> str:
    """The default model and its fallbacks, the rehearsal model labelled for what it is."""
    names = [clean_line(f"{ref['provider']}/{ref['model']}") for ref in status["chain"]]
    if status["rehearsal"]:
        return "rehearsal: offline, follows a fixed grammar, no AI; connect one: stead providers presets"
    return names[0] + (f", then {', '.join(names[1:])}" if names[1:] else "")


def _status(invocation: Invocation, arguments: Namespace) -> int:
    client, out, style = invocation.client, invocation.out, invocation.out.style
    try:
        status = client.get("/status")
    except NoDaemon as error:
        home = str(invocation.home.root)
        found = {"running": False, "home": home, "why": error.message}
        invocation.report(found, f"daemon  not running, home {home!r}", "next    stead up")
        return UNREACHABLE
    try:
        work = client.get("/objectives", status="running", limit=500)["items"]
        running, agents = len(work), sum(row["agents"] for row in work)
        approvals = client.get("/approvals", status="pending", limit=500)["items"]
        reviews = client.get("/reviews")["items"]
        caps = client.get("/cap")
        unsent = sum(bool(row["error"] or row["why"]) for row in client.items("/notifications"))
    except ApiError as error:  # lists need room on the disk; how the daemon stands is most wanted when there is none
        found = {"running": True, **status, "why": error.message}
        invocation.report(found, fill("daemon  running, version {version}", found), fill("lists   {why}", found))
        return FAILED
    if out.as_json:
        counts = {
            "objectives_running": running,
            "subagents_running": agents,
            "approvals_pending": len(approvals),
            "reviews_wanted": len(reviews),
            "caps_warned": caps["warned"],
            "targets_failing": unsent,
        }
        return invocation.report({"running": True, **status, **counts})
    address, isolation = client.address, status["isolation"]
    waiting = []
    if approvals:
        questions = fill("{items:#question for you/questions for you}", {"items": approvals})
        waiting.append(f"{style(questions, 'yellow')}; see: stead approvals")
    if reviews:
        changes = fill("{items:#review of changes/reviews of changes}", {"items": reviews})
        waiting.append(f"{style(changes, 'yellow')}; see: stead held")
    warned = [warned_line(one) for one in caps["warned"][:1]]
    if 0 in {*caps["daily"].values(), *caps["monthly"].values()}:
        warned = ["the cap is 0, so that nothing may run"]
    if unsent:
        waiting.append(f"{style('notifications fail', 'red')}; see: stead notify")
    shown = {
        **status,
        "cap": f"{style(warned[0], 'yellow')}; see: stead cap" if warned else "",
        "since": figures.duration(time.time() * 1000 - status["started_ms"]),
        "pid": address.pid,
        "service": address.service,
        "page": f"http://{address.name}.localhost:{address.port}",
        "model": model_line(status),
        "off": "" if isolation["available"] else f"{style('off', 'yellow')}: ",
        "hint": "" if isolation["available"] else " See: stead doctor",
        "running": running,
        "agents": agents,
        "waiting": ", ".join(waiting) or "none",
    }
    out.pairs(pairs(_ROWS, shown))
    return OK


_ROWS = (
    "daemon: running for {since}, version {version}, process {pid}[, by the service {service}]"
    " | page: {page}  (sign in with: stead open)"
    " | model: {model} | sandbox: {off:raw}{isolation.statement}{hint:raw}"
    " | running: {running:#objective}[, {agents:#subagent}] | waiting: {waiting:raw} | spent: {cap:raw}"
)
COMMANDS = {"status": command(_status), "top": command(top)}
