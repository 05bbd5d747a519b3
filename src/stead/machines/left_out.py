"""What of a folder is neither kept in a checkpoint nor touched when one is restored.

Layer: machines. The rules go by names; what cannot be kept for what it is (too large, unreadable, no file) is left out
where it is met.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Sequence

from stead.domain.errors import InvalidRequest
from stead.machines.runner.ignored import CACHE_TAG, REMADE

LARGEST_BYTES = 2 << 30
"""A larger file is left out: keeping it would take longer than anybody waits."""

DEEPEST = 128
"""Folders nested deeper are left out; each holds a descriptor open while it is walked."""

HISTORY = ".git"
UNFINISHED = ".restoring"
"""Ends the names of files that a restore is writing; what a kill has left of them, the next one removes."""

SPECIAL = "devices, pipes and sockets are not kept"
TOO_LARGE = f"it is larger than {LARGEST_BYTES >> 30} GB"
TOO_DEEP = f"it is nested deeper than {DEEPEST} folders"
MOUNTED = "another file system is mounted there"
REBUILT = "its tool can rebuild it"
_WHY = {
    errno.EACCES: "you may not read or write it",
    errno.EPERM: "you may not read or write it",
    errno.EBUSY: MOUNTED,
    errno.ENOTEMPTY: "it still holds what is left out of checkpoints",
} | dict.fromkeys((errno.ELOOP, errno.ENOTDIR, errno.ENXIO), "it became something else just now")
_UNFINISHED = re.compile(r"\.stead-[0-9a-f]{16}" + re.escape(UNFINISHED))
_MOST_PATTERNS, _LONGEST_PATTERN = 5_000, 1_000


class Rules:
    """Which names are left out.

    Args:
        ignore: patterns as in .gitignore, relative to the folder.
        unfinished: what an interrupted restore has left is not left out, so that the next one removes it.

    Raises:
        InvalidRequest: one is no such pattern.
    """

    def __init__(self, ignore: Sequence[str], *, unfinished: bool = False) -> None:
        self._matches = _compiled(ignore) if any(map(str.strip, ignore)) else None
        self._unfinished = unfinished

    def why(self, path: str, name: str, *, folder: bool) -> str:
        """Why it is left out; "" when it is not."""
        if name == HISTORY:
            return "Git's own history is not kept"
        if folder and name in REMADE:
            return REBUILT
        if name.startswith(".stead-") and is_unfinished(name) and (folder or not self._unfinished):
            return "an interrupted restore has left it"
        if self._matches is not None:
            readable = os.fsencode(path).decode("utf-8", "replace")  # the matcher takes nothing but text
            if self._matches(readable + "/" if folder else readable):
                return "an ignore pattern names it"
        return ""


def is_unfinished(name: str) -> bool:
    """Whether a restore made this name for a moment."""
    return _UNFINISHED.fullmatch(name) is not None


def is_cache(folder: int) -> bool:
    """Whether an open folder is marked by a CACHEDIR.TAG (bford.info/cachedir)."""
    try:
        tag = os.open("CACHEDIR.TAG", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    try:
        return os.read(tag, len(CACHE_TAG)) == CACHE_TAG
    except OSError:
        return False
    finally:
        os.close(tag)


def why_not(error: OSError) -> str:
    """Why something in the folder cannot be read or written."""
    return _WHY.get(error.errno or 0, str(error.strerror))


def shown(path: str) -> str:
    """A path for people, with what cannot be printed escaped; a shown path stays as it is."""
    if path.isprintable():
        return path
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in path)


def _compiled(ignore: Sequence[str]) -> Callable[[str], bool]:
    import re2
    from pathspec import GitIgnoreSpec  # costs 60 ms to import

    if len(ignore) > _MOST_PATTERNS or any(len(pattern) > _LONGEST_PATTERN for pattern in ignore):
        raise InvalidRequest(f"at most {_MOST_PATTERNS:,} ignore patterns of {_LONGEST_PATTERN:,} characters are taken")
    patterns = [pattern.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for pattern in ignore]
    try:
        return GitIgnoreSpec.from_lines(
            patterns, backend="re2"
        ).match_file  # linear time, also for a pattern made to be slow
    except (ValueError, re.error, re2.error) as error:
        raise InvalidRequest(f"an ignore pattern cannot be read ({error}); write them as in .gitignore") from error
