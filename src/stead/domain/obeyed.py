"""What programs of the person's obey: files of the table, and repositories by what is in them.

Layer: domain. Whoever can write such a file runs code outside any machine, with the person's rights. One matcher for
all readers: the guardian asks before a call writes one, a machine shows it read-only and moves out what was planted, a
trial holds it back. How each is kept stands in its row (``obeyed_table``).

Names are compared as the least particular file system would: without letter case, invisible characters, and what
Windows drops at a name's end. A name that is obeyed on no system is then held too, which costs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from stead.domain.obeyed_table import TABLE, Kept

_ORDER: tuple[Kept, ...] = ("tools", "asked", "held")
_INVISIBLE = ("Cf", "Mn", "Cc")

REPOSITORY_TELLS = ("HEAD", "objects", "refs", "commondir", "config")
"""What tells a repository."""
REPOSITORY_FILES = frozenset(("head", "commondir", "config"))
"""Those of them, in small letters, that are files: a folder of the name does not count."""
REPOSITORY_PARTS = frozenset(
    ("head", "config", "config.worktree", "hooks", "info", "commondir", "gitdir", "modules", "worktrees")
)
"""What git obeys in one; objects and refs are only its data."""
_MEANT = REPOSITORY_PARTS | {"objects", "refs"}


@lru_cache(maxsize=8192)
def fold(name: str) -> str:
    """One name of a path as the least particular file system compares it."""
    if not name.isascii():
        parts = unicodedata.normalize("NFKD", name)
        name = "".join(char for char in parts if unicodedata.category(char) not in _INVISIBLE)
    plain = name.casefold().partition(":")[0].rstrip(". ") or name
    return ".git" if plain == "git~1" else plain


_Pattern = tuple[str, ...]
PATTERNS: tuple[tuple[_Pattern, Kept], ...] = tuple(
    (tuple(pattern.casefold().split("/")), row.kept) for row in TABLE for pattern in row.patterns
)
"""The table's patterns, name by name, in small letters."""
_DEEPEST = max(len(pattern) for pattern, _ in PATTERNS)
_WILD = [(pattern, how) for pattern, how in PATTERNS if "*" in pattern[-1]]
_ANY_WILD = re.compile("|".join(translate(pattern[-1]) for pattern, _ in _WILD))
_BY_LAST: dict[str, list[tuple[_Pattern, Kept]]] = {}
for _pattern, _how in PATTERNS:
    _BY_LAST.setdefault(_pattern[-1], []).append((_pattern, _how))


def kept(path: str) -> Kept | None:
    """How a file is kept that programs obey, or that lies in a folder which they do; the strictest row counts.

    Args:
        path: in a workspace, absolute or relative, plain.
    """
    parts = path.split("/")
    found = (_ending(parts[max(0, at - _DEEPEST) : at]) for at in range(1, len(parts) + 1))
    return max(filter(None, found), key=_ORDER.index, default=None)


def kept_itself(path: str) -> Kept | None:
    """Likewise, whatever the folders above it are."""
    return _ending(path.rsplit("/", _DEEPEST)[-_DEEPEST:])


def shielded_above(path: str) -> str:
    """The folder in which a path lies and which is shown read-only as a whole; "" when there is none."""
    parts = path.strip("/").split("/")
    above = ("/".join(parts[:at]) for at in range(1, len(parts)))
    return next((folder for folder in above if kept_itself(folder) == "held"), "")


def is_repository(names: Collection[str]) -> bool:
    """Whether git would take a folder for a repository, or for what several repositories share.

    Args:
        names: what is in it, folded; without those of ``REPOSITORY_FILES`` that are folders.
    """
    has = set(names)
    return ({"objects", "refs"} <= has and not has.isdisjoint(("head", "config"))) or {"head", "commondir"} <= has


def beside(path: str) -> tuple[str, ...]:
    """The paths that tell whether writing a file would make a repository, or write in what git obeys of one."""
    told = (above + tell for above, _ in _in_repository(path) for tell in REPOSITORY_TELLS)
    return tuple(dict.fromkeys(told))


def makes_repository(path: str, files: Mapping[str, str]) -> bool:
    """Whether writing a file would make a repository, or write in what git obeys of one.

    Args:
        path: in a workspace, relative, plain.
        files: what is at the paths that ``beside`` names: "absent", "folder", or anything for a file. A path that
            nobody looked at counts as a file.
    """
    for above, name in _in_repository(path):
        there = {fold(tell): files.get(above + tell, "unknown") for tell in REPOSITORY_TELLS}
        may_be = {
            tell
            for tell, what in there.items()
            if what != "absent" and not (what == "folder" and tell in REPOSITORY_FILES)
        }
        surely = {tell for tell in may_be if there[tell] != "unknown"}
        if is_repository(may_be | {name}) and (name in REPOSITORY_PARTS or not is_repository(surely)):
            return True
    return False


def _in_repository(path: str) -> list[tuple[str, str]]:
    """Each name of a path that means something in a repository, with the path above it."""
    parts = path.split("/")
    names = ((parts[:at], fold(part)) for at, part in enumerate(parts))
    return [("".join(f"{part}/" for part in above), name) for above, name in names if name in _MEANT]


def _ending(names: Sequence[str]) -> Kept | None:
    last = fold(names[-1])
    rows = [*_BY_LAST.get(last, ()), *(_WILD if _ANY_WILD.match(last) else ())]
    if not rows:
        return None
    parts = [fold(name) for name in names]
    fitting = (how for pattern, how in rows if len(parts) >= len(pattern) and _fits(parts[-len(pattern) :], pattern))
    return max(fitting, key=_ORDER.index, default=None)


def _fits(parts: Sequence[str], pattern: _Pattern) -> bool:
    return all(map(fnmatchcase, parts, pattern))
