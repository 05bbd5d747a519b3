"""Objectives by list and one by one, and what can be done to them.

Layer: cli.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from itertools import islice

from stead.cli import figures
from stead.cli.budgets import add_budget_options, budget_of, cost_line
from stead.cli.finding import find_objective
from stead.cli.invocation import OK, Command, CommandError, Invocation, add_yes_option
from stead.cli.narrating import model_name, subject_of
from stead.cli.output import Output, clean, clean_line
from stead.client import Json

STATUSES = ("pending", "running", "waiting", "paused", "completed", "failed", "cancelled")
_RECENT = 20
_STYLES = {"running": "cyan", "waiting": "yellow", "completed": "green", "failed": "red"}


def _configure_objectives(parser: ArgumentParser) -> None:
    parser.add_argument("--status", choices=STATUSES, default="", help="only those")
    parser.add_argument("--all", action="store_true", help=f"every one, not only the newest {_RECENT}")


def _objectives(invocation: Invocation, arguments: Namespace) -> int:
    everything = invocation.client.items(
        "/objectives", status=arguments.status, limit=200 if arguments.all else _RECENT
    )
    rows = list(everything if arguments.all else islice(everything, _RECENT))
    now_ms = time.time() * 1000
    cells = [
        [
            *(row["id"], row["status"], clean_line(row["title"], 48), figures.tokens(row["tokens_used"])),
            figures.money(row["usd_micros_used"], known=row["price_known"]),
            figures.age(row["created_ms"], now_ms),
        ]
        for row in rows
    ]
    none = "No objectives yet. Give one: stead run GOAL" if not arguments.status else f"None is {arguments.status}."
    invocation.out.rows(rows, ["ID", "STATUS", "TITLE", ">TOKENS", ">COST", "CREATED"], cells, none)
    return OK


def _configure_id(parser: ArgumentParser) -> None:
    parser.add_argument("id", help="of the objective, or its beginning")


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    session = find_objective(client, arguments.id)
    row = client.get(f"/objectives/{session}")
    steps = list(client.items(f"/objectives/{session}/steps", limit=200))
    if out.as_json:
        return invocation.report({"objective": row, "steps": steps})
    _print_objective(out, row)
    for step in steps:
        _print_step(out, step)
    if row["pending_approvals"]:
        out.line(f"\n{figures.counted(row['pending_approvals'], 'question')} for you: stead approvals")
    return OK


def _print_objective(out: Output, row: Json) -> None:
    status = out.style(row["status"], _STYLES[row["status"]]) if row["status"] in _STYLES else clean_line(row["status"])
    why = f" ({clean_line(row['reason'], 200)})" if row["reason"] not in ("", "done") else ""
    out.line(out.style(f"{clean_line(row['id'])}: {clean_line(row['title'])}", "bold"))
    pairs = [("status", status + why), ("directory", clean_line(row["directory"]))]
    pairs.append(("models", ", then ".join(map(model_name, row["chain"]))))
    pairs += [("used", cost_line(row)), ("created", figures.moment(row["created_ms"]))]
    if row["ended_ms"]:
        pairs.append(("ended", figures.moment(row["ended_ms"])))
    pairs += [("keep", clean_line(constraint)) for constraint in row["constraints"]]
    out.pairs(pairs, indent="  ")
    for title, text in (("goal", row["goal"]), ("summary", row["summary"])):
        if text.strip() and text.strip() != row["title"]:
            out.line(title)
            for line in clean(text).strip("\n").split("\n"):
                out.line(f"  {line}".rstrip())
    if row["plan"]:
        out.line("plan")
        for number, step in enumerate(row["plan"], 1):
            out.line(f"  {number}. {clean_line(step['status']):<7} {clean_line(step['title'])}")


def _print_step(out: Output, step: Json) -> None:
    spent = figures.tokens(step["tokens_in"] + step["tokens_out"])
    what = f"{clean_line(step['tool'])} {subject_of(step['input'])}" if step["tool"] else "reply"
    outcome = clean_line(step["outcome"]) or ("under way" if step["tool"] else "said")
    took = figures.duration(step["duration_ms"])
    out.line(out.style(f"step {step['index']}: {what.rstrip()}", "bold"))
    facts = [outcome, took, f"{spent} tokens"]
    if judged := {"ask": "asked", "deny": "denied"}.get(step["verdict"]):
        facts.append(f"{judged} by rule {clean_line(step['rule'])}")
    out.line(f"  {', '.join(facts)}")
    if step["reasoning"].strip():
        out.line(f"  {clean_line(step['reasoning'], 300)}")
    if step["error"]:
        out.line(f"  {out.style(clean_line(step['error'], 300), 'red')}")
    for warning in step.get("warnings", ()):
        out.line(f"  {out.style('! ' + clean_line(warning['text'], 300), 'yellow')}")


def _doing(action: str, done: str) -> Callable[[Invocation, Namespace], int]:
    """A command that does one thing to one objective and says so."""

    def run(invocation: Invocation, arguments: Namespace) -> int:
        session = find_objective(invocation.client, arguments.id)
        return invocation.report(invocation.client.post(f"/objectives/{session}/{action}"), done.format(id=session))

    return run


def _configure_retry(parser: ArgumentParser) -> None:
    _configure_id(parser)
    add_budget_options(parser)


def _retry(invocation: Invocation, arguments: Namespace) -> int:
    budget = budget_of(arguments)
    session = find_objective(invocation.client, arguments.id)
    answer = invocation.client.post(f"/objectives/{session}/retry", {"budget": budget} if budget else None)
    return invocation.report(answer, f"{session} runs again. Watch it: stead watch {session}")


def _configure_delete(parser: ArgumentParser) -> None:
    _configure_id(parser)
    add_yes_option(parser)


def _delete(invocation: Invocation, arguments: Namespace) -> int:
    session = find_objective(invocation.client, arguments.id)
    title = clean_line(invocation.client.get(f"/objectives/{session}")["title"], 80)
    loss = f"{session}: {title}\nWhat it said and did is erased for good; only its place in the record stays."
    invocation.confirm("delete", loss, yes=arguments.yes)
    answer = invocation.client.post(f"/objectives/{session}/delete")
    return invocation.report(answer, f"{session} is deleted.")


def _configure_message(parser: ArgumentParser) -> None:
    _configure_id(parser)
    parser.add_argument("text", metavar="TEXT", help="it reads this before its next model request")


def _message(invocation: Invocation, arguments: Namespace) -> int:
    if not arguments.text.strip():
        raise CommandError("the message is empty", "stead message ID TEXT")
    session = find_objective(invocation.client, arguments.id)
    answer = invocation.client.post(f"/objectives/{session}/messages", {"text": arguments.text})
    return invocation.report(answer, f"Sent. Watch what it does: stead watch {session}")


def _configure_revoke(parser: ArgumentParser) -> None:
    _configure_id(parser)
    parser.add_argument("tool", metavar="TOOL", help="whose grants end, in this objective and in its folder")


def _revoke(invocation: Invocation, arguments: Namespace) -> int:
    session = find_objective(invocation.client, arguments.id)
    answer = invocation.client.post(f"/objectives/{session}/revoke", {"tool": arguments.tool})
    return invocation.report(answer, f"Taken back: {clean_line(arguments.tool)} asks again from now on.")


_PAUSED = "{id} holds after the step under way. Go on with: stead resume {id}"
COMMANDS = {
    "objectives": Command(_configure_objectives, _objectives),
    "show": Command(_configure_id, _show),
    "message": Command(_configure_message, _message),
    "pause": Command(_configure_id, _doing("pause", _PAUSED)),
    "resume": Command(_configure_id, _doing("resume", "{id} goes on. Watch it: stead watch {id}")),
    "cancel": Command(_configure_id, _doing("cancel", "{id} is cancelled. Run it again with: stead retry {id}")),
    "retry": Command(_configure_retry, _retry),
    "delete": Command(_configure_delete, _delete),
    "revoke": Command(_configure_revoke, _revoke),
}
