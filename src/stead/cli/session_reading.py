"""Sessions by list and one by one, and what the next request of one carries.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.agents import print_tree, tree_of
from stead.cli.forms import ALL, SESSION, Listing, Row, arg
from stead.cli.invocation import OK, Invocation
from stead.cli.labels import model_name, subject_of
from stead.cli.output import clean
from stead.cli.session_labels import FILTERS, QUERY
from stead.cli.session_row import print_row
from stead.cli.templates import fill, pairs, table
from stead.cli.text_input import write_new

_PARTS = (
    "PART: {kind} {name:40} | >COUNT: {count} | >TOKENS: {tokens:number} | >OF WINDOW: {share_percent:percent}"
    " | CACHED: {cached?yes} | TRIMMED: {trimmed?yes}"
)
_SUMS = (
    "in all: {tokens:number} of {window_tokens:number} tokens ({used_percent:percent}),"
    " {counted?as the provider counted:estimated} | trimmed: {trimmed_messages} of {messages:#message}"
    " | trims at: {trims_at_tokens:number} tokens, the reply's room included | next: {cost}, with {model}"
)
_PRICE = "{usd_micros:money} of input at most, {cached_usd_micros:money} from the provider's cache"


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, out, path = invocation.client, invocation.out, f"/sessions/{arguments.id}"
    row = client.get(path)
    calls, watchers = list(client.items(f"{path}/calls")), list(client.items(f"{path}/watchers"))
    agents = tree_of(client, row)
    if out.as_json:
        return invocation.report({"session": row, "calls": calls, "watchers": watchers, "agents": agents})
    print_row(out, row, watchers)
    print_tree(out, row["id"], agents)
    if calls:
        out.line("calls")
    for call in calls:
        step = fill("{step}", call)
        out.line(f"  {fill('{key}', call)}  {step:<8}  {fill('{tool}', call)} {subject_of(call['arguments'])}")
    if row["pending_approvals"]:
        out.line(fill("{pending_approvals:#question} for you: stead session attach {id}", row))
    return OK


def _context(invocation: Invocation, arguments: Namespace) -> int:
    row, out = invocation.client.get(f"/sessions/{arguments.id}/context"), invocation.out
    if out.as_json:
        return invocation.report(row)
    table(out, _PARTS, row["parts"])
    out.line()
    cost = fill(_PRICE, row) if row["price_known"] else "price unknown"
    out.pairs(pairs(_SUMS, {**row, "cost": cost, "model": model_name(row["model"])}))
    return OK


def _export(invocation: Invocation, arguments: Namespace) -> int:
    format = {"md": "markdown"}.get(arguments.format, arguments.format)
    text = invocation.client.text(f"/sessions/{arguments.id}/export", format=format)
    if arguments.output:
        write_new(arguments.output, text)
        wrote = {"session": arguments.id, "file": arguments.output}
        return invocation.report(wrote, fill("Written to {file}.", wrote))
    if invocation.as_json:
        return invocation.report({"session": arguments.id, "format": format, "text": text})
    invocation.out.write(clean(text) if text.endswith("\n") else clean(text) + "\n")
    return OK


_LIST = Listing(
    "/sessions",
    "ID: {id} | STATUS: {status} | TITLE: {title:32} | >TURNS: {turns} | >TOKENS: {tokens_used:number} | >COST: {:cost}"
    " | LAST: {updated_ms:age} | FOLDER: {directory:60}",
    "No sessions yet. Begin to work in a folder: stead session new DIR",
    query=("status", *QUERY),
    newest=20,
)
_STATUS = arg("--status STATUS", "only those", choices=("idle", "running", "waiting", "paused", "closed"))
_OUTPUT = arg("--output FILE", "a new file (else standard output)")
_FORMAT = arg("--format FORMAT", "md unless said", choices=("md", "html", "jsonl"), default="md")
ROWS: dict[str, Row] = {
    "list": ("list sessions (the default)", (_STATUS, *FILTERS, ALL), _LIST),
    "show": ("show how one stands: its last words, plan and open calls", (SESSION,), _show),
    "context": ("show what the next request carries, and what that costs", (SESSION,), _context),
    "export": (
        "write it down: as Markdown, a page of its own, or one item a line",
        (SESSION, _FORMAT, _OUTPUT),
        _export,
    ),
}
