"""A person's own commands in ``stead chat``: Markdown files whose text is said in place of the command.

Layer: cli. They lie in the project's folder and in the person's own; those of a folder came with it and are nobody's
word yet. So a file is read as data within bounds and through no link, nothing in it runs or is permitted, and its text
is shown before it is sent.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stead.cli.output import clean, clean_line

_FOLDERS = (".stead/commands", ".claude/commands", ".agents/commands")
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,63}")
_LIMIT_BYTES = 64_000
_MOST = 200
_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_DESCRIPTION = re.compile(r"^description:\s*(.+)$", re.MULTILINE)
_PLACE = re.compile(r"\$(ARGUMENTS|[1-9])")


class OwnCommand(NamedTuple):
    """One file. ``text``: without its front matter, clean."""

    path: str
    description: str
    text: str

    def filled(self, words: str) -> str:
        """What is said: ``$ARGUMENTS`` and ``$1`` to ``$9`` filled in; where there is none, the words follow."""
        try:
            each = shlex.split(words)
        except ValueError:
            each = words.split()
        if not _PLACE.search(self.text):
            return "\n\n".join(filter(None, (self.text.strip(), words)))

        def value(found: re.Match[str]) -> str:
            name = found[1]
            return words if name == "ARGUMENTS" else each[int(name) - 1] if int(name) <= len(each) else ""

        return _PLACE.sub(value, self.text).strip()


def own_commands(directory: str, home: Path) -> dict[str, OwnCommand]:
    """The commands by name, of a subfolder as ``folder:name``; the person's own come before a project's.

    Args:
        directory: the project's folder.
        home: Stead's own, whose ``commands`` are the person's, as those below their home directory are.
    """
    user = os.path.expanduser("~")
    roots = [str(home / "commands"), *(os.path.join(user, folder) for folder in _FOLDERS[1:])]
    roots += [os.path.join(directory, folder) for folder in _FOLDERS]
    found: dict[str, OwnCommand] = {}
    for root in roots:
        for name, path in _files(root):
            if len(found) < _MOST and name not in found and (command := _read(path)) is not None:
                found[name] = command
    return found


def _files(root: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names and paths of the Markdown files in a folder and its subfolders, no link among them."""
    if os.path.realpath(root) != os.path.abspath(root) and not prefix:
        return
    with suppress(OSError), os.scandir(root) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name)[:_MOST]:
            stem, kind = os.path.splitext(entry.name)
            if entry.is_dir(follow_symlinks=False) and not prefix and _NAME.fullmatch(entry.name):
                yield from _files(entry.path, f"{entry.name}:")
            elif kind == ".md" and _NAME.fullmatch(stem) and entry.is_file(follow_symlinks=False):
                yield prefix + stem, entry.path


def _read(path: str) -> OwnCommand | None:
    """The command of a file; nothing if it cannot be read as a short text."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        content = file.read(_LIMIT_BYTES + 1)
    try:
        text = clean(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    front = _FRONT_MATTER.match(text)
    described = _DESCRIPTION.search(front[1]) if front else None
    text = text[front.end() :] if front else text
    if len(content) > _LIMIT_BYTES or not text.strip():
        return None
    return OwnCommand(path, clean_line(described[1], 80) if described else "", text)
