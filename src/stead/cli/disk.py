"""``disk``: how much room the home takes, by part, and what is left.

Layer: cli. Reads the folder itself: it works without a daemon, and when the disk is full.
"""

from __future__ import annotations

import os
import stat
from argparse import Namespace
from collections.abc import Iterator

from stead.cli.forms import Listing, command
from stead.cli.invocation import OK, CommandError, Invocation
from stead.cli.templates import fill
from stead.client import Json

_PARTS = (
    ("journal", ("data/journal.db",), "what happened; archive_after_days in config.toml thins it"),
    ("read models", ("data/views",), "made again from the journal: stead journal rebuild"),
    ("pictures, files and long results", ("data/contents",), "erased with their session: stead delete ID --now"),
    ("memory", ("data/memory", "memory-files"), "stead memory forget"),
    ("held changes, checkpoints and undo", ("trials",), "erased with their session: stead delete ID --now"),
    ("packages and caches of machines", ("workspaces",), "kept for each folder; nothing erases it yet"),
    ("journal of before an upgrade", ("data/backups",), "replaced by the next upgrade; or remove it"),
    ("moved aside", ("replaced-",), "yours to remove"),
    ("archives of old sessions", ("data/archives",), "erased with their session: stead delete ID --now"),
    ("log", ("logs",), "turned over by itself"),
)
_SHOWN = Listing("", "PART: {part} | >SIZE: {bytes:size} | >FILES: {files:number} | WHAT FREES IT: {frees}", "")


def _disk(invocation: Invocation, arguments: Namespace) -> int:
    root = os.fspath(invocation.home.root)
    if not os.path.isdir(root):
        raise CommandError(f"there is no home yet at {root!r}", "stead up", code="not_found")
    parts: dict[str, Json] = {
        name: {"part": name, "bytes": 0, "files": 0, "frees": frees} for name, _, frees in (*_PARTS, ("other", (), ""))
    }
    for path, size in _files(root):
        inside = os.path.relpath(path, root)
        # A database's own files next to it (-wal, -shm) begin with its name.
        whose = (name for name, starts, _ in _PARTS if inside.startswith(starts))
        part = parts[next(whose, "other")]
        part["bytes"] += size
        part["files"] += 1
    rows = list(parts.values())
    _SHOWN.show(invocation, rows, arguments)
    if not invocation.as_json:
        room = os.statvfs(root)
        total: Json = {"bytes": sum(row["bytes"] for row in rows), "free": room.f_bavail * room.f_frsize, "root": root}
        invocation.out.line(fill("\n{bytes:size} in all at {root}; {free:size} are free on that disk", total))
    return OK


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """Every file below, with the room that it takes; one with several names counts once."""
    seen: set[tuple[int, int]] = set()
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                continue  # it went while this was reading
            if stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) not in seen:
                seen.add((found.st_dev, found.st_ino))
                yield path, found.st_blocks * 512


COMMANDS = {"disk": command(_disk)}
