"""The daemon with a journal that dies at a chosen commit, or that forgets. For the chaos bench alone.

``STEAD_CHAOS`` says which: ``before:N`` and ``after:N`` kill the process (SIGKILL) before or after the N-th commit;
``forget`` is the negative control: what the journal says of calls that started or ended is lost at each start.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from stead.daemon import Own, main
from stead.domain.events import Draft, Erased, Event, MachineEnded, ToolFinished, ToolStarted
from stead.domain.ids import SessionId
from stead.domain.ports import Claimed
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keys import Keys


class ChaoticJournal(JournalFile):
    """A real journal with a fate."""

    fate = ""
    at = 0
    commits = 0

    async def append(self, drafts: Sequence[Draft], *, claim: Claimed | None = None) -> tuple[Event, ...]:
        """Append, and die if it is time."""
        self.commits += 1
        if self.fate == "before" and self.commits == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        events = await super().append(drafts, claim=claim)
        if self.fate == "after" and self.commits == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return events

    def events(self, *, after: int = 0, session: SessionId | None = None) -> Iterator[Event | Erased]:
        """Read, and forget if that is the fate."""
        for event in super().events(after=after, session=session):
            if (
                self.fate == "forget"
                and isinstance(event, Event)
                and isinstance(event.body, ToolStarted | ToolFinished)
            ):
                yield msgspec.structs.replace(event, body=MachineEnded(why="forgotten"))
            else:
                yield event


def _open(path: Path, keys: Keys) -> JournalFile:
    journal: Any = open_journal(path, keys)
    journal.__class__ = ChaoticJournal
    fate, _, at = os.environ.get("STEAD_CHAOS", "").partition(":")
    journal.fate, journal.at = fate, int(at or 0)
    opened: JournalFile = journal
    return opened


if __name__ == "__main__":
    sys.exit(main(own=Own(open_journal=_open)))
