"""Reports on memory: the journal of a day, places, statistics, health.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace
from time import strftime

from stead.cli.finding import find_folder
from stead.cli.forms import Listing, Row, arg, number
from stead.cli.invocation import FAILED, OK, Invocation
from stead.cli.memory_lines import PLACE, day_ms, folder_place, place_of
from stead.cli.output import clean_line
from stead.cli.templates import fill, pairs, table
from stead.client import Json

_DAYS_SHOWN = 31
_STATS = (
    "live: {live:number} of {made:number} that were ever made | junk: {junk_text}"
    " | never recalled: {never_used:number} that are older than 30 days"
)
_TABLES = (
    ("kinds", "KIND: {name} | >MEMORIES: {count:number}"),
    ("origins", "FROM: {name} | >MEMORIES: {count:number}"),
    ("statuses", "STATUS: {name} | >MEMORIES: {count:number}"),
    ("growth", "DAY (UTC): {day} | >MADE: {made:number} | >RETIRED: {retired:number} | >TURNS: {episodes:number}"),
    ("most_used", "MOST RECALLED: {memory.text:90} | >TIMES: {uses:number} | ID: {memory.id}"),
    ("patterns", "PATTERN: {memory.text:90} | >TIMES: {uses:number} | ID: {memory.id}"),
)
_STATE = (
    "there are: {memories:#memory/memories} and {episodes:#turn} in {places:#place}"
    " | by meaning: {embedded:number} of {findable:number} can be found so"
    " | last run: {last_run_ms:moment|none yet: stead memory consolidate}"
    " | waits: [{waiting:#proposal}: stead memory proposals]{waiting?:nothing} | files: {kept:300}"
)


def _journal(invocation: Invocation, arguments: Namespace) -> int:
    date = arguments.date or strftime("%Y-%m-%d")
    day = {"since_ms": day_ms(date), "until_ms": day_ms(date, end=True)}
    rows = invocation.client.get("/memories/journal", place=folder_place(arguments.dir), **day)["items"]
    for row in rows:
        notes = [word for name, word in (("private", "private"), ("tainted", "untrusted")) if row[name]]
        at = fill("{ts_ms:moment}", row)[11:16]
        title = fill("{title:60}[  ({notes})]", {**row, "notes": notes})
        invocation.report(row, f"{at}  {title}", fill("       {text:400}", row))
    if not rows and not invocation.as_json:
        invocation.out.line(f"Nothing happened there on {date}. Where else: stead memory places")
    return OK


def _stats(invocation: Invocation, arguments: Namespace) -> int:
    found = invocation.client.get("/memories/analytics", place=place_of(arguments), days=arguments.days)
    out, junk, inferred = invocation.out, found["junk"], found["inferred"]
    if out.as_json:
        return invocation.report(found)
    said = "none, as all of it is by your hand"
    if inferred:
        said = f"{junk:,} of {inferred:,}, {junk / inferred:.0%} of what was made without your hand"
    out.pairs(pairs(_STATS, {**found, "junk_text": said}))
    for name, columns in _TABLES:
        if rows := found[name][-_DAYS_SHOWN:]:
            out.line()
            table(out, columns, rows)
    return OK


def totals(state: Json) -> Json:
    """How much there is in all places, of a ``MemoryState``: ``memories``, ``episodes``, ``embedded``, ``findable``."""
    names = ("memories", "episodes", "embedded")
    sums = {name: sum(place[name] for place in state["places"]) for name in names}
    return {**sums, "findable": sums["memories"] + sums["episodes"]}


def _state(invocation: Invocation, arguments: Namespace) -> int:
    state, out = invocation.client.get("/memories/state"), invocation.out
    code = FAILED if any(not leg["alive"] and leg["leg"] != "meaning" for leg in state["legs"]) else OK
    if out.as_json:
        out.json(state)
        return code
    out.line("found by")
    for leg in state["legs"]:
        word = out.style("works", "green") if leg["alive"] else out.style("dead", "yellow")
        out.line(f"  {clean_line(leg['leg']):<8} {word}{fill('[  {text:240}]', leg)}")
    files = state["files"]
    kept = files["folder"] if files["alive"] else f"out of work: {files['reason']}"
    out.pairs(pairs(_STATE, {**state, **totals(state), "kept": kept}))
    out.lines((fill("  {:300}", notice) for notice in files["notices"]), "yellow")
    return code


_PLACES = Listing(
    "/memories/places",
    "ID: {id} | PLACE: {title:80} | >MEMORIES: {memories:number} | >TURNS: {episodes:number}"
    " | >BY MEANING: {embedded:number}",
    "Nothing is remembered yet; what is said in a session is, by itself.",
)
_DAY = (
    arg("[date DATE]", "YYYY-MM-DD (else today)"),
    arg("--dir DIR", "of this folder (else the current one)", find_folder, default="."),
)
_DAYS = number("--days N", 30, "growth over so many days (30)", most=3660)
ROWS: dict[str, Row] = {
    "journal": ("read what happened on a day in a folder", _DAY, _journal),
    "places": ("list where things are remembered", (), _PLACES),
    "stats": ("show how memory grows, what is used, and how much is junk", (PLACE, _DAYS), _stats),
    "state": ("show whether memory works", (), _state),
}
