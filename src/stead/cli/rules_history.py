"""``rules try`` and ``autonomy``: what a change of policy would have done, and how much is asked.

Layer: cli. The daemon judges its history again; here it is said in a sentence or two, and shown call by call.
"""

from __future__ import annotations

import json
from argparse import Namespace

from stead.cli.finding import find_rule
from stead.cli.forms import Row, arg, command, number
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.templates import fill, lines, table
from stead.client import ApiError, Json

_SHIFTS = {
    "unasked": "would no longer be asked",
    "asked": "would be asked",
    "refused": "would be refused",
    "released": "would no longer be refused",
}
_TIMEOUT_S = 120.0
_SHORT_S = 10.0
_CALL = (
    "WHAT: {what} | EVENT: {event} | WHEN: {ts_ms:moment} | SESSION: {session} | TOOL: {tool}"
    " | CALL: {arguments:60} | RULE THEN: {before} | NOW: {after} | ANSWER: {answer}"
)


def _try(invocation: Invocation, arguments: Namespace) -> int:
    try:
        add = [{"id": f"r_{place:08x}", **json.loads(text)} for place, text in enumerate(arguments.add or [])]
    except (TypeError, ValueError) as error:
        way = """stead rules try --add '{"decision": "ask", "where": [{"role": "command", "values": ["make"]}]}'"""
        raise CommandError(f"--add takes a rule as a JSON object: {error}", way) from error
    grants = [{"tool": tool} for tool in arguments.grant or []]
    change: Json = {"add": add, "remove": arguments.remove or [], "grants": grants}
    change |= {"last": arguments.last, "examples": arguments.examples}
    change |= {"profile": arguments.profile} if arguments.profile else {}
    found = invocation.client.post("/rules/simulate", change, timeout_s=_TIMEOUT_S)
    if invocation.as_json:
        return invocation.report(found)
    out = invocation.out
    out.lines([*lines(_SAID, {**found, "differs": len(found["differing"])}), *shifted(found)])
    if found["apart"]:
        out.line(fill("Not compared: {apart} (why: docs/security-model.md).", {"apart": _counts(found["apart"])}))
    if found["examples"]:
        table(out, _CALL, [{**row, "what": _SHIFTS[row["shift"]]} for row in found["examples"]])
    return OK


def tried(invocation: Invocation, change: Json) -> Json | None:
    """A change of policy, tried on the last 500 verdicts; nothing, and a note, where that is not known within 10 s."""
    try:
        return invocation.client.post("/rules/simulate", {"last": 500, "examples": 0, **change}, timeout_s=_SHORT_S)
    except ApiError as error:
        invocation.out.note(f"note: not tried on your last calls: {error.message}")
        return None


def note_tried(invocation: Invocation, change: Json) -> None:
    """Say what a change would have done to the last calls, before it takes effect."""
    if not invocation.as_json and (found := tried(invocation, change)) and found["calls"]:
        said = "note: of your last {calls:#call}, judged as this allows: {moved}"
        invocation.out.note(fill(said, found | {"moved": " ".join(shifted(found))}))


def otherwise(found: Json) -> int:
    """How many verdicts of the record this version of Stead would give otherwise."""
    return len(found["differing"]) + int(found["apart"].get("older", 0))


def shifted(found: Json) -> list[str]:
    """What a simulation moves, a line each; one line where it moves nothing."""
    said = "{calls:number} {what}; you had said yes to {given:number} and no to {denied:number}."
    moved = [fill(said, {"what": _SHIFTS[row["shift"]], **row}) for row in found["shifts"]]
    return moved or ["It would have changed nothing."]


_SAID = (
    "Of your last {calls:#call}, judged again ({same:number} of {verdicts:#verdict} as recorded):\n"
    "[{differs:#verdict} came out otherwise, which is a fault of Stead: see stead audit show]"
)
TRY: Row = (
    "try a change of policy on your own history; it changes nothing",
    (
        arg("--add RULE...", "a rule as JSON, as `stead rules --json` shows it"),
        arg("--remove ID...", "a standing rule", find_rule),
        arg("--profile PROFILE", "for every session", choices=("work", "ask", "readonly"), default=None),
        arg("--grant TOOL...", "a tool granted ahead in every session"),
        number("--last N", 2000, "verdicts to look at (2000)", most=20_000),
        number("--examples N", 5, "calls of each kind to show (5)", least=0, most=100),
    ),
    _try,
)
_WEEK = (
    "WEEK FROM: {since} | >TASKS: {tasks:number} | >ASKS: {asks:number} | >A TASK: {each:share}"
    " | >YES: {yes:percent} | >MEDIAN: {median_ms:duration} | ABOUT: {about} | NOTE: {warning}"
)
_GRANT = (
    "TOOL: {tool} | SHAPE: {shape:40} | WHERE: {where} | SINCE: {since_ms:moment}"
    " | ENDS: {expires_at_ms:moment} | >USED: {used:number}"
)
_RULE = "PROPOSAL: always {decision} | TOOL: {tools} | WHERE: {where} | >QUESTIONS: {asks:number} | TRIED: {tried}"


def _autonomy(invocation: Invocation, arguments: Namespace) -> int:
    found = invocation.client.get("/autonomy", weeks=arguments.weeks)
    if invocation.as_json:
        return invocation.report(found)
    out, all_of_it = invocation.out, {**found["overall"], "since": "in all"}
    table(out, _WEEK, [_period(row) for row in (*found["weeks"], all_of_it)])
    if found["overall"]["reflex"]:
        out.line("\nYou answer nearly everything with yes, and at once: make rules of what you always allow.")
    if found["grants"]:
        out.line("\nAllowed ahead now:")
        table(out, _GRANT, [{**row, "where": row["session"] or row["directory"]} for row in found["grants"]])
    if found["proposals"]:
        out.line("\nYou always said yes to these; a rule would spare the questions:")
        table(out, _RULE, [{**row, "where": _where(row), "tried": _tried(row)} for row in found["proposals"]])
    return OK


def _period(row: Json) -> Json:
    answers = max(1, row["given"] + row["denied"])
    shares = {
        "about": _counts(row["about"]),
        "each": row["asks"] / max(1, row["tasks"]),
        "yes": 100 * row["given"] / answers,
    }
    return {**row, **shares, "warning": "reflex?" if row["reflex"] else ""}


def _counts(counted: Json) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted.items())


def _tried(row: Json) -> str:
    return " ".join(shifted(row["history"])) if row["history"] else ""


def _where(row: Json) -> str:
    return " and ".join(f"{one['role']} {one['side']} {', '.join(one['values'])}" for one in row["where"])


COMMANDS = {"autonomy": command(_autonomy, number("--weeks N", 12, "how far back (12)", most=520))}
