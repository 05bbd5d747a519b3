"""Memories in words: where they hold, who they are from, what marks they have; and the options that name them.

Layer: cli.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from typing import Any

from stead.cli import figures
from stead.cli.finding import find_folder, find_memory
from stead.cli.forms import Argument, OneOf, arg
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.cli.templates import fill
from stead.client import Client, Json

KINDS = ("knowledge", "preference", "pattern", "context", "skill", "correction", "person", "procedure")
ID = arg("id ID", "of the memory, or its beginning", find_memory)
IDS = arg("ids ID...", "of memories, or their beginnings", find_memory)
PLACE = OneOf(
    arg("--dir DIR", "this folder's memory alone (else every one's)", find_folder),
    arg("--everywhere", "what holds in every folder alone"),
)
SCOPE = (
    arg("--dir DIR", "for sessions of this folder alone (else for all)"),
    arg("--private", "not for objectives; for the current folder, or --dir"),
)
Titles = Mapping[str, str]
"""What people call each place."""
_FROM = {
    "user_said": "you",
    "tool": "a tool",
    "inferred": "concluded",
    "imported": "imported",
    "file_edit": "your edit",
}
_WHERE = 48


def titles(client: Client, directory: str = "") -> Titles:
    """The places' names, by id; a folder in which there was no session yet is known by what was typed alone."""
    names = {row["id"]: row["title"] for row in client.items("/memories/places")}
    return names | {folder_place(directory): directory} if directory else names


def shown(row: Json, names: Titles) -> Json:
    """A memory's row with columns in words added: ``where``, ``from``, ``marks`` and ``held``."""
    memory = row["memory"]
    untrusted = " (untrusted)" if memory["label"]["integrity"] == "untrusted" else ""
    standing = [row["status"]] if row["status"] != "live" else []
    return {
        **row,
        "where": _where(memory["scope"], names),
        "from": _FROM.get(memory["origin"], memory["origin"]) + untrusted,
        "marks": standing + [name for name in ("pinned", "standing") if memory[name]],
        "held": held(memory),
    }


def _where(scope: Json, names: Titles) -> str:
    """A memory's scope, in words."""
    name = clean_line(names.get(scope["place"], scope["place"]))
    name = name if len(name) <= _WHERE else f"…{name[1 - _WHERE :]}"  # a path's end says more than its beginning
    known = {"global": "everywhere", "private": f"{name}, private", "channel": f"channel {name}"}
    return known.get(scope["level"], name)


def place_of(arguments: Namespace) -> str:
    """The id of the place that the options name; "" for every one."""
    if arguments.everywhere:
        return "global"
    return folder_place(arguments.dir) if arguments.dir else ""


def folder_place(directory: str) -> str:
    """The id of a folder's place. The folder need not be there any more: what was remembered for it is."""
    from stead.domain.ids import DEFAULT_WORKSPACE
    from stead.domain.memory import workspace_place

    return workspace_place(DEFAULT_WORKSPACE, directory)


def scope_fields(arguments: Namespace) -> Json:
    """Who is to see what is said: the level and its folder, as a request has them."""
    from stead.cli.work_options import folder_of

    if not arguments.dir and not arguments.private:
        return {}
    directory = folder_of(arguments.dir or ".", "--dir DIR")
    return {"level": "private" if arguments.private else "workspace", "directory": directory}


def day(words: str, help: str, *, end: bool = False, **settings: Any) -> Argument:
    """An option with a day: its first millisecond in the person's zone, or its last; 0 where it is not given."""
    return arg(words, help, type=partial(day_ms, end=end), default=0, **settings)


def day_ms(typed: str, *, end: bool = False) -> int:
    """The first millisecond of a day in the person's zone, or its last.

    Raises:
        CommandError: it is no day.
        InvalidRequest: the settings that name the zone are no good.
    """
    from stead.config import find_home, load_settings, use_time_zone

    use_time_zone(load_settings(find_home()))
    try:
        day = time.strptime(typed, "%Y-%m-%d")
        moment = time.mktime((day.tm_year, day.tm_mon, day.tm_mday + end, 0, 0, 0, 0, 0, -1))
    except (ValueError, OverflowError) as error:
        raise CommandError(f"{clean_line(typed, 40)!r} is no day", "give one like 2031-05-04") from error
    return max(int(moment * 1000) - end, 1)


def held(memory: Json) -> str:
    """When it holds in the world; what was put right as wrong holds from one moment to the same."""
    since, until = memory["valid_from_ms"], memory["valid_to_ms"]
    if until and until <= since:
        return "never"
    return f"{_day(since)} to {_day(until)}" if until else f"since {_day(since)}"


def dead_legs(invocation: Invocation, legs: list[Json]) -> None:
    """Say which ways of finding do not work."""
    dead = (leg for leg in legs if not leg["alive"])
    invocation.out.lines((fill("! {leg} does not work: {text:200}", leg) for leg in dead), "yellow")


def _day(ms: int) -> str:
    return figures.moment(ms)[:10]
