"""Repositories, by what is in a folder.

Layer: machines.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from stead.domain.obeyed import REPOSITORY_FILES, REPOSITORY_PARTS, REPOSITORY_TELLS, fold, is_repository


def repository_parts(ours: Iterable[os.DirEntry[str]], theirs: Iterable[os.DirEntry[str]]) -> frozenset[str]:
    """Names in a folder that git obeys, if it would take the folder for a repository; else none.

    Args:
        ours: what a layer has there.
        theirs: what is there in the person's folder. Where that is no repository yet, what makes it one counts too.
    """
    new, old = _names(ours), _names(theirs)
    if not is_repository((new | old).values()):
        return frozenset()
    obeyed = REPOSITORY_PARTS if is_repository(old.values()) else REPOSITORY_PARTS | _TELLS
    return frozenset(name for name, folded in (new | old).items() if folded in obeyed)


_TELLS = frozenset(map(fold, REPOSITORY_TELLS))


def _names(entries: Iterable[os.DirEntry[str]]) -> dict[str, str]:
    return {
        entry.name: fold(entry.name)
        for entry in entries
        if not (fold(entry.name) in REPOSITORY_FILES and entry.is_dir(follow_symlinks=False))
    }
