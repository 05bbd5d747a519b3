"""Files that programs of the person's act on: whoever can write them runs code outside, with the person's rights.

Layer: machines. Which they are says ``domain.obeyed``; repositories are known by what is in them. What a folder has of
them at a machine's start is shown read-only; what is planted is found at its end (``quarantine``). The folder may be
written by another session's machine meanwhile, so it is walked by descriptors and no link is followed; nothing is
opened but folders.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice

from stead.domain.errors import InvalidRequest, MachineUnavailable
from stead.domain.obeyed import REPOSITORY_FILES, REPOSITORY_PARTS, fold, is_repository, kept, kept_itself
from stead.domain.obeyed_table import PROJECT_RULES
from stead.machines.opening import open_own, out_of_reach
from stead.machines.workspace import opened_workspace

UNENTERED = "node_modules"
"""Holds thousands of such files that nobody's program acts on, and code that is run anyway."""

RULES_BYTES = 24_000
"""Of a file of rules that are told; about six thousand tokens."""
_MOST_KEPT = 256
_MOST_ENTRIES = 2_000_000
"""Some seconds' work; several times what one command of a machine can make (``sandbox.Limits.entries``)."""
_DEEPEST = 48
_MOST_RELEASED = 50


@dataclass
class Found:
    """What a folder has of protected files.

    Args:
        kept: path and identity (device:inode) of each that can be shown read-only.
        links: path and destination of those that are symbolic links, which cannot; a file of the folder that one
            leads to is kept.
        named: see ``scan``.
        rules: path and digest of each file of rules for agents that may be written, since it is released.
        missed: a part of the folder that was too large or too deep to be walked whole, or could not be opened; ""
            when everything was seen. Whoever finds it set must not go on as if nothing more were there.
        room: how many entries may yet be looked at.
    """

    kept: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    rules: dict[str, str] = field(default_factory=dict)
    missed: str = ""
    room: int = _MOST_ENTRIES

    def miss(self, path: str) -> None:
        """This could not be looked at."""
        self.missed = self.missed or path or "."

    def above(self) -> list[str]:
        """Every folder above a kept path; renamed, it would take the path along."""
        return sorted({path[:at] for path in self.kept for at, letter in enumerate(path) if letter == "/"})


def is_protected(path: str, released: Collection[str] = ()) -> bool:
    """Whether a path of a workspace is protected by name, or lies in what is.

    ``released`` ones and what is in them are not, nor is a folder of which a part is released: the rest of it is.
    """
    return kept(path) == "held" and not is_released(path, released) and not _is_opened(path, released)


def is_released(path: str, released: Collection[str]) -> bool:
    """Whether the person lets the session write there."""
    return any(path == free or path.startswith(free + "/") for free in released)


def _is_opened(path: str, released: Collection[str]) -> bool:
    return any(free.startswith(path + "/") for free in released)


def repository_parts(entries: Iterable[os.DirEntry[str]]) -> frozenset[str]:
    """Names in a folder that git obeys, if it would take the folder for a repository; else none."""
    names = {
        entry.name: fold(entry.name)
        for entry in entries
        if not (fold(entry.name) in REPOSITORY_FILES and entry.is_dir(follow_symlinks=False))
    }
    if not is_repository(names.values()):
        return frozenset()
    return frozenset(name for name, folded in names.items() if folded in REPOSITORY_PARTS)


def check_released(paths: Sequence[str]) -> tuple[str, ...]:
    """Protected paths that a person lets a session write, as ``is_protected`` takes them.

    Raises:
        InvalidRequest: one is not a path within the folder, or there are too many.
    """
    if len(paths) > _MOST_RELEASED:
        raise InvalidRequest(f"at most {_MOST_RELEASED} protected paths can be released")
    for path in paths:
        plain = path.strip("/")
        if path.startswith("/") or not plain or "\0" in path or {"", ".", ".."} & set(plain.split("/")):
            raise InvalidRequest(f"{path!r} is no path within the folder; give one like AGENTS.md or .github/workflows")
    return tuple(path.strip("/") for path in paths)


def scan(directory: str, released: Collection[str] = (), named: Collection[str] = ()) -> Found:
    """Walk a folder, which may take as long as listing it does.

    Args:
        directory: absolute.
        released: see ``is_protected``.
        named: paths that are protected besides, as git's settings name them.

    Raises:
        OSError: the folder itself cannot be opened.
    """
    found = Found(named=tuple(named))
    opened = set[str]()
    with opened_workspace(directory) as top:
        entered = walk(top, "", found, lambda path, name: name != UNENTERED and path not in found.kept)
        for folder, above, entries in entered:
            parts = repository_parts(entries)
            for entry in entries:
                path = above + entry.name
                held = above in opened or entry.name in parts or kept_itself(path) == "held" or path in named
                if held and not is_released(path, released):
                    if _is_opened(path, released):
                        opened.add(path + "/")
                    else:
                        with suppress(FileNotFoundError):  # gone in between
                            _note(found, folder, path, entry)
                elif is_rules(path) and (digest := rules_digest(folder, entry.name)):
                    found.rules[path] = digest
        for path in found.links:
            _keep_destination(found, top, directory, path)
    return found


def is_rules(path: str) -> bool:
    """Whether sessions of the file's folder, or of one above, would be told it as the project's own rules."""
    return any(("/" + path).endswith("/" + name) for name in PROJECT_RULES)


def rules_digest(folder: int, name: str) -> str:
    """SHA-256 of what is told of a file, given by the folder that holds it; "" when it is no file that may be read."""
    try:
        fd = open_own(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, folder)
    except OSError:
        return ""
    with open(fd, "rb") as file:
        regular = stat.S_ISREG(os.fstat(fd).st_mode)
        return hashlib.sha256(file.read(RULES_BYTES)).hexdigest() if regular else ""


def require_few(found: Found, directory: str) -> None:
    """Each is a mount of its own.

    Raises:
        MachineUnavailable: there are more than a machine can be started with.
    """
    if len(found.kept) > _MOST_KEPT:
        raise MachineUnavailable(
            "{!r} holds {} protected files ({!r}, …), and {} are the most; work on a part of it, or on trial "
            "(--trial), where none needs to be shown read-only",
            *(directory, len(found.kept), min(found.kept), _MOST_KEPT),
        )


def walk(
    folder: int, above: str, found: Found, entered: Callable[[str, str], bool], depth: int = 0
) -> Iterator[tuple[int, str, list[os.DirEntry[str]]]]:
    """Descriptor, path with a slash at the end, and entries of a folder, and then of every folder below.

    Args:
        folder: descriptor.
        above: its path, with a slash at the end; "" is the top.
        found: told what could not be looked at.
        entered: whether a folder is to be entered, by its path and name.
        depth: folders above it.
    """
    with os.scandir(folder) as listing:
        entries = list(islice(listing, found.room))
        if next(listing, None):
            found.miss(above[:-1])
    found.room -= len(entries)
    entries.sort(key=lambda entry: entry.name)
    yield folder, above, entries
    for entry in entries:
        path = above + entry.name
        if not entry.is_dir(follow_symlinks=False) or not entered(path, entry.name):
            continue
        if depth == _DEEPEST:
            found.miss(path)
            continue
        try:
            inner = open_own(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, folder)
        except FileNotFoundError:
            continue  # gone in between
        except OSError:  # it may not be entered, or was swapped for a link just now
            if not out_of_reach(entry.name, folder):
                found.miss(path)
            continue
        try:
            yield from walk(inner, path + "/", found, entered, depth + 1)
        finally:
            os.close(inner)


def _note(found: Found, folder: int, path: str, entry: os.DirEntry[str]) -> None:
    if entry.is_symlink():
        found.links[path] = os.readlink(entry.name, dir_fd=folder)
    else:
        found.kept[path] = identity(os.stat(entry.name, dir_fd=folder, follow_symlinks=False))


def _keep_destination(found: Found, top: int, directory: str, path: str) -> None:
    real = os.path.realpath(f"{directory}/{path}")
    if not real.startswith(directory + "/"):
        return
    inside = real.removeprefix(directory + "/")
    with suppress(OSError), opened_above(top, inside) as (folder, name):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            found.kept.setdefault(inside, identity(status))


def identity(status: os.stat_result) -> str:
    """Which file or folder it is, on this host."""
    return f"{status.st_dev}:{status.st_ino}"


@contextmanager
def opened_above(top: int, path: str, *, make: Callable[[int, str], None] | None = None) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds a path, and the path's last name; no link is followed on the way.

    Args:
        top: descriptor of the folder that the path starts from.
        path: relative, plain.
        make: makes a missing folder, given the one above and its name.

    Raises:
        OSError: a part is missing, a link, or no folder.
    """
    *folders, name = path.split("/")
    at = os.dup(top)
    try:
        for part in folders:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                below = open_own(part, flags, at)
            except FileNotFoundError:
                if make is None:
                    raise
                make(at, part)
                below = os.open(part, flags, dir_fd=at)
            os.close(at)
            at = below
        yield at, name
    finally:
        os.close(at)
