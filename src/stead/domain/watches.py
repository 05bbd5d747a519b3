"""What a schedule watches: sources that are compared without a model, so that it runs only when one has changed.

Layer: domain. A mark is what a look found, as short digests by name, so that what changed can be said. The record has
a whole mark once and differences after it. Nothing here reads a source; ``Looks`` does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Protocol, assert_never

import msgspec

from stead.domain.bounds import bounds
from stead.domain.errors import InvalidRequest
from stead.domain.triggers import Mailbox

MOST_WATCHES, MOST_ITEMS = 10, 10_000
"""Of a schedule; names in one mark, such as files of a folder."""
MOST_ENTRIES = 1_000
"""Of a feed or a mailbox, those that it no longer has included."""
_MOST_NAMED, _MOST_CHARS = 30, 8_000

_MAILBOX = re.compile(r"([a-z][a-z0-9-]*),(\S+)@([A-Za-z0-9.-]+)(?::(\d{1,5}))?(?:/(.+))?")

Url = Annotated[str, bounds(minLength=1, maxLength=4096)]


class PathWatch(msgspec.Struct, frozen=True, tag="path", forbid_unknown_fields=True):
    """A file or a folder, within the job's. ``path`` is relative to that; "" is all of it."""

    path: Annotated[str, bounds(maxLength=1000)] = ""


class HttpWatch(msgspec.Struct, frozen=True, tag="http", forbid_unknown_fields=True):
    """What a public address answers: its body, to the byte."""

    url: Url


class FeedWatch(msgspec.Struct, frozen=True, tag="feed", forbid_unknown_fields=True):
    """New entries of an RSS or Atom feed, known by their ids."""

    url: Url


class PortWatch(msgspec.Struct, frozen=True, tag="port", forbid_unknown_fields=True):
    """Whether a public host takes connections at a port."""

    host: Annotated[str, bounds(minLength=1, maxLength=253)]
    port: Annotated[int, bounds(minimum=1, maximum=65_535)]


class CommandWatch(msgspec.Struct, frozen=True, tag="command", forbid_unknown_fields=True):
    """What a bash command line prints and how it ends, in a machine that shows the job's folder and changes nothing."""

    command: Annotated[str, bounds(minLength=1, maxLength=10_000)]


class CalendarWatch(msgspec.Struct, frozen=True, tag="calendar", forbid_unknown_fields=True):
    """New, changed and removed events of an iCalendar file: a path within the job's folder, or a public address."""

    source: Url


Watch = PathWatch | HttpWatch | FeedWatch | PortWatch | CommandWatch | CalendarWatch | Mailbox
Mark = Mapping[str, str]
"""Digests by name: "0:src/main.py" for what the first watch found there, "0:" for all that it found."""


class Look(msgspec.Struct, frozen=True):
    """What is there now.

    Args:
        value: for a source that is one thing.
        items: digests by name, for one that is many.
        words: what came with it, for people and models; by name for one that is many, "" for the whole.
    """

    value: str = ""
    items: Mapping[str, str] = {}
    words: Mapping[str, str] = {}


class Place(msgspec.Struct, frozen=True):
    """Where a schedule's job works. As of ``OpenSession``."""

    directory: str
    hosts: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class Looks(Protocol):
    """Looking at sources, each within bounds of time and size."""

    async def look(self, watch: Watch, place: Place) -> Look:
        """What is there now.

        Raises:
            InvalidRequest, NotFound, FetchFault, MachineError: it could not be looked at; nothing is known of it.
        """


class CalendarLooks(Protocol):
    """Reading calendars, in a process of its own."""

    async def look(self, directory: str, source: str, data: bytes | None) -> Look:
        """The events of a calendar, each series and each of its exceptions as an item.

        Args:
            directory: the folder that ``source`` is a path within, where there is no ``data``.
            source: for the words of a fault.
            data: what an address answered; None to read the file.

        Raises:
            ToolFault: it cannot be read.
        """


class FileLooks(Protocol):
    """Looking at a person's files, following no link."""

    async def look(self, place: Place, path: str) -> Look:
        """As ``Looks.look``; what does not exist has no items."""


State = Literal["new", "unchanged", "changed", "unreachable"]


class WatchCheck(msgspec.Struct, frozen=True):
    """One watch that was tried. ``state``: whether a run would start for it; ``text``: what is there, or why not."""

    watch: str
    state: State
    text: str


def words(watch: Watch) -> str:
    """What it watches, as people read it."""
    match watch:
        case PathWatch(path=path):
            return f"files of {path}" if path else "the folder"
        case HttpWatch(url=url):
            return url
        case FeedWatch(url=url):
            return f"feed {url}"
        case PortWatch(host=host, port=port):
            return f"port {host}:{port}"
        case CommandWatch(command=command):
            return f"command {command}"
        case CalendarWatch(source=source):
            return f"calendar {source}"
        case Mailbox(user=user, host=host, folder=folder):
            return f"mailbox {user} at {host}, {folder}"
        case _:
            assert_never(watch)


def is_address(source: str) -> bool:
    """Whether a calendar is fetched, and no file of the job's folder."""
    return source.startswith(("https://", "http://"))


def read_watch(text: str) -> Watch:
    """A watch as people write it, KIND=WHAT.

    Raises:
        InvalidRequest: it is none.
    """
    kind, _, what = text.partition("=")
    host, _, port = what.rpartition(":")
    mailbox = _MAILBOX.fullmatch(what) if kind == "mailbox" else None
    match kind:
        case "folder" | "file" if what:
            return settled(PathWatch(what))
        case "http" | "https" if what:
            return settled(HttpWatch(what))
        case "feed" if what:
            return settled(FeedWatch(what))
        case "port" if host and port.isdecimal() and len(port) < 6:
            return settled(PortWatch(host, int(port)))
        case "command" if what.strip():
            return settled(CommandWatch(what))
        case "calendar" if what:
            return settled(CalendarWatch(what))
        case "mailbox" if mailbox:
            secret, user, of, at, folder = mailbox.groups()
            return Mailbox(of, user, secret, int(at or 993), folder or "INBOX")
        case _:
            raise InvalidRequest(
                f"{text[:80]!r} says no watch; give folder=PATH, file=PATH, http=URL, feed=URL, port=HOST:PORT, "
                "command=LINE, calendar=PATH or calendar=URL, mailbox=SECRET,USER@HOST[:PORT][/FOLDER]"
            )


def settled(watch: Watch) -> Watch:
    """The same as it is kept.

    Raises:
        InvalidRequest: it cannot be; where it leads is judged when it is looked at.
    """
    if isinstance(watch, PathWatch):
        return PathWatch(settled_path(watch.path))
    if isinstance(watch, CalendarWatch) and not is_address(watch.source):
        return CalendarWatch(settled_path(watch.source))
    if isinstance(watch, PortWatch | Mailbox) and not 0 < watch.port < 65_536:
        raise InvalidRequest("a port is 1 to 65535")
    if len(msgspec.json.encode(watch)) > 12_000:
        raise InvalidRequest("what is watched has more than 10,000 characters")
    return watch


def settled_path(path: str) -> str:
    """A path within the folder of a job, in its one spelling.

    Raises:
        InvalidRequest: it is none.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path or len(path) > 1000:
        raise InvalidRequest(f"{path[:80]!r} is no path within the folder of the job; give one like src")
    return "/".join(parts)


def digest(content: bytes) -> str:
    """The name of a content, short."""
    return hashlib.sha256(content).hexdigest()[:32]


def mark_of(number: int, look: Look) -> Mark:
    """A look of the schedule's watch of this number as a part of its mark."""
    whole = look.value or digest(repr(sorted(look.items.items())).encode("utf-8", "surrogateescape"))
    return {f"{number}:": whole, **{f"{number}:{name}": value for name, value in look.items.items()}}


def part_of(mark: Mark, number: int) -> dict[str, str]:
    """The part of one watch, with its names as they were found; empty before its first look."""
    start = f"{number}:"
    return {name.removeprefix(start): value for name, value in mark.items() if name.startswith(start)}


def difference(old: Mark, new: Mark) -> tuple[Mark, Mark]:
    """What is another or gone, as it was; and what is another or new, as it is. Both empty for the same."""
    before = {name: value for name, value in sorted(old.items()) if new.get(name) != value}
    return before, {name: value for name, value in sorted(new.items()) if old.get(name) != value}


def changed(mark: Mark, before: Mark, after: Mark) -> Mark:
    """The mark after a difference."""
    return {**{name: value for name, value in mark.items() if name not in before}, **after}


def with_old_entries(new: Look, old: Mark) -> Look:
    """A feed's or a mailbox's look with what it had before, so that an entry that comes back is not new."""
    rest = [(name, value) for name, value in old.items() if name and name not in new.items]
    spare = max(0, MOST_ENTRIES - len(new.items))
    return Look("", {**new.items, **dict(rest[len(rest) - min(spare, len(rest)) :])}, new.words)


def summary(watch: Watch, old: Mark, new: Mark, look: Look) -> str:
    """What changed at a watch, in at most 8,000 characters. Names and texts are the source's own.

    Args:
        watch: of the two marks.
        old: its part before.
        new: its part now.
        look: that ``new`` came from.
    """
    head = f"Changed: {words(watch)}"
    match watch:
        case PathWatch():
            kinds = (
                ("new", [name for name in new if name not in old]),
                ("changed", [name for name in new if name and name in old and old[name] != new[name]]),
                ("gone", [name for name in old if name not in new]),
            )
            lines = [f"{kind}: {_named(sorted(names))}" for kind, names in kinds if names]
        case FeedWatch() | Mailbox():
            lines = [look.words.get(name, "") for name in new if name not in old]
        case CalendarWatch():
            lines = [f"new: {look.words[name]}" for name in new if name and name not in old]
            lines += [f"changed: {look.words[name]}" for name in new if name and old.get(name, new[name]) != new[name]]
            lines += [f"gone: {count} of its events"] if (count := len(old.keys() - new.keys())) else []
        case PortWatch():
            lines = [f"It is {new['']}; it was {old['']}."]
        case HttpWatch() | CommandWatch():
            lines = [look.words.get("", "")]
        case _:
            assert_never(watch)
    return "\n".join((head, *filter(None, lines)))[:_MOST_CHARS]


def _named(names: Sequence[str]) -> str:
    more = f", and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
