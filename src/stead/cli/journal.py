"""``journal``: what happened, asked of the record itself.

Layer: cli.
"""

from __future__ import annotations

import json
from argparse import Namespace
from itertools import chain

from stead.cli import figures
from stead.cli.finding import find_objective
from stead.cli.forms import Act, Listing, Row, arg, family, number
from stead.cli.invocation import OK, Invocation
from stead.cli.output import clean_line
from stead.client import Client, Json

_REBUILD_TIMEOUT_S = 600.0


def _find_stream(client: Client, typed: str) -> str:
    return typed if typed in ("home", "memory") else find_objective(client, typed)


def _search(invocation: Invocation, arguments: Namespace) -> int:
    found = invocation.client.get("/search", q=" ".join(arguments.words), limit=arguments.limit)
    return _FOUND.show(invocation, found["items"], arguments)


def _show(invocation: Invocation, arguments: Namespace) -> int:
    none = True
    for envelope in chain.from_iterable(invocation.client.events(arguments.id, arguments.after)):
        none = False
        invocation.report(envelope, "" if invocation.as_json else _event_line(envelope))
    if none and not invocation.as_json:
        invocation.out.line(f"{arguments.id} has no events there.")
    return OK


def _event_line(envelope: Json) -> str:
    body = {name: value for name, value in envelope["body"].items() if name != "type"}
    detail = clean_line(json.dumps(body, ensure_ascii=False), 160) if body else ""
    kind, actor = clean_line(envelope["body"]["type"]), clean_line(envelope["actor"])
    return f"{envelope['seq']:>8}  {figures.moment(envelope['ts'])}  {actor:<6}  {kind:<18}  {detail}".rstrip()


def _tokens(invocation: Invocation, arguments: Namespace) -> int:
    rows = sorted(invocation.client.items("/objectives", limit=500), key=lambda row: -row["tokens_used"])
    return _USED.show(invocation, rows[: arguments.limit], arguments)


_FOUND = Listing(
    "",
    ">SEQ: {seq} | SESSION: {session} | WHEN: {ts_ms:moment} | EVENT: {type} | TEXT: {excerpt:100}",
    "Nothing was found.",
)
_OPEN = Listing(
    "/open-runs", "SESSION: {session} | SINCE: {since_ms:age} | WHAT: {what} | TITLE: {title:40}", "No run is open."
)
_USED = Listing(
    "",
    "SESSION: {id} | >TOKENS: {tokens_used:number} | >RESERVED: {tokens_reserved:number} | >COST: {:cost}"
    " | >REQUESTS: {iterations:number} | TITLE: {title:120}",
    "No objective has used any.",
)
_REBUILD = Act("POST /views/rebuild", "The read models were rebuilt from the journal.", timeout_s=_REBUILD_TIMEOUT_S)
_WORDS = arg("words WORD...")
_STREAM = arg("id ID", "of the objective, its beginning, home or memory", _find_stream)
_AFTER = number("--after SEQ", 0, "only events after this one", least=0)
_ROWS: dict[str, Row] = {
    "search": (
        "find words in everything that was said and done",
        (_WORDS, number("-n --limit N", 20, "hits to show (20)", most=500)),
        _search,
    ),
    "show": ("list the events of one session", (_STREAM, _AFTER), _show),
    "open": ("list runs that are open", (), _OPEN),
    "tokens": ("list token use by objective", (number("-n --limit N", 20, "objectives to show (20)"),), _tokens),
    "rebuild": ("rebuild the read models from the journal; a long history takes a while", (), _REBUILD),
}
COMMANDS = {"journal": family("journal", _ROWS)}
