"""What is remembered: lists, one memory with the words behind it, and what a session would be told.

Layer: cli.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice

from stead.cli import figures
from stead.cli.finding import find_memory
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.memory_lines import (
    HEADINGS,
    Titles,
    cells,
    day_ms,
    dead_legs,
    held,
    marks,
    origin,
    place_of,
    titles,
    where,
)
from stead.cli.output import Output, clean, clean_line
from stead.client import Json

_PAGE = 200
_QUOTE_CHARS = 400


def _list(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise CommandError(f"-n {arguments.limit} is not positive", "stead memory list -n 50, or --all")
    client, out = invocation.client, invocation.out
    found = client.items(
        "/memories",
        place=place_of(arguments),
        words=arguments.words,
        kind=arguments.kind,
        status=arguments.status,
        origin=arguments.origin,
        pinned="true" if arguments.pinned else "",
        limit=_PAGE if arguments.all else min(arguments.limit + 1, _PAGE),
    )
    rows = list(found if arguments.all else islice(found, arguments.limit + 1))
    more = not arguments.all and len(rows) > arguments.limit
    rows = rows[: arguments.limit] if more else rows
    now_ms, names = time.time() * 1000, titles(client, arguments.dir) if rows and not out.as_json else {}
    none = 'Nothing is remembered there. Say something: stead memory add "I write British English"'
    out.rows(rows, HEADINGS, [cells(row, names, now_ms) for row in rows], none)
    if more and not out.as_json:
        out.line("\nThere are more: stead memory list --all, or narrow it with --words, --kind, --dir")
    return OK


def _show(invocation: Invocation, arguments: Namespace) -> int:
    client, out = invocation.client, invocation.out
    id = find_memory(client, arguments.id)
    row = client.get(f"/memories/{id}")
    quotes = client.get(f"/memories/{id}/evidence")["items"]
    versions = client.get(f"/memories/{id}/versions")["items"]
    if out.as_json:
        return invocation.report({**row, "quotes": quotes, "versions": versions})
    out.line(out.style(clean(row["memory"]["text"]).strip("\n"), "bold"))
    out.pairs(list(_pairs(row, titles(client))), indent="  ")
    if quotes:
        out.line("it rests on")
    for quote in quotes:
        _print_quote(out, quote)
    if len(versions) > 1:
        out.line("held in its place")
    for version in versions if len(versions) > 1 else ():
        memory, status = version["memory"], clean_line(version["status"])
        out.line(f"  {memory['id']}  {held(memory):<24}  {status:<10}  {clean_line(memory['text'], 100)}")
    return OK


def _pairs(row: Json, names: Titles) -> Iterator[tuple[str, str]]:
    memory = row["memory"]
    yield "id", memory["id"]
    yield "stands", marks(row) or "live"
    yield "kind", clean_line(memory["kind"])
    yield "where", where(memory["scope"], names)
    yield "from", origin(memory) + (f", {clean_line(memory['source'], 120)}" if memory["source"] else "")
    if memory["key"]:
        yield "key", clean_line(memory["key"]) + (f" = {clean_line(memory['value'], 120)}" if memory["value"] else "")
    if memory["aliases"]:
        yield "names", clean_line(", ".join(memory["aliases"]), 300)
    yield "holds", held(memory)
    yield "recorded", figures.moment(row["recorded_ms"])
    if row["retired_ms"]:
        by = f", in its place {clean_line(row['superseded_by'])}" if row["superseded_by"] else ""
        yield "ended", figures.moment(row["retired_ms"]) + by
    if memory["expires_ms"]:
        yield "dropped", figures.moment(memory["expires_ms"])
    yield "confidence", f"{memory['confidence']:.2f}".rstrip("0").rstrip(".")
    last = f", last {figures.moment(row['last_used_ms'])}" if row["last_used_ms"] else ""
    yield "told", f"{figures.counted(row['uses'], 'time')}{last}"
    if row["run"]:
        yield "made by", f"{clean_line(row['run'])}: stead memory diff {clean_line(row['run'])}"


def _print_quote(out: Output, quote: Json) -> None:
    """The words, marked where they stand in what was said."""
    title = clean_line(quote["title"], 60) or "a session that was deleted"
    out.line(
        f"  {clean_line(quote['who']) or 'nobody'} in {title} ({clean_line(quote['session'])}), event {quote['seq']}"
    )
    if quote["gone"]:
        out.line("    those words were erased")
        return
    text, start, end = quote["text"], quote["start"], quote["end"]
    before, words, after = text[max(start - _QUOTE_CHARS, 0) : start], text[start:end], text[end : end + _QUOTE_CHARS]
    out.line(f"    {clean_line(before)} «{clean_line(words)}» {clean_line(after)}".rstrip())


def _recall(invocation: Invocation, arguments: Namespace) -> int:
    if not 1 <= arguments.limit <= 100:
        raise CommandError(f"-n {arguments.limit} is not between 1 and 100", "stead memory recall QUERY -n 10")
    from stead.cli.work_options import folder_of

    answer = invocation.client.get(
        "/memories/recall",
        query=" ".join(arguments.query),
        directory=folder_of(arguments.dir, "--dir DIR") if arguments.dir else "",
        attended="false" if arguments.objective else "true",
        as_of_ms=day_ms(arguments.as_of, end=True),
        known_ms=day_ms(arguments.known, end=True),
        kind=arguments.kind,
        source=arguments.source,
        trusted="false" if arguments.untrusted else "true",
        superseded="true" if arguments.superseded else "false",
        limit=arguments.limit,
    )
    out = invocation.out
    if out.as_json:
        return invocation.report(answer)
    found = [
        [f"{hit['score']:.2f}" if hit["score"] else "", _ways(hit), _told(hit), hit["ref"]] for hit in answer["hits"]
    ]
    if found:
        out.table([">SCORE", "FOUND BY", "WOULD BE TOLD", "ID"], found)
    else:
        out.line("Nothing would be told.")
    if arguments.why:
        _print_why(out, answer["hits"])
    if answer["withheld"]:
        out.line(f"left out, as strangers had a part in it: {answer['withheld']:,} more; --untrusted shows all")
    dead_legs(invocation, answer["legs"])
    return OK


def _ways(hit: Json) -> str:
    return clean_line(", ".join(reason["by"] for reason in hit["why"]), 40)


def _told(hit: Json) -> str:
    return clean_line(f"{hit['who']}: {hit['text']}" if hit["who"] else hit["text"], 90)


def _print_why(out: Output, hits: list[Json]) -> None:
    for hit in hits:
        weights = ", ".join(f"{clean_line(reason['by'])} {reason['score']:.2f}" for reason in hit["why"])
        out.line(f"\n{clean_line(hit['ref'])}  {weights}")
        out.line(f"  {clean_line(hit['text'], 400)}")
        said = f"said in {clean_line(hit['session'])}" if hit["session"] else clean_line(hit["source"])
        out.line(f"  {said}, {figures.moment(hit['ts_ms'])}, {clean_line(hit['label']['integrity'])}")


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {"list": _list, "show": _show, "recall": _recall}
