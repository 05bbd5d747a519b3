"""Which files of a folder the settings of the person's own git name: hooks, further settings, programs.

Layer: machines. The settings are the person's: no machine writes them, since what would change them is held. They are
read by the person's git, which runs nothing to list them, and read again when one of the files has changed. Where git
finds its settings malformed, or is not there at all, it names nothing: then it acts on nothing either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from stead.domain.git_paths import GitFile, named_paths
from stead.machines.git_running import GitFailed, persons_environment, run_git

_LIMIT_S = 10.0
_LIST = ("config", "--list", "--includes", "--show-origin", "-z")
_Stamp = tuple[tuple[int, int, int] | None, ...]
_known: dict[str, tuple[_Stamp, tuple[str, ...], frozenset[str]]] = {}


def named_by_git(directory: str) -> Callable[[str], bool]:
    """Tells of a path in a folder whether the settings of a repository that it is in name it, or a folder above it.

    Args:
        directory: absolute and real.
    """
    found: dict[str, frozenset[str]] = {}

    above = _above(directory)

    def is_named(path: str) -> bool:
        parts = path.split("/")
        for top in (*above, *("/".join(parts[:at]) for at in range(len(parts)))):
            if top not in found:
                names = _names(directory, top)
                found[top] = names | _linked(directory, top, names)
            if any(path == name or path.startswith(name + "/") for name in found[top]):
                return True
        return False

    return is_named


def _above(directory: str) -> tuple[str, ...]:
    """The repository that a folder lies in, relative; none when it is in none."""
    at = os.path.dirname(directory)
    while at != "/":
        if os.path.lexists(f"{at}/.git"):
            return (os.path.relpath(at, directory),)
        at = os.path.dirname(at)
    return ()


def _names(directory: str, top: str) -> frozenset[str]:
    where = os.path.join(directory, top) if top else directory
    if not os.path.lexists(f"{where}/.git"):
        return frozenset()
    stamp, sources, names = _known.get(where, (None, (), frozenset()))
    if stamp is not None and stamp == _stamped(where, sources):
        return names
    sources, names = _asked(directory, top, where)
    _known[where] = _stamped(where, sources), sources, names
    return names


def _linked(directory: str, top: str, names: frozenset[str]) -> frozenset[str]:
    """Where links lead within the folder that stand at what is named, or among the repository's own hooks."""
    hooks = os.path.normpath(os.path.join(directory, top, ".git/hooks"))
    at = [hooks, *(f"{directory}/{name}" for name in names)]
    for folder in [path for path in at if os.path.isdir(path)]:
        with suppress(OSError):  # it may not be listed
            at += [entry.path for entry in os.scandir(folder) if entry.is_symlink()]
    real = {os.path.realpath(path) for path in at}
    return frozenset(path.removeprefix(directory + "/") for path in real if path.startswith(directory + "/"))


def _asked(directory: str, top: str, where: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The files of settings, absolute, and what they name."""
    try:
        listed = run_git(("--no-optional-locks", "-C", where, *_LIST), persons_environment(), limit_s=_LIMIT_S)
    except (FileNotFoundError, GitFailed):
        return (), frozenset()
    names: set[str] = set()
    files = _by_file(listed.decode("utf-8", "surrogateescape"), where)
    for origin, settings in files.items():
        file = GitFile(os.path.relpath(origin, directory), tuple(settings))
        for one in named_paths(file, [top], directory):
            if one.sure or "/" in one.path or "." in one.path or os.path.isfile(f"{directory}/{one.path}"):
                names.add(one.path)
    return tuple(files), frozenset(names)


def _by_file(listing: str, where: str) -> Mapping[str, list[tuple[str, str]]]:
    """The settings of each file, by its absolute path."""
    fields = listing.split("\0")
    found: dict[str, list[tuple[str, str]]] = {}
    for origin, setting in zip(fields[0::2], fields[1::2], strict=False):
        if origin.startswith("file:"):
            name, _, value = setting.partition("\n")
            if value.startswith("~/"):
                value = os.path.expanduser(value)
            found.setdefault(os.path.join(where, origin.removeprefix("file:")), []).append((name, value))
    return found


def _stamped(where: str, sources: tuple[str, ...]) -> _Stamp:
    """A stamp of the settings files; it differs once one of them was changed, replaced, created or removed."""
    home = Path.home()
    always = (f"{where}/.git", f"{where}/.git/config", str(home / ".gitconfig"), str(home / ".config/git/config"))
    return tuple(map(_one, (*always, *sources)))


def _one(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    # A folder's own times change with whatever is made in it.
    return status.st_dev, status.st_ino, 0 if os.path.isdir(path) else status.st_ctime_ns
