"""Which of some files a command has written: what they are before it and after it.

Layer: runtime. It is evidence of work done, and no input of a decision about what may be done. What could not be looked
at was not seen to change.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from stead.domain.errors import MachineError
from stead.domain.ids import SessionId
from stead.domain.ports import Machines

log = logging.getLogger(__name__)
_NO_FILE = ("absent", "folder", "unreadable")


async def look(machines: Machines, session: SessionId, paths: Sequence[str]) -> Mapping[str, str]:
    """What each file is now, as ``Machines.fingerprint`` has it; nothing at all when the machine cannot say."""
    try:
        return await machines.fingerprint(session, paths)
    except MachineError as fault:
        log.warning("session %s: nobody could see which files a command writes: %s", session, fault)
        return {}


def between(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that were written between two looks, and those that were removed."""
    other = [path for path in after if path in before and before[path] != after[path]]
    written = tuple(path for path in other if after[path] not in _NO_FILE)
    return written, tuple(path for path in other if after[path] == "absent")
