"""Memories in words: where they hold, who they are from, what marks they have.

Layer: cli. Every text here may have been written by a model or a stranger, and is cleaned before it is shown.
"""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Mapping

from stead.cli import figures
from stead.cli.invocation import CommandError, Invocation
from stead.cli.output import clean_line
from stead.client import Client, Json

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
    return names | {folder_place(directory): os.path.realpath(os.path.expanduser(directory))} if directory else names


def where(scope: Json, names: Titles) -> str:
    """Where a memory is told."""
    name = clean_line(names.get(scope["place"], scope["place"]))
    name = name if len(name) <= _WHERE else f"…{name[1 - _WHERE :]}"  # a path's end says more than its beginning
    match scope["level"]:
        case "global":
            return "everywhere"
        case "private":
            return f"{name}, private"
        case "channel":
            return f"channel {name}"
        case _:
            return name


def origin(memory: Json) -> str:
    """Who it is from; what strangers had a part in is said to be theirs."""
    word = _FROM.get(memory["origin"], clean_line(memory["origin"]))
    return f"{word} (untrusted)" if memory["label"]["integrity"] == "untrusted" else word


def marks(row: Json) -> str:
    """What a list says of a memory beside its words."""
    memory = row["memory"]
    words = [row["status"]] if row["status"] != "live" else []
    words += [name for name in ("pinned", "standing") if memory[name]]
    return clean_line(", ".join(words))


def cells(row: Json, names: Titles, now_ms: float) -> list[str]:
    """A memory as a line of a list."""
    memory = row["memory"]
    return [
        *(memory["id"], memory["kind"], clean_line(memory["text"], 72), where(memory["scope"], names)),
        *(origin(memory), figures.age(row["recorded_ms"], now_ms), str(row["uses"]), marks(row)),
    ]


HEADINGS = ["ID", "KIND", "MEMORY", "WHERE", "FROM", "RECORDED", ">TOLD", ""]


def place_of(arguments: Namespace) -> str:
    """The id of the place that the options name; "" for every one."""
    if arguments.everywhere:
        return "global"
    if not arguments.dir:
        return ""
    return folder_place(arguments.dir)


def folder_place(typed: str) -> str:
    """The id of a folder's place. The folder need not be there any more: what was remembered for it is."""
    from stead.domain.ids import DEFAULT_WORKSPACE
    from stead.domain.memory import workspace_place

    return workspace_place(DEFAULT_WORKSPACE, os.path.realpath(os.path.expanduser(typed)))


def scope_fields(arguments: Namespace) -> Json:
    """Who is to see what is said: the level and its folder, as a request has them."""
    from stead.cli.work_options import folder_of

    if not arguments.dir and not arguments.private:
        return {}
    directory = folder_of(arguments.dir or ".", "--dir DIR")
    return {"level": "private" if arguments.private else "workspace", "directory": directory}


def day_ms(typed: str, *, end: bool = False) -> int:
    """The first millisecond of a day of the local clock, or its last; 0 for "".

    Raises:
        CommandError: it is no day.
    """
    if not typed:
        return 0
    try:
        day = time.strptime(typed, "%Y-%m-%d")
        moment = time.mktime((day.tm_year, day.tm_mon, day.tm_mday + end, 0, 0, 0, 0, 0, -1))
    except (ValueError, OverflowError) as error:
        raise CommandError(f"{clean_line(typed, 40)!r} is no day", "give one like 2031-05-04") from error
    return max(int(moment * 1000) - end, 1)


def day(ms: int) -> str:
    """A day of the local clock, "2031-05-04"; "" for 0."""
    return figures.moment(ms)[:10]


def held(memory: Json) -> str:
    """When it holds in the world; what was put right as wrong holds from one moment to the same."""
    since, until = memory["valid_from_ms"], memory["valid_to_ms"]
    if until and until <= since:
        return "never"
    return f"{day(since)} to {day(until)}" if until else f"since {day(since)}"


def dead_legs(invocation: Invocation, legs: list[Json]) -> None:
    """Say which ways of finding do not work."""
    for leg in legs:
        if not leg["alive"]:
            text = f"! {clean_line(leg['leg'])} does not work: {clean_line(leg['text'], 200)}"
            invocation.out.line(invocation.out.style(text, "yellow"))
