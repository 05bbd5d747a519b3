"""Asking git, inside a machine, which files of the workspace its settings name.

Layer: machines. Asked before anything of a model's runs in the machine. ``git config`` on a given file reads that file
and runs nothing; includes are followed here, conditional ones too, as conditions may hold outside only. A file that git
calls malformed names nothing: no git works with it, the person's neither. Git is started in no repository, or it would
read the settings of that first.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from msgspec.structs import replace

from stead.domain.errors import MachineDied, MachineUnavailable, ToolFault
from stead.domain.git_paths import GitFile, Named, named_paths
from stead.domain.obeyed import fold
from stead.machines.machine import Machine
from stead.machines.protected import Found, opened_above
from stead.machines.workspace import opened_workspace

_LIMIT_S = 10
_SLACK_S = 5.0
_MOST_BYTES = 1 << 20
_MOST_ROUNDS = 10
"""As many files as git follows from one to the next."""
_MOST_NAMED = 200
_PLACES = {".git", "config", "config.worktree", "modules", "worktrees"}
_FIND = r"""find -H %s \( -name objects -o -name refs -o -name logs -o -name lfs -o -name annex \) -prune \
-o ! -type d \( -iname config -o -iname config.worktree \) -print0"""
_POINTERS = "for file in %s; do [ ! -f $file ] || head -c 4096 $file; echo; done"
_LIST = r"""set -o pipefail
type git >/dev/null || { echo "there is no git under /usr"; exit 7; }
%s | while IFS= read -r -d '' file; do
[ -e "$file" ] || continue
[ -r "$file" ] || exit 8
printf '%%s\0' "$file"
git -C / config --file "/work/$file" --no-includes --list -z 2>/dev/null || [ $? = 128 ] || exit 9
printf '\0'
done && printf read"""


Reading = Callable[[str], AbstractAsyncContextManager[Machine]]
"""Opens a machine that shows one folder, given by its absolute path, and can write nothing."""


@dataclass(frozen=True)
class Answer:
    """What the settings name, and the absolute paths that it was read from."""

    named: tuple[str, ...]
    sources: tuple[str, ...]


async def named_by_git(reading: Reading, directory: str, found: Found) -> Answer:
    """Paths of the workspace that the settings of its repositories name, besides what is protected anyway.

    Args:
        reading: see there.
        directory: the workspace; absolute and real.
        found: where its repositories are.

    Raises:
        MachineUnavailable: it cannot be told; says why.
    """
    places = repositories(found)
    dots = [path for path in places if fold(path.rpartition("/")[2]) == ".git"]
    async with reading(directory) as machine:
        files = await _listed(machine, _FIND % _words(places))
        pointers = await _said(machine, _POINTERS % _words(dots)) if dots else b""
        files += await _included(machine, directory, files)
    elsewhere = await asyncio.to_thread(_elsewhere, directory, pointers)
    for outside, above in elsewhere.items():
        async with reading(outside) as machine:
            files += [replace(one, path=f"{above}/{one.path}") for one in await _listed(machine, _FIND % ".")]
    tops = sorted({path.rpartition("/")[0] for path in dots})
    named = dict.fromkeys(one for file in files for one in named_paths(file, tops, directory))
    paths = await asyncio.to_thread(_there, directory, named)
    if len(paths) > _MOST_NAMED:
        raise MachineUnavailable(
            "the git settings in {!r} name more than {} files; try --trial", directory, _MOST_NAMED
        )
    read = {f"{directory}/{one}" for file in files for one in (file.path, os.path.dirname(file.path))}
    return Answer(tuple(sorted(paths)), tuple(sorted({*read, *elsewhere, *(f"{directory}/{one}" for one in places)})))


def stamp(sources: Sequence[str]) -> tuple[tuple[int, int, int] | None, ...]:
    """How files are now; another answer when one of them was changed or replaced."""
    return tuple(map(_stamp, sources))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


async def _included(machine: Machine, directory: str, files: Sequence[GitFile]) -> list[GitFile]:
    """The files of settings that these include, and so on."""
    known = {file.path for file in files}
    every: list[GitFile] = []
    last = files
    for _ in range(_MOST_ROUNDS):
        new = {path for file in last for path in file.includes(directory)} - known
        if not new:
            return every
        known |= new
        last = await _listed(machine, "printf '%s\\0' " + _words(sorted(new)))
        every += last
    raise MachineUnavailable(
        "the git settings in {!r} include more than is followed; shorten their includes", directory
    )


def _elsewhere(directory: str, pointers: bytes) -> dict[str, str]:
    """Repositories outside the workspace that its ``.git`` files point to: their real paths, absolute and relative."""
    lines = pointers.decode("utf-8", "surrogateescape").splitlines()
    named = [line.removeprefix("gitdir:").strip() for line in lines if line.startswith("gitdir:")]
    found = {os.path.realpath(os.path.join(directory, path).partition("/worktrees/")[0]) for path in named}
    outside = (path for path in sorted(found) if not (path + "/").startswith(directory + "/") and os.path.isdir(path))
    return {path: os.path.relpath(path, directory) for path in outside}


def repositories(found: Found) -> list[str]:
    """Where the settings of repositories may be."""
    return [path for path in (*found.kept, *found.links) if fold(path.rpartition("/")[2]) in _PLACES]


def _words(paths: Iterable[str]) -> str:
    return " ".join(shlex.quote("./" + path) for path in paths)


async def _listed(machine: Machine, paths: str) -> list[GitFile]:
    """The settings in files.

    Args:
        machine: see ``named_by_git``.
        paths: a command that prints where the files are, each with a zero byte behind it.
    """
    said = await _said(machine, _LIST % paths)
    if not said.endswith(b"read"):
        raise _unread(machine, said)
    files = []
    fields = iter(said.removesuffix(b"read").decode("utf-8", "surrogateescape").split("\0"))
    for path in fields:
        if not path:
            continue
        settings = []
        while field := next(fields, ""):
            name, _, value = field.partition("\n")
            settings.append((name, _as_the_person_sees_it(value)))
        files.append(GitFile(path.removeprefix("./"), tuple(settings)))
    return files


async def _said(machine: Machine, command: str) -> bytes:
    """All that a command prints, complaints included."""
    said = bytearray()
    limits = (b"%d" % (_LIMIT_S * 1000), b"%d" % _MOST_BYTES)
    text = command.encode("utf-8", "surrogateescape")
    try:
        code, _, ended = await machine.call("run", text, *limits, limit_s=_LIMIT_S + _SLACK_S, on_output=said.extend)
    except (MachineDied, ToolFault) as error:
        raise _unread(machine, str(error).encode()) from error
    if (code, ended) != (b"0", b"exit"):
        raise _unread(machine, said)
    return bytes(said)


def _unread(machine: Machine, said: bytes | bytearray) -> MachineUnavailable:
    why = bytes(said[-200:]).replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return MachineUnavailable(
        "git's settings in {!r} cannot be read, so the hooks that they name cannot be protected: {!r}; repair the "
        "settings, or work on trial (--trial)",
        *(machine.binding.directory, why),
    )


def _as_the_person_sees_it(value: str) -> str:
    """A value whose path starts in the person's home, or goes through links, as a plain absolute one."""
    return os.path.realpath(os.path.expanduser(value)) if value.startswith(("~/", "/")) and " " not in value else value


def _there(directory: str, named: Sequence[Named] | dict[Named, None]) -> set[str]:
    """What is to be protected: paths for sure, there or not; words of commands that are files, or look like a path."""
    paths = {one.path for one in named if one.sure}
    with opened_workspace(directory) as top:
        for one in named:
            kind = _kind(top, one.path)
            if not one.sure and (kind == "file" or (not kind and not {"/", "."}.isdisjoint(one.path))):
                paths.add(one.path)
    return paths


def _kind(top: int, path: str) -> str:
    try:
        with opened_above(top, path) as (folder, name):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file"
