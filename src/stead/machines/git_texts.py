"""What git makes of texts that it gets in memory: three versions merged into one, settings compared.

Layer: machines. The texts were written by machines and are hostile. git is run outside any repository, with no settings
of its own or of the person's, on files that have no name; it starts nothing and writes nothing.
"""

from __future__ import annotations

import os
import re

from stead.domain.git import HARMLESS
from stead.machines.git_running import GitFailed, run_git

MOST_BYTES = 1 << 20
_LIMIT_S = 5.0
_ALONE = {"GIT_DIR": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
_PLAIN = re.compile(r'\[[a-z]+(?: "[\w./+@-]+")?\]|\t[A-Za-z]+ = [\w ./+@:\'()&,-]+')
"""A line as git itself writes it, in which no program reads a comment, a quotation or a continued line."""


def merged(ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """A text with what two sides changed of the one they began with; None where that is not clean.

    Each text has at most ``MOST_BYTES``; longer ones, and what is no text, are not merged.
    """
    if any(len(text) > MOST_BYTES or b"\0" in text for text in (ours, base, theirs)):
        return None
    return _git(("merge-file", "-p", "-q"), ours, base, theirs)


def differ_harmlessly(old: bytes, new: bytes) -> bool:
    """Whether two versions of a repository's settings differ in nothing but those of ``HARMLESS``.

    Git says what both hold. A line that git would not have written so counts as harm, since other programs that read
    these files could take it for something else; so does a remote of a branch that the settings do not know.
    """
    before, after = _settings(old), _settings(new)
    if before is None or after is None:
        return False
    known = {line.partition("\n")[0] for line in before if line.startswith("remote.")}
    for line in after:
        name, _, value = line.partition("\n")
        if line not in before and name.endswith(".remote") and f"remote.{value}.url" not in known and value != ".":
            return False
    try:
        fresh = set(new.decode().split("\n")) - set(old.decode().split("\n"))
    except UnicodeDecodeError:
        return False
    rest = [[line for line in lines if not HARMLESS.fullmatch(line)] for lines in (before, after)]
    return rest[0] == rest[1] and all(_PLAIN.fullmatch(line) for line in fresh - {""})


def _settings(text: bytes) -> list[str] | None:
    """Each setting with its name, a line's end and its value, in their order; None where git reads none."""
    if len(text) > MOST_BYTES:
        return None
    listing = _git(("config", "--list", "-z", "--no-includes", "--file"), text)
    return None if listing is None else listing.decode("utf-8", "surrogateescape").split("\0")


def _git(words: tuple[str, ...], *texts: bytes) -> bytes | None:
    """What git prints about texts, whose paths are its last arguments; None where it fails or is not there."""
    files = [os.memfd_create("text") for _ in texts]
    try:
        for fd, text in zip(files, texts, strict=True):
            with open(fd, "wb", closefd=False) as file:
                file.write(text)
        return run_git((*words, *(f"/proc/self/fd/{fd}" for fd in files)), _ALONE, limit_s=_LIMIT_S, passed=files)
    except (GitFailed, OSError):
        return None
    finally:
        for fd in files:
            os.close(fd)
