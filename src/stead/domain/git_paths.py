"""Which files of a workspace a repository's settings name: hooks, further settings, programs.

Layer: domain. Pure: settings are read as git listed them, and nothing is looked up. Who can write what a setting names
commands git as much as who can write the setting.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from stead.domain.git import RUNS_NOTHING


class GitFile(msgspec.Struct, frozen=True):
    """One file of settings.

    Args:
        path: relative to the workspace.
        settings: names, as git spells them, and values.
    """

    path: str
    settings: tuple[tuple[str, str], ...]

    def includes(self, home: str) -> Iterator[str]:
        """The files of further settings that it names, conditional ones too; those outside the workspace are not.

        Args:
            home: absolute path of the workspace, as the person's programs see it.
        """
        above = posixpath.dirname(self.path)
        values = [value for name, value in self.settings if name.startswith("include") and name.endswith(".path")]
        return (inside for value in values if (inside := _inside(value, above, home)))


class Named(msgspec.Struct, frozen=True):
    """A path that settings name. ``sure``: git takes it for a path; else it is a word of a command."""

    path: str
    sure: bool


def named_paths(file: GitFile, tops: Sequence[str], home: str) -> Iterator[Named]:
    """What a file of settings names in the workspace, once for each folder that git may start from.

    Args:
        file: of settings.
        tops: the work trees in the workspace, relative; "" for the workspace itself.
        home: see ``GitFile.includes``.
    """
    above = posixpath.dirname(file.path)
    trees = [value for name, value in file.settings if name == "core.worktree"]
    starts = dict.fromkeys([*tops, above, *(_inside(value, above, home) for value in trees)])
    yield from (Named(path, sure=True) for path in file.includes(home))
    for name, value in file.settings:
        if name == "core.worktree" or (RUNS_NOTHING.fullmatch(name) and not name.startswith(("lfs.", "init."))):
            continue
        if name.startswith("alias.") and not value.startswith("!"):
            continue
        sure = name in ("core.hookspath", "core.attributesfile")
        for word in [value] if sure else _words(value):
            for start in starts:
                if inside := _inside(word, start, home):
                    yield Named(inside, sure)


def _words(value: str) -> list[str]:
    try:
        return shlex.split(value.removeprefix("!"), comments=False)
    except ValueError:
        return value.split()


def _inside(path: str, start: str, home: str) -> str:
    """A path relative to the workspace; "" when it is the workspace itself or leads elsewhere."""
    if path.startswith(("~", "%(prefix)")) or "\0" in path:
        return ""
    whole = posixpath.normpath(posixpath.join(home, start, path))
    return whole.removeprefix(home + "/") if whole.startswith(home + "/") else ""
