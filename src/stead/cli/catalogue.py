"""What the help says of every command.

Layer: cli. Knows no command's module. ``catalogue.txt`` is the list as it is shown, by title.
"""

from __future__ import annotations

import os
import re

with open(os.path.join(os.path.dirname(__file__), "catalogue.txt"), encoding="utf-8") as _file:
    LISTING = _file.read().rstrip()

GROUPS = {
    title: dict(re.findall(r"^  (\S+) +(.+)$", commands, re.MULTILINE))
    for title, commands in re.findall(r"^(\S.*)\n((?:  .+\n?)+)", LISTING, re.MULTILINE)
}
"""Summaries by title and command."""
AS_IT_IS = frozenset(
    {"up", "down", "status", "doctor", "logs", "disk", "stop", "backup", "restore", "key", "completion", "specialist"}
    | {"upgrade"}
)
"""Commands that start no daemon where none runs: they start it themselves, work without it, or end something."""
SUMMARIES = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
