"""``memory``: list, search, add, correct and forget memories.

Layer: cli.
"""

from __future__ import annotations

from stead.cli import memory_files, memory_forgetting, memory_reading, memory_reports, memory_runs, memory_saying
from stead.cli.forms import family

_ROWS = (
    memory_reading.ROWS
    | memory_saying.ROWS
    | memory_forgetting.ROWS
    | memory_files.ROWS
    | memory_runs.ROWS
    | memory_reports.ROWS
)
COMMANDS = {"memory": family("memory", _ROWS, "list")}
