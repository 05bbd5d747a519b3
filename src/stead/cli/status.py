"""``status``: one screen on how things stand.

Layer: cli. Bar P8 holds for it: four small requests, and no import beyond them.
"""

from __future__ import annotations

import time
from argparse import Namespace

from stead.cli import figures
from stead.cli.forms import command
from stead.cli.invocation import OK, UNREACHABLE, Invocation
from stead.cli.output import clean_line
from stead.client import Json, NoDaemon


def model_line(status: Json) -> str:
    """The default model and its fallbacks, the rehearsal model labelled for what it is."""
    names = [clean_line(f"{ref['provider']}/{ref['model']}") for ref in status["chain"]]
    if status["rehearsal"]:
        return "rehearsal: offline, follows a fixed grammar, is no intelligence; connect one: stead providers presets"
    return names[0] + (f", then {', '.join(names[1:])}" if names[1:] else "")


def _status(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    try:
        status = client.get("/status")
    except NoDaemon as error:
        if out.as_json:
            out.json({"running": False, "home": str(invocation.home.root), "why": error.message})
        else:
            out.pairs([("daemon", f"not running, home {str(invocation.home.root)!r}"), ("next", "stead up")])
        return UNREACHABLE
    running = len(client.get("/objectives", status="running", limit=500)["items"])
    approvals = client.get("/approvals", status="pending", limit=500)["items"]
    reviews = client.get("/reviews")["items"]
    if out.as_json:
        counts = {"objectives_running": running, "approvals_pending": len(approvals), "reviews_wanted": len(reviews)}
        return invocation.report({"running": True, **status, **counts})
    isolation, address = status["isolation"], client.address
    sandbox = clean_line(isolation["statement"])
    if not isolation["available"]:
        sandbox = f"{out.style('off', 'yellow')}: {sandbox} See: stead doctor"
    waiting = "none"
    if approvals:
        waiting = out.style(figures.counted(len(approvals), "question for you", "questions for you"), "yellow")
        waiting += "; see: stead approvals"
    if reviews:
        changes = out.style(figures.counted(len(reviews), "review of changes", "reviews of changes"), "yellow")
        waiting = f"{waiting}, {changes}; see: stead held" if approvals else f"{changes}; see: stead held"
    since = figures.duration(time.time() * 1000 - status["started_ms"])
    rows = [
        ("daemon", f"running for {since}, version {clean_line(status['version'])}, process {address.pid}"),
        ("page", f"http://{clean_line(address.name)}.localhost:{address.port}  (sign in with: stead open)"),
        ("model", model_line(status)),
        ("sandbox", sandbox),
        ("running", figures.counted(running, "objective")),
        ("waiting", waiting),
    ]
    out.pairs(rows)
    return OK


COMMANDS = {"status": command(_status)}
