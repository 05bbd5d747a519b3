"""What a folder says of itself to agents: AGENTS.md and the like.

Layer: machines. The files are data from a folder in which anything may be hostile: opened by descriptor, through no
link, and only so much of them is read.
"""

from __future__ import annotations

import asyncio
import hashlib

from stead.domain.checks import Check
from stead.domain.events import RulesFile
from stead.domain.obeyed_table import PROJECT_RULES
from stead.machines.layers import side
from stead.machines.proposals import proposed
from stead.machines.workspace import opened_above, opened_workspace

ALL_BYTES = 48_000
RULES_BYTES = 24_000


class ProjectFolder:
    """Implements ``domain.ports.Project``. No machine writes such a file: what would change one is held."""

    async def rules(self, directory: str) -> tuple[RulesFile, ...]:
        """As ``Project.rules``; files of the same content count once."""
        return await asyncio.to_thread(_rules, directory)

    async def proposals(self, directory: str) -> tuple[Check, ...]:
        """As ``Project.proposals``."""
        return await asyncio.to_thread(_proposals, directory)


def _rules(directory: str) -> tuple[RulesFile, ...]:
    found: dict[str, RulesFile] = {}
    room = ALL_BYTES
    for name in PROJECT_RULES:
        content = _content(directory, name, RULES_BYTES + 1)
        if not content.strip():
            continue
        cut = len(content) > min(room, RULES_BYTES)
        kept = content[: min(room, RULES_BYTES)]
        digest = hashlib.sha256(kept).hexdigest()
        if digest not in found and kept:
            found[digest] = RulesFile(name, kept.decode("utf-8", "replace"), digest, cut)
            room -= len(kept)
    return tuple(found.values())


def _proposals(directory: str) -> tuple[Check, ...]:
    if not (rules := _rules(directory)):
        return ()
    makefile = _content(directory, "Makefile", ALL_BYTES).decode("utf-8", "replace")
    return proposed((file.text for file in rules), makefile, _content(directory, "package.json", ALL_BYTES))


def _content(directory: str, name: str, most: int) -> bytes:
    """The beginning of a regular file; nothing for anything else, and for one that may not be read."""
    try:
        with opened_workspace(directory) as root, opened_above(root, name) as (folder, last):
            entry = side(folder, last)
            return entry.content(most) if entry is not None and entry.what == "file" else b""
    except OSError:
        return b""
