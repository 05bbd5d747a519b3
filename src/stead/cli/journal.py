"""``journal``: what happened, asked of the record itself.

Layer: cli.
"""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import datetime, timedelta
from itertools import chain

from stead.cli import figures
from stead.cli.finding import find_objective
from stead.cli.forms import Act, Listing, Row, arg, family, number
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.templates import fill
from stead.client import Client, Json

_REBUILD_TIMEOUT_S = 600.0


def _find_stream(client: Client, typed: str) -> str:
    return typed if typed in ("home", "memory") else find_objective(client, typed)


def _search(invocation: Invocation, arguments: Namespace) -> int:
    query = {"since_ms": moment_of(arguments.since), "until_ms": moment_of(arguments.until, ends=True)}
    query = {name: value for name, value in {**query, "lines": arguments.context}.items() if value}
    found = invocation.client.get("/search", q=" ".join(arguments.words), limit=arguments.limit, **query)["items"]
    if not arguments.context or invocation.as_json or not found:
        return _FOUND.show(invocation, found, arguments)
    for hit in found:
        invocation.out.line(fill("{seq}  {session}  {ts_ms:moment}  {type}", hit))
        invocation.out.line("".join(f"    {clean_line(line)}\n" for line in hit["excerpt"].split("\n")))
    return OK


def moment_of(text: str, *, ends: bool = False) -> int:
    """The moment that a date, or a date and a time, means here, in milliseconds; 0 for "".

    A date alone is the beginning of its day, or with ``ends`` the end.
    """
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
        moment += timedelta(days=1) if ends and len(text) == len("2026-11-30") else timedelta(0)
        return int(moment.astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError) as error:
        raise CommandError(f"{text!r} is no date", "give one such as 2026-11-30, or 2026-11-30T18:00") from error


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
        (
            _WORDS,
            number("-n --limit N", 20, "hits to show (20)", most=500),
            number("-C --context N", 0, "with so many lines before and after each", most=20),
            arg("--since DATE", "from then on, as 2026-11-01 or 2026-11-01T18:00"),
            arg("--until DATE", "up to then; a day is included"),
        ),
        _search,
    ),
    "show": ("list the events of one session", (_STREAM, _AFTER), _show),
    "open": ("list runs that are open", (), _OPEN),
    "tokens": ("list token use by objective", (number("-n --limit N", 20, "objectives to show (20)"),), _tokens),
    "rebuild": ("rebuild the read models from the journal; a long history takes a while", (), _REBUILD),
}
COMMANDS = {"journal": family("journal", _ROWS)}
