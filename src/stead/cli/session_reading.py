"""Sessions by list and one by one, and what the next request of one carries.

Layer: cli.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Callable
from itertools import islice

from stead.cli import figures
from stead.cli.budgets import cost_line
from stead.cli.finding import find_session
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.narrating import model_name, subject_of
from stead.cli.output import Output, clean, clean_line
from stead.client import Json

_RECENT = 20
_STYLES = {"running": "cyan", "waiting": "yellow", "idle": "green", "paused": "yellow"}
_LAST_LINES = 20


def _list(invocation: Invocation, arguments: Namespace) -> int:
    everything = getattr(arguments, "all", False)
    found = invocation.client.items("/sessions", limit=200 if everything else _RECENT)
    rows = list(found if everything else islice(found, _RECENT))
    now_ms = time.time() * 1000
    cells = [
        [
            *(row["id"], row["status"], clean_line(row["title"], 32), str(row["turns"])),
            figures.tokens(row["tokens_used"]),
            figures.money(row["usd_micros_used"], known=row["price_known"]),
            *(figures.age(row["updated_ms"], now_ms), clean_line(row["directory"], 60)),
        ]
        for row in rows
    ]
    headings = ["ID", "STATUS", "TITLE", ">TURNS", ">TOKENS", ">COST", "LAST", "FOLDER"]
    invocation.out.rows(rows, headings, cells, "No sessions yet. Sit down to work in a folder: stead session new DIR")
    return OK


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    session = find_session(client, arguments.id)
    row = client.get(f"/sessions/{session}")
    calls = list(client.items(f"/sessions/{session}/calls"))
    watchers = list(client.items(f"/sessions/{session}/watchers"))
    if out.as_json:
        return invocation.report({"session": row, "calls": calls, "watchers": watchers})
    _print_row(out, row, watchers)
    if row["plan"]:
        out.line("plan")
        print_plan(out, row["plan"])
    if calls:
        out.line("calls")
    for call in calls:
        step = clean_line(call["step"])
        out.line(f"  {clean_line(call['key'])}  {step:<8}  {clean_line(call['tool'])} {subject_of(call['arguments'])}")
    if row["pending_approvals"]:
        out.line(f"{figures.counted(row['pending_approvals'], 'question')} for you: stead session attach {session}")
    return OK


def _print_row(out: Output, row: Json, watchers: list[Json]) -> None:
    status = clean_line(row["status"])
    status = out.style(status, _STYLES[status]) if status in _STYLES else status
    why = f" ({clean_line(row['reason'], 200)})" if row["reason"] not in ("", "done") else ""
    out.line(out.style(f"{clean_line(row['id'])}: {clean_line(row['title'])}", "bold"))
    pairs = [("status", status + why), ("turns", str(row["turns"])), ("directory", clean_line(row["directory"]))]
    pairs += [("models", ", then ".join(map(model_name, row["chain"]))), ("used", cost_line(row))]
    pairs.append(("opened", figures.moment(row["created_ms"])))
    if watchers:
        pairs.append(("here", ", ".join(clean_line(watcher["door"]) for watcher in watchers)))
    out.pairs(pairs, indent="  ")
    lines = clean(row["summary"]).strip("\n").split("\n") if row["summary"].strip() else []
    if lines:
        out.line("last words")
    for line in lines[:_LAST_LINES]:
        out.line(f"  {line}".rstrip())
    if len(lines) > _LAST_LINES:
        rest = figures.counted(len(lines) - _LAST_LINES, "more line")
        out.line(f"  … {rest}: stead session export {clean_line(row['id'])}")


def print_plan(out: Output, steps: list[Json]) -> None:
    """A plan, one numbered line a step."""
    for number, step in enumerate(steps, 1):
        out.line(f"  {number}. {clean_line(step['status']):<7} {clean_line(step['title'])}")


def _context(invocation: Invocation, arguments: Namespace) -> int:
    session = find_session(invocation.client, arguments.id)
    row, out = invocation.client.get(f"/sessions/{session}/context"), invocation.out
    if out.as_json:
        return invocation.report(row)
    cells = [
        [
            clean_line(f"{part['kind']} {part['name']}", 48),
            *(str(part["count"]), figures.tokens(part["tokens"]), f"{part['share_percent']:.1f} %"),
            *("yes" if part["cached"] else "", "yes" if part["trimmed"] else ""),
        ]
        for part in row["parts"]
    ]
    out.table(["PART", ">COUNT", ">TOKENS", ">OF WINDOW", "CACHED", "TRIMMED"], cells)
    measured = "as the provider counted" if row["counted"] else "estimated"
    window = f"{figures.tokens(row['tokens'])} of {figures.tokens(row['window_tokens'])} tokens"
    out.line()
    pairs = [("in all", f"{window} ({row['used_percent']:.1f} %), {measured}")]
    pairs.append(("trimmed", f"{row['trimmed_messages']} of {figures.counted(row['messages'], 'message')}"))
    pairs.append(("trims at", f"{figures.tokens(row['trims_at_tokens'])} tokens, the reply's room included"))
    pairs.append(("next", _cost(row)))
    out.pairs(pairs)
    return OK


def _cost(row: Json) -> str:
    model = model_name(row["model"])
    if not row["price_known"]:
        return f"price unknown, with {model}"
    most, least = (figures.money(row[name]) for name in ("usd_micros", "cached_usd_micros"))
    return f"{most} of input at most, {least} from the provider's cache, with {model}"


def _export(invocation: Invocation, arguments: Namespace) -> int:
    session = find_session(invocation.client, arguments.id)
    text, out = invocation.client.text(f"/sessions/{session}/export", format="markdown"), invocation.out
    if not arguments.output:
        if out.as_json:
            out.json({"session": session, "format": "markdown", "text": text})
        else:
            out.write(clean(text) if text.endswith("\n") else clean(text) + "\n")
        return OK
    try:
        descriptor = os.open(arguments.output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise CommandError(f"there is a file {arguments.output!r} already", "give a new one: --output FILE") from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return invocation.report(
        {"session": session, "file": arguments.output}, f"Written to {clean_line(arguments.output)}."
    )


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "list": _list,
    "show": _show,
    "context": _context,
    "export": _export,
}
