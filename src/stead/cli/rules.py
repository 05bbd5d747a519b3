"""``rules``: what must never happen, what must be asked, what is always allowed; in the person's own sentences.

Layer: cli. A sentence is compiled by the daemon; here it is shown how it was understood, so that nobody relies on a
rule that says something else.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.finding import find_folder, find_rule
from stead.cli.forms import YES, Act, Listing, Row, arg, family
from stead.cli.invocation import Invocation
from stead.cli.rules_history import TRY
from stead.cli.templates import fill
from stead.client import Json

_PLACES = {"tools": "tools", "paths": "files", "hosts": "hosts", "programs": "programs"}


def _add(invocation: Invocation, arguments: Namespace) -> int:
    before = {row["id"] for row in invocation.client.items("/rules")}
    answer = invocation.client.post("/rules", {"text": arguments.text, "directory": arguments.dir})
    rows = list(invocation.client.items("/rules"))
    made = next((row for row in rows if row["id"] not in before), rows[-1])
    said = fill("{id}: {verdict} {understood:200}.", _understood(made))
    next_step = f"It holds at once. Take it back: stead rules remove {made['id']}"
    return invocation.report({**answer, "rule": made}, said, next_step)


def _understood(rule: Json) -> Json:
    """A compiled rule with its words, field by field; what is not said here is not part of it."""
    what = " or ".join(rule["effects"]) or "any call"
    if rule["changing"]:
        what += " that changes something"
    if named := " and ".join(f"{word} {', '.join(rule[key])}" for key, word in _PLACES.items() if rule[key]):
        what += f" anywhere but {named}" if rule["elsewhere"] else f" with {named}"
    return {**rule, "understood": what}


_LIST = Listing(
    "/rules",
    "ID: {id} | VERDICT: {verdict} | RULE: {text:60} | UNDERSTOOD AS: {understood:200}"
    " | FOLDER: {directory|everywhere}",
    'There are no standing rules. Make one: stead rules add "never change infra/"',
    view=_understood,
)
_REMOVE = Act(
    "DELETE /rules/{rule.id}", "{rule.id} holds no longer.", confirm="{rule.id} holds no longer: {rule.text:path}"
)
_SENTENCE = arg("text SENTENCE")
_DIR = arg("--dir DIR", "for this folder alone (else everywhere)", find_folder)
_RULE = arg("rule ID", "or its beginning", find_rule.row)
_ROWS: dict[str, Row] = {
    "list": ("show the rules and how each is understood (the default)", (), _LIST),
    "add": ('make a sentence a rule, like "never change infra/"', (_SENTENCE, _DIR), _add),
    "try": TRY,
    "remove": ("take a rule back", (_RULE, YES), _REMOVE),
}
COMMANDS = {"rules": family("rules", _ROWS, "list")}
