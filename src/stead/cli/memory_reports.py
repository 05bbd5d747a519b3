"""How memory stands: what a day brought, where things are remembered, how much of it is used, whether it works.

Layer: cli.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence

from stead.cli import figures
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.memory_lines import day_ms, folder_place, place_of
from stead.cli.output import Output, clean_line
from stead.client import Json

_BAR = 32
_DAYS_SHOWN = 31
_MOST_DAYS = 3660


def _journal(invocation: Invocation, arguments: Namespace) -> int:
    from time import strftime

    date = arguments.date or strftime("%Y-%m-%d")
    since_ms, until_ms = day_ms(date), day_ms(date, end=True)
    place = folder_place(arguments.dir)
    rows = invocation.client.get("/memories/journal", place=place, since_ms=since_ms, until_ms=until_ms)["items"]
    out = invocation.out
    if out.as_json:
        for row in rows:
            out.json(row)
        return OK
    for row in rows:
        notes = [word for word in ("private", "tainted") if row[word]]
        note = f"  ({', '.join(notes).replace('tainted', 'untrusted')})" if notes else ""
        out.line(f"{figures.moment(row['ts_ms'])[11:16]}  {clean_line(row['title'], 60)}{note}")
        out.line(f"       {clean_line(row['text'], 400)}")
    if not rows:
        out.line(f"Nothing happened there on {date}. Where else: stead memory places")
    return OK


def _places(invocation: Invocation, arguments: Namespace) -> int:
    rows = list(invocation.client.items("/memories/places"))
    cells = [
        [row["id"], clean_line(row["title"], 80), *(f"{row[name]:,}" for name in ("memories", "episodes", "embedded"))]
        for row in rows
    ]
    none = "Nothing is remembered yet; what is said in a session is, by itself."
    invocation.out.rows(rows, ["ID", "PLACE", ">MEMORIES", ">TURNS", ">BY MEANING"], cells, none)
    return OK


def _stats(invocation: Invocation, arguments: Namespace) -> int:
    if not 1 <= arguments.days <= _MOST_DAYS:
        raise CommandError(f"--days {arguments.days} is not between 1 and {_MOST_DAYS}", "stead memory stats --days 30")
    figures_of = invocation.client.get("/memories/analytics", place=place_of(arguments), days=arguments.days)
    out = invocation.out
    if out.as_json:
        return invocation.report(figures_of)
    junk, inferred = figures_of["junk"], figures_of["inferred"]
    share = f", {junk / inferred:.0%} of what was made without your hand" if inferred else ""
    out.pairs(
        [
            ("live", f"{figures_of['live']:,} of {figures_of['made']:,} that were ever made"),
            ("junk", f"{junk:,} of {inferred:,}{share}" if inferred else "none, as all of it is by your hand"),
            ("never told", f"{figures_of['never_used']:,} that are older than 30 days"),
        ]
    )
    _bars(out, "kinds", [(one["name"], one["count"]) for one in figures_of["kinds"]])
    _bars(out, "from", [(one["name"], one["count"]) for one in figures_of["origins"]])
    _bars(out, "stand", [(one["name"], one["count"]) for one in figures_of["statuses"]])
    growth = figures_of["growth"][-_DAYS_SHOWN:]
    _bars(out, "made, by day (UTC)", [(one["day"], one["made"]) for one in growth])
    _bars(out, "turns, by day (UTC)", [(one["day"], one["episodes"]) for one in growth])
    _named(out, "told most", figures_of["most_used"])
    _named(out, "patterns", figures_of["patterns"])
    return OK


def _bars(out: Output, heading: str, counts: Sequence[tuple[str, int]]) -> None:
    most = max((count for _, count in counts), default=0)
    if not most:
        return
    out.line(f"\n{out.style(heading, 'bold')}")
    width = max(len(name) for name, _ in counts)
    digits = len(f"{most:,}")
    for name, count in counts:
        bar = "#" * max(round(_BAR * count / most), count > 0)
        out.line(f"  {clean_line(name):<{width}}  {count:>{digits},}  {bar}".rstrip())


def _named(out: Output, heading: str, rows: list[Json]) -> None:
    if rows:
        out.line(f"\n{out.style(heading, 'bold')}")
    for row in rows:
        told = figures.counted(row["uses"], "time")
        out.line(f"  {row['memory']['id']}  {told:>9}  {clean_line(row['memory']['text'], 90)}")


def _state(invocation: Invocation, arguments: Namespace) -> int:
    state, out = invocation.client.get("/memories/state"), invocation.out
    dead = [leg for leg in state["legs"] if not leg["alive"]]
    if out.as_json:
        out.json(state)
        return FAILED if any(leg["leg"] != "meaning" for leg in dead) else OK
    out.line("found by")
    for leg in state["legs"]:
        word = out.style("works", "green") if leg["alive"] else out.style("dead", "yellow")
        note = f"  {clean_line(leg['text'], 240)}" if leg["text"] else ""
        out.line(f"  {clean_line(leg['leg']):<8} {word}{note}")
    memories, turns, vectors = (
        sum(place[name] for place in state["places"]) for name in ("memories", "episodes", "embedded")
    )
    places, waiting = figures.counted(len(state["places"]), "place"), state["waiting"]
    known = f"{figures.counted(memories, 'memory', 'memories')} and {figures.counted(turns, 'turn')}"
    rows = [
        ("there are", f"{known} in {places}"),
        ("by meaning", f"{vectors:,} of {memories + turns:,} can be found so"),
        ("last run", figures.moment(state["last_run_ms"]) or "none yet: stead memory consolidate"),
        ("waits", f"{figures.counted(waiting, 'proposal')}: stead memory proposals" if waiting else "nothing"),
    ]
    files = state["files"]
    rows.append(("files", clean_line(files["folder"] if files["alive"] else f"out of work: {files['reason']}", 300)))
    out.pairs(rows)
    for notice in files["notices"]:
        out.line(out.style(f"  {clean_line(notice, 300)}", "yellow"))
    return FAILED if any(leg["leg"] != "meaning" for leg in dead) else OK


RUN: dict[str, Callable[[Invocation, Namespace], int]] = {
    "journal": _journal,
    "places": _places,
    "stats": _stats,
    "state": _state,
}
