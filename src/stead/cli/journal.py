"""``journal``: what happened, asked of the record itself.

Layer: cli.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace

from stead.cli import figures
from stead.cli.finding import find_objective
from stead.cli.invocation import OK, Command, CommandError, Invocation
from stead.cli.output import clean_line
from stead.client import Json

_REBUILD_TIMEOUT_S = 600.0


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(parser))
    search = actions.add_parser("search", help="find words in everything that was said and done")
    search.add_argument("words", nargs="+", metavar="WORD")
    search.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="hits to show (20)")
    show = actions.add_parser("show", help="list the events of one session")
    show.add_argument("id", help="of the objective, its beginning, home or memory")
    show.add_argument("--after", type=int, default=0, metavar="SEQ", help="only events after this one")
    actions.add_parser("open", help="list runs that are open")
    tokens = actions.add_parser("tokens", help="list token use by objective")
    tokens.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="objectives to show (20)")
    actions.add_parser("rebuild", help="build the read models anew from the journal")


def _journal(invocation: Invocation, arguments: Namespace) -> int:
    match arguments.action:
        case "search":
            return _search(invocation, " ".join(arguments.words), arguments.limit)
        case "show":
            return _show(invocation, arguments.id, arguments.after)
        case "open":
            return _open(invocation)
        case "tokens":
            return _tokens(invocation, arguments.limit)
        case _:
            return _rebuild(invocation)


def _search(invocation: Invocation, words: str, limit: int) -> int:
    if not 1 <= limit <= 500:
        raise CommandError(f"-n {limit} is not between 1 and 500", "stead journal search WORD -n 20")
    rows = invocation.client.get("/search", q=words, limit=limit)["items"]
    cells = [
        [str(row["seq"]), row["session"], figures.moment(row["ts_ms"]), row["type"], clean_line(row["excerpt"], 100)]
        for row in rows
    ]
    invocation.out.rows(rows, [">SEQ", "SESSION", "WHEN", "EVENT", "TEXT"], cells, "Nothing was found.")
    return OK


def _show(invocation: Invocation, typed: str, after: int) -> int:
    client, out = invocation.client, invocation.out
    session = typed if typed in ("home", "memory") else find_objective(client, typed)
    shown = 0
    while items := client.get("/events", after=after, streams=session, limit=500)["items"]:
        for envelope in items:
            if out.as_json:
                out.json(envelope)
            else:
                out.line(_event_line(envelope))
        shown += len(items)
        after = items[-1]["seq"]
    if not shown and not out.as_json:
        out.line(f"{clean_line(session)} has no events there.")
    return OK


def _event_line(envelope: Json) -> str:
    body = {name: value for name, value in envelope["body"].items() if name != "type"}
    detail = clean_line(json.dumps(body, ensure_ascii=False), 160) if body else ""
    kind, actor = clean_line(envelope["body"]["type"]), clean_line(envelope["actor"])
    return f"{envelope['seq']:>8}  {figures.moment(envelope['ts'])}  {actor:<6}  {kind:<18}  {detail}".rstrip()


def _open(invocation: Invocation) -> int:
    rows = list(invocation.client.items("/open-runs"))
    now_ms = time.time() * 1000
    cells = [[row["session"], figures.age(row["since_ms"], now_ms), row["what"]] for row in rows]
    invocation.out.rows(rows, ["SESSION", "SINCE", "WHAT"], cells, "No run is open.")
    return OK


def _tokens(invocation: Invocation, limit: int) -> int:
    if limit < 1:
        raise CommandError(f"-n {limit} is not positive", "stead journal tokens -n 20")
    rows = sorted(invocation.client.items("/objectives", limit=500), key=lambda row: -row["tokens_used"])[:limit]
    cells = [
        [
            *(row["id"], figures.tokens(row["tokens_used"]), figures.tokens(row["tokens_reserved"])),
            figures.money(row["usd_micros_used"], known=row["price_known"]),
            *(figures.tokens(row["iterations"]), clean_line(row["title"], 48)),
        ]
        for row in rows
    ]
    headings = ["SESSION", ">TOKENS", ">RESERVED", ">COST", ">REQUESTS", "TITLE"]
    invocation.out.rows(rows, headings, cells, "No objective has used any.")
    return OK


def _rebuild(invocation: Invocation) -> int:
    if invocation.interactive:
        invocation.out.note("building the read models anew; a long history takes a while")
    answer = invocation.client.post("/views/rebuild", timeout_s=_REBUILD_TIMEOUT_S)
    return invocation.report(
        answer, clean_line(answer.get("text") or "The read models are built anew from the journal.")
    )


COMMANDS = {"journal": Command(_configure, _journal)}
