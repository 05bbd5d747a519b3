"""``rules``: what must never happen, what must be asked, what is always allowed; typed, or from a sentence.

Layer: cli. A sentence only fills in the form: how it is read is shown with examples, and nothing holds before a yes.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from stead.cli.finding import find_folder, find_rule
from stead.cli.forms import YES, Act, Argument, Listing, OneOf, Row, arg, family, number
from stead.cli.invocation import NEEDS_PERSON, CommandError, Invocation
from stead.cli.memory_lines import day
from stead.cli.rules_history import TRY, shifted
from stead.cli.templates import fill
from stead.client import Json

_ROLES = ("host", "recipient", "path", "command", "amount", "account")
_ACTIONS = ("read", "change", "delete", "run", "leave", "send")
_FIELDS = ("decision", "what", "tools", "where", "directory", "expires_at_ms", "text")
_DAY_MS = 86_400_000


def _add(invocation: Invocation, arguments: Namespace) -> int:
    form = _form(arguments)
    if form is not None and arguments.text:
        raise CommandError("a sentence and the flags of the form are two rules", "one of them")
    if form is None and not arguments.text:
        raise CommandError("there is no rule", "stead rules add 'never change infra/'")
    return _make(invocation, arguments, form, "")


def _edit(invocation: Invocation, arguments: Namespace) -> int:
    row = arguments.id
    form = _form(arguments)
    if form is None and not arguments.text:
        raise CommandError("nothing is to change", "a sentence, or flags such as --ask")
    if form is not None:
        given = {name: value for name, value in form.items() if value}
        form = {**{name: row[name] for name in _FIELDS}, "text": "", **given, "id": row["id"]}
    arguments.dir = arguments.dir or row["directory"]
    return _make(invocation, arguments, form, row["id"])


def _make(invocation: Invocation, arguments: Namespace, form: Json | None, replaces: str) -> int:
    """Show what the rule would do, and make it after a yes."""
    asked: Json = {"directory": arguments.dir, **({"rule": form} if form else {"text": arguments.text})}
    preview = invocation.client.post("/rules/preview", asked)
    if form is None and not preview["understood"]:
        read = f"What could be read: {preview['reading']}" if preview["reading"] else ""
        raise CommandError(
            fill("that makes no rule: {why:300}. {read:400}", {"why": preview["why"], "read": read}),
            "say it in other words, or build it from flags: stead rules add --help",
        )
    out = invocation.out
    if not out.as_json:
        _tell(invocation, preview)
    elif not arguments.yes:
        out.json(preview)
    if not arguments.yes:
        if not invocation.interactive:
            again = "the same command with --yes, once the rule above is what you mean"
            raise CommandError("nothing holds before you said yes", again, exit_code=NEEDS_PERSON)
        if input("make it a rule? [y/N] ").strip().casefold() not in ("y", "yes"):
            raise CommandError("nothing was changed", "")
    rule = {name: preview["rule"][name] for name in _FIELDS} | {"id": ""}
    rule["expires_at_ms"] = _expires_ms(vars(arguments)) or rule["expires_at_ms"]
    answer = invocation.client.post("/rules", {"directory": arguments.dir, "rule": rule, "replaces": replaces})
    made = list(invocation.client.items("/rules"))[-1]
    said = fill("{id}: {reading:400}", made)
    return invocation.report(
        {**answer, "rule": made}, said, f"It holds now. Take it back: stead rules remove {made['id']}"
    )


def _tell(invocation: Invocation, preview: Json) -> None:
    """Say what a rule would do: its reading, how many tools it speaks of, and examples."""
    lines = [("rule", preview["reading"])]
    lines += [("speaks of", f"{len(preview['speaks_of'])} of your {preview['tools']} tools")]
    lines += [("catches", call) for call in preview["caught"]] + [("does not", call) for call in preview["passed"]]
    lines += [("at worst", preview["worst"])] if preview["worst"] else []
    lines += [("beware", warning) for warning in preview["warnings"]]
    if past := preview["history"]:
        lines += [("your last", fill("{calls:#call}", past))] + [("", moved) for moved in shifted(past)]
    for label, text in lines:
        invocation.out.line(f"{label:10} {fill('{text:400}', {'text': text})}")


def _form(arguments: Namespace) -> Json | None:
    """The form that the flags fill in; nothing where there are none."""
    given = vars(arguments)
    decision = next((name for name in ("deny", "ask", "allow") if given[name]), "")
    where = [
        {"role": role, "side": side, "values": values}
        for role in _ROLES
        for side in ("inside", "outside")
        if (values := given[f"{role}_{side}" if side == "outside" else role])
    ]
    expires = _expires_ms(given)
    if not (decision or where or given["what"] or given["tool"] or (expires and not given["text"])):
        return None
    if not decision and given.get("part") == "add":
        raise CommandError("the flags do not say what the rule decides", "--deny, --ask or --allow")
    return {
        "id": "",
        "decision": decision,
        "what": given["what"],
        "tools": given["tool"],
        "where": where,
        "directory": given["dir"],
        "expires_at_ms": expires,
    }


def _expires_ms(given: Mapping[str, Any]) -> int:
    """When the rule ends, in milliseconds since 1970; 0 for never."""
    days = int(given["days"])
    return int(time.time() * 1000) + days * _DAY_MS if days else int(given["expires"])


def _view(row: Json) -> Json:
    state = "expired" if row["expired"] else "" if row["confirmed"] else "look: stead rules confirm"
    return {**row, "said": row["text"] or "made by form", "state": state}


def _tool_view(row: Json) -> Json:
    return {**row, "decided": row["decision"] or f"asked: {row['level']}", "named": ", ".join(row["rules"])}


def _show(invocation: Invocation, arguments: Namespace) -> int:
    row = arguments.id
    asked = {"rule": {name: row[name] for name in (*_FIELDS, "id")}, "directory": row["directory"]}
    preview = invocation.client.post("/rules/preview", asked)
    if not invocation.out.as_json:
        _tell(invocation, preview)
    return invocation.report({**row, "preview": preview})


_LIST = Listing(
    "/rules",
    "ID: {id} | DECISION: {decision} | READ AS: {reading:200} | SAID: {said:60} | STATE: {state}",
    "There are no standing rules. Make one: stead rules add 'never change infra/'",
    view=_view,
)
_TOOLS = Listing(
    "/rules/tools",
    "TOOL: {name} | EFFECT: {effect} | DECISION: {decided} | RULES: {named:60}",
    "There are no tools.",
    view=_tool_view,
    more="A rule for one tool: stead rules add --ask --tool NAME",
)
_REMOVE = Act(
    "DELETE /rules/{rule.id}", "{rule.id} holds no longer.", confirm="{rule.id} holds no longer: {rule.reading:path}"
)
_CONFIRM = Act(
    "POST /rules/{rule.id}/confirm", "{rule.id} is confirmed.", confirm="{rule.id} reads now: {rule.reading:path}"
)
_RULE = arg("rule ID", "or its beginning", find_rule.row)
_ID = arg("id ID", "of the rule, or its beginning", find_rule.row)


def _flags() -> tuple[Argument | OneOf, ...]:
    """The flags of the form; the same for a new rule and for one that is changed."""
    inside: list[Any] = [arg(f"--{role} VALUE...", f"where the {role} is one of these") for role in _ROLES]
    outside = [arg(f"--{role}-outside VALUE...", f"where the {role} is none of these") for role in _ROLES]
    return (
        arg("[text SENTENCE]", "such as 'never change infra/'"),
        OneOf(arg("--deny", "forbid it"), arg("--ask", "ask before it"), arg("--allow", "allow it unasked")),
        arg("--what CLASS...", "what a call does", choices=_ACTIONS),
        arg("--tool NAME...", "by this tool alone"),
        *inside,
        *outside,
        arg("--dir DIR", "for this folder alone (else everywhere)", find_folder),
        OneOf(
            number("--days N", 0, "until so many days from now", least=0),
            day("--expires DAY", "until this day begins, as 2027-01-31, in your time zone"),
        ),
        YES,
    )


_ROWS: dict[str, Row] = {
    "list": ("show the rules and how each is read (the default)", (), _LIST),
    "show": ("show what a rule catches, and what it does not", (_ID,), _show),
    "add": ("make a rule of a sentence or of flags, after showing what it does", _flags(), _add),
    "edit": ("change a rule, after showing what it does then", (_ID, *_flags()), _edit),
    "try": TRY,
    "confirm": ("say that a rule of an older home means what it reads", (_RULE, YES), _CONFIRM),
    "remove": ("take a rule back", (_RULE, YES), _REMOVE),
    "tools": ("show every tool, and which rules name it", (), _TOOLS),
}
COMMANDS = {"rules": family("rules", _ROWS, "list")}
