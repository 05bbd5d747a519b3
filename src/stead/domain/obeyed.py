"""What programs of the person's obey: files of the table, and repositories by what is in them.

Layer: domain. A program that writes one runs code outside any machine, with the person's rights. One matcher for
all readers: what lands in the folder is held by it, and the guardian names the file where it asks about a write. How
each is kept stands in its row (``obeyed_table``).

Names are compared as the least particular file system would: without letter case, invisible characters, and what
Windows drops at a name's end. A name that is obeyed on no system is then held too, which costs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase, translate
from functools import lru_cache

from stead.domain.obeyed_table import TABLE, Kept

_ORDER: tuple[Kept, ...] = ("tools", "asked", "held")
_INVISIBLE = ("Cf", "Mn", "Cc")

REPOSITORY_TELLS = ("HEAD", "objects", "refs", "commondir", "config")
"""What tells a repository."""
REPOSITORY_FILES = frozenset(("head", "commondir", "config"))
"""Of what tells a repository, in small letters, that which is files: a folder of the name does not count."""
REPOSITORY_PARTS = frozenset(
    ("head", "config", "config.worktree", "hooks", "info", "commondir", "gitdir", "modules", "worktrees")
)
"""What git obeys in one; objects and refs are only its data."""


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


def is_repository(names: Collection[str]) -> bool:
    """Whether git would take a folder for a repository, or for what several repositories share.

    Args:
        names: what is in it, folded; without those of ``REPOSITORY_FILES`` that are folders.
    """
    has = set(names)
    return ({"objects", "refs"} <= has and not has.isdisjoint(("head", "config"))) or {"head", "commondir"} <= has


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
