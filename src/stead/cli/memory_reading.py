"""Reading memory: lists, one memory with the words that it rests on, and what a session would recall.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace
from itertools import islice

from stead.cli.forms import Listing, Row, arg, fields, number
from stead.cli.invocation import OK, Invocation
from stead.cli.memory_lines import ID, KINDS, PLACE, day, dead_legs, held, place_of, shown, titles
from stead.cli.output import Output, clean
from stead.cli.templates import fill, pairs, table
from stead.cli.work_options import folder_of
from stead.client import Json

STATUSES = ("live", "superseded", "expired", "retired")
ORIGINS = ("user_said", "tool", "inferred", "imported", "file_edit")
_PAGE = 200
_QUOTE_CHARS = 400
_PAIRS = (
    "id: {memory.id} | stands: {marks|live} | kind: {memory.kind} | where: {where} | from: {from}"
    "[, {memory.source:120}] | key: {memory.key}[ = {memory.value:120}] | names: {memory.aliases:300} | holds: {held}"
    " | recorded: {recorded_ms:moment} | ended: {retired_ms:moment}[, in its place {superseded_by}]"
    " | dropped: {memory.expires_ms:moment} | confidence: {memory.confidence:share}"
    " | recalled: {uses:#time}[, last {last_used_ms:moment}] | made by: [{run}: stead memory diff {run}]"
)


def _list(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    found = client.items(
        "/memories",
        place=place_of(arguments),
        limit=_PAGE if arguments.all else min(arguments.limit + 1, _PAGE),
        **_NARROWED(arguments),
    )
    rows = list(found if arguments.all else islice(found, arguments.limit + 1))
    more = not arguments.all and len(rows) > arguments.limit
    rows = rows[: arguments.limit] if more else rows
    names = titles(client, arguments.dir) if rows and not out.as_json else {}
    _LIST.show(invocation, rows, arguments, lambda row: shown(row, names))
    if more and not out.as_json:
        out.line("\nThere are more: stead memory list --all, or narrow it with --words, --kind, --dir")
    return OK


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, out, path = invocation.client, invocation.out, f"/memories/{arguments.id}"
    row = client.get(path)
    quotes, versions = (client.get(f"{path}/{part}")["items"] for part in ("evidence", "versions"))
    if out.as_json:
        return invocation.report({**row, "quotes": quotes, "versions": versions})
    out.line(out.style(clean(row["memory"]["text"]).strip("\n"), "bold"))
    out.pairs(pairs(_PAIRS, shown(row, titles(client))), indent="  ")
    if quotes:
        out.line("it rests on")
    for quote in quotes:
        _print_quote(out, quote)
    if len(versions) > 1:
        out.line("held in its place")
        rows = [{**version, "held": held(version["memory"])} for version in versions]
        out.lines(fill("  {memory.id}  {held}  {status}  {memory.text:100}", row) for row in rows)
    return OK


def _print_quote(out: Output, quote: Json) -> None:
    """The words, marked where they stand in what was said."""
    out.line(fill("  {who|nobody} in {title:60|a session that was deleted} ({session}), event {seq}", quote))
    if quote["gone"]:
        out.line("    those words were erased")
        return
    text, start, end = quote["text"], quote["start"], quote["end"]
    parts = {"before": text[max(start - _QUOTE_CHARS, 0) : start], "words": text[start:end]}
    out.line(fill("    {before} «{words}» {after}", {**parts, "after": text[end : end + _QUOTE_CHARS]}).rstrip())


def _recall(invocation: Invocation, arguments: Namespace) -> int:
    answer = invocation.client.get(
        "/memories/recall",
        query=" ".join(arguments.query),
        directory=folder_of(arguments.dir, "--dir DIR") if arguments.dir else "",
        attended=not arguments.objective,
        trusted=not arguments.untrusted,
        **_ASKED(arguments),
    )
    out = invocation.out
    if out.as_json:
        return invocation.report(answer)
    hits = [hit | {"by": [reason["by"] for reason in hit["why"]]} for hit in answer["hits"]]
    if hits:
        table(out, ">SCORE: [{score:share}] | FOUND BY: {by:40} | RECALLED: [{who}: ]{text:90} | ID: {ref}", hits)
    else:
        out.line("Nothing would be recalled.")
    for hit in hits if arguments.why else ():
        weights = ", ".join(fill("{by} {score:share}", reason) for reason in hit["why"])
        said = "said in {session}" if hit["session"] else "{source}"
        out.line(f"\n{fill('{ref}', hit)}  {weights}")
        out.line(fill("  {text:400}", hit))
        out.line(fill(f"  {said}, {{ts_ms:moment}}, {{label.integrity}}", hit))
    if answer["withheld"]:
        out.line(f"left out, as strangers had a part in it: {answer['withheld']:,} more; --untrusted shows all")
    dead_legs(invocation, answer["legs"])
    return OK


_LIST = Listing(
    "/memories",
    "ID: {memory.id} | KIND: {memory.kind} | MEMORY: {memory.text:72} | WHERE: {where} | FROM: {from}"
    " | RECORDED: {recorded_ms:age} | >RECALLED: {uses} | : {marks}",
    'Nothing is remembered there. Say something: stead memory add "I write British English"',
)
_NARROWED = fields("words", "kind", "status", "origin", "pinned")
_ASKED = fields("as_of_ms", "known_ms", "kind", "source", "superseded", "limit")
_OF = (
    arg("--words WORDS", "that have these words"),
    arg("--kind KIND...", "of this kind", choices=KINDS),
    arg("--status STATUS...", "that stand so (else live)", choices=STATUSES),
    arg("--origin ORIGIN...", "that come from there", choices=ORIGINS),
    PLACE,
    arg("--pinned", "the pinned alone"),
    number("-n --limit N", 50, "how many (50)"),
    arg("--all", "every one"),
)
_QUERY = (
    arg("query QUERY...", "words, or a question"),
    arg("--dir DIR", "as a session of this folder (else of none)"),
    arg("--objective", "as an objective: without what is private"),
    day("--as-of DATE", "as it was in the world at the end of that day", end=True, dest="as_of_ms"),
    day("--known DATE", "as it was remembered at the end of that day", end=True, dest="known_ms"),
    arg("--kind KIND...", "memories of this kind", choices=KINDS),
    arg("--source SOURCE...", "only from there", choices=("memory", "chat", "talk")),
    arg("--untrusted", "also what strangers' words made"),
    arg("--superseded", "also what no longer holds"),
    arg("--why", "what each was found by, and how much that weighed"),
    number("-n --limit N", 10, "hits at most (10)", most=100),
)
ROWS: dict[str, Row] = {
    "list": ("list what is remembered (the default)", _OF, _list),
    "show": ("show one, the words that it rests on, and what was held before", (ID,), _show),
    "recall": ("show what a session would recall for these words, and why", _QUERY, _recall),
}
