"""What of a folder is neither kept in a checkpoint nor touched when one is restored.

Layer: machines. The rules go by names; what cannot be kept for what it is (too large, unreadable, no file) is left out
where it is met.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from stead.domain.errors import InvalidRequest

LARGEST_BYTES = 2 << 30
"""A larger file is left out: keeping it would take longer than anybody waits."""

DEEPEST = 128
"""Folders nested deeper are left out; each holds a descriptor open while it is walked."""

HISTORY = ".git"
REMADE = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
"""Folders that tools fill from what is kept; left out where they were at the first look (``first_look``)."""
PROGRAMS = frozenset({"bin", ".bin", "Scripts"})
"""Folders in those that are kept all the same: what is in them is run by its name."""
LATER_BYTES = 1 << 30
"""So much of all folders with such names that came later is kept."""

UNFINISHED = ".restoring"
"""Ends the names of files that a restore is writing; what a kill has left of them, the next one removes."""

SPECIAL = "devices, pipes and sockets are not kept"
TOO_LARGE = f"it is larger than {LARGEST_BYTES >> 30} GB"
TOO_DEEP = f"it is nested deeper than {DEEPEST} folders"
MOUNTED = "another file system is mounted there"
BEFORE = "it was there before any session, and its tool makes it anew; only its programs (bin) are kept"
WITHIN = "it is in a folder that is left out"
LATER = f"it came later, in a folder as tools make them, and more than {LATER_BYTES >> 30} GB of such are not kept"
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"
_UNFINISHED = re.compile(r"\.stead-[0-9a-f]{16}" + re.escape(UNFINISHED))
_MOST_PATTERNS, _LONGEST_PATTERN = 5_000, 1_000


Planted = Callable[[str], bool]
"""Whether a machine that still works may have put this path there for the person's programs to act on."""


def nothing(_path: str) -> bool:
    """No machine is at work."""
    return False


class _Spec(Protocol):
    def match_file(self, file: str) -> bool: ...


class Rules:
    """Which names are left out.

    Args:
        ignore: patterns as in .gitignore, relative to the folder.
        planted: see there.
        before: paths of folders that are left out but for their programs; see ``first_look``.

    Raises:
        InvalidRequest: one is no such pattern.
    """

    def __init__(self, ignore: Sequence[str], planted: Planted = nothing, before: frozenset[str] = frozenset()) -> None:
        self.before = before
        self._planted = planted
        self._spec: _Spec | None = _compiled(ignore) if any(map(str.strip, ignore)) else None

    def why(self, path: str, name: str, *, folder: bool) -> str:
        """Why it is left out; "" when it is not."""
        if name == HISTORY:
            return "Git's own history is not kept"
        if self._planted(path):
            return "programs of yours would act on it, and it was not there before the machine"
        if path.rpartition("/")[0] in self.before and not (folder and name in PROGRAMS):
            return WITHIN
        if name.startswith(".stead-") and is_unfinished(name):
            return "an interrupted restore has left it"
        if self._spec is not None:
            readable = os.fsencode(path).decode("utf-8", "replace")  # the matcher takes nothing but text
            if self._spec.match_file(readable + "/" if folder else readable):
                return "an ignore pattern names it"
        return ""


def remade_above(path: bytes) -> bytes:
    """The folder with a name as tools make them that a path is, or is in, unless it is among its programs."""
    parts = path.split(b"/")
    for end, part in enumerate(parts, 1):
        if os.fsdecode(part) in REMADE and os.fsdecode(b"".join(parts[end : end + 1])) not in PROGRAMS:
            return b"/".join(parts[:end])
    return b""


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
        return os.read(tag, len(_TAG)) == _TAG
    except OSError:
        return False
    finally:
        os.close(tag)


def shown(path: str) -> str:
    """A path for people, with what cannot be printed escaped; a shown path stays as it is."""
    if path.isprintable():
        return path
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in path)


def _compiled(ignore: Sequence[str]) -> _Spec:
    import re2
    from pathspec import GitIgnoreSpec  # costs 60 ms to import

    if len(ignore) > _MOST_PATTERNS or any(len(pattern) > _LONGEST_PATTERN for pattern in ignore):
        raise InvalidRequest(f"at most {_MOST_PATTERNS:,} ignore patterns of {_LONGEST_PATTERN:,} characters are taken")
    patterns = [pattern.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for pattern in ignore]
    try:
        return GitIgnoreSpec.from_lines(patterns, backend="re2")  # linear time, also for a pattern made to be slow
    except (ValueError, re.error, re2.error) as error:
        raise InvalidRequest(f"an ignore pattern cannot be read ({error}); write them as in .gitignore") from error
