"""Objectives by list and one by one, and what can be done to them.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.agents import print_tree, tree_of
from stead.cli.finding import find_objective
from stead.cli.forms import ALL, OBJECTIVE, Act, Listing, arg, command, fields
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.labels import subject_of
from stead.cli.output import Output, clean
from stead.cli.session_control import DELETING, ONE, PAUSE, RESUME, STOP, SWITCH, TO_MODEL, WHY, delete, switch
from stead.cli.session_labels import FILTERS, LABEL_ROWS, QUERY
from stead.cli.session_row import print_row
from stead.cli.spending import BUDGET, LIMITS, budget_of, limits_of
from stead.cli.templates import fill, lines
from stead.client import Json
from stead.domain.ends import ENDS

STATUSES = ("pending", "running", "waiting", "paused", *ENDS)


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    row = client.get(f"/objectives/{arguments.id}")
    steps = list(client.items(f"/objectives/{arguments.id}/steps", limit=200))
    agents = tree_of(client, row)
    if out.as_json:
        return invocation.report({"objective": row, "steps": steps, "agents": agents})
    print_row(out, row)
    print_tree(out, row["id"], agents)
    for step in steps:
        _print_step(out, step)
    if row["pending_approvals"]:
        out.line(fill("\n{pending_approvals:#question} for you: stead approvals", row))
    return OK


def _print_step(out: Output, step: Json) -> None:
    what = f"{fill('{tool}', step)} {subject_of(step['input'])}" if step["tool"] else "reply"
    out.line(out.style(f"step {step['index']}: {what.rstrip()}", "bold"))
    facts = {
        **step,
        "outcome": step["outcome"] or ("under way" if step["tool"] else "said"),
        "tokens": step["tokens_in"] + step["tokens_out"],
        "judged": {"ask": "asked", "deny": "denied"}.get(step["verdict"], ""),
    }
    out.line(fill("  {outcome}, {duration_ms:duration}, {tokens:number} tokens[, {judged} by rule {rule}]", facts))
    if step["reasoning"].strip():
        out.line(fill("  {reasoning:300}", step))
    if step["error"]:
        out.line(f"  {out.style(fill('{error:300}', step), 'red')}")
    out.lines((fill("  ! {text:300}", warning) for warning in step.get("warnings", ())), "yellow")


def _stop(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.id and arguments.all:
        raise CommandError("an ID and --all exclude each other", "stead stop --help")
    if arguments.id:
        return STOP(invocation, arguments)
    answer = invocation.client.post("/stop", {"why": arguments.why})
    said = "Stopped everything: processes are killed and sessions are paused. Resume one with: stead resume ID\n{text}"
    if answer["text"] == "0 stopped":
        said = "Nothing was running; nothing was stopped."
    return invocation.report(answer, *lines(said, answer))


def _message(arguments: Namespace) -> Json:
    if not arguments.text.strip():
        raise CommandError("the message is empty", "stead message ID TEXT")
    return {"text": arguments.text} | ({"to_model": True} if arguments.to_model else {})


def _said(given: Json) -> str:
    return clean(given["text"]) if given.get("intent") else fill("Sent. Watch what it does: stead watch {id}", given)


def _again(arguments: Namespace) -> Json:
    return budget_of(arguments) | limits_of(arguments)


_LIST = Listing(
    "/objectives",
    "ID: {id} | STATUS: {status} | TITLE: {title:120} | >TOKENS: {tokens_used:number} | >COST: {:cost}"
    " | CREATED: {created_ms:age}",
    "[None is {status}.]{status?:No objectives yet. Give one: stead run GOAL}",
    query=("status", *QUERY),
    newest=20,
)
_CANCEL = Act("POST /objectives/{id}/cancel", "{id} is cancelled. Run it again with: stead retry {id}")
_RETRY = Act("POST /objectives/{id}/retry", "{id} runs again. Watch it: stead watch {id}", _again)
_MESSAGE = Act(f"POST {ONE}/messages", _said, _message)
_REVOKE = Act(f"POST {ONE}/revoke", "Taken back: {tool} asks again from now on.", fields("tool"))
_STATUS = arg("--status STATUS", "only those", choices=STATUSES)
_TEXT = arg("text TEXT", "it reads this before its next model request")
_TOOL = arg("tool TOOL", "whose grants end, in this session and in its folder")
_ANY = arg("[id ID]", "an objective; without one, everything is stopped", find=find_objective)
_EVERYTHING = arg("--all", "stop everything (the default)")
COMMANDS = {
    "objectives": command(_LIST, _STATUS, *FILTERS, ALL),
    "show": command(_show, OBJECTIVE),
    **{name: command(does, *declared) for name, (_, declared, does) in LABEL_ROWS.items()},
    "message": command(_MESSAGE, OBJECTIVE, _TEXT, TO_MODEL),
    "pause": command(PAUSE, OBJECTIVE),
    "resume": command(RESUME, OBJECTIVE),
    "cancel": command(_CANCEL, OBJECTIVE),
    "retry": command(_RETRY, OBJECTIVE, *BUDGET, *LIMITS),
    "delete": command(delete, OBJECTIVE, *DELETING),
    "model": command(switch, OBJECTIVE, *SWITCH),
    "stop": command(_stop, _ANY, _EVERYTHING, WHY),
    "revoke": command(_REVOKE, OBJECTIVE, _TOOL),
}
