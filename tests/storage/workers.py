"""What tests run in processes of their own, to kill them, to limit them, or to set them against each other.

``python -m tests.storage.workers NAME FOLDER [NUMBER]`` works on ``FOLDER/journal.db`` and reports on its output.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from pathlib import Path

from stead.domain.errors import Fenced, StorageFault
from stead.domain.ids import SessionId
from stead.storage.journal import JournalFile, open_journal
from stead.storage.migrate import known_steps
from tests.storage.drafts import KEYS, draft, finished, requested, session

BATCH = 3
SESSIONS = 4


def say(text: str) -> None:
    """Report at once, in one piece."""
    os.write(1, text.encode() + b"\n")


def next_place(journal: JournalFile, id: SessionId) -> int:
    last = 0
    for event in journal.events(session=id):
        last = event.session_seq
    return last + 1


def write_until_killed(folder: Path) -> None:
    """Append batches to four sessions at once; say the seq of each that was acknowledged."""
    journal = open_journal(folder / "journal.db", KEYS)

    async def one(id: SessionId) -> None:
        place = next_place(journal, id)
        while True:
            batch = [draft(id, place + at, finished("x" * 300)) for at in range(BATCH)]
            say(str((await journal.append(batch))[-1].seq))
            place += BATCH

    async def all_of_them() -> None:
        await asyncio.gather(*(one(session(number)) for number in range(SESSIONS)))

    asyncio.run(all_of_them())


def compete(folder: Path, number: int) -> None:
    """Run one session as if it were ours alone; say every place that was won, and give way when fenced."""
    journal = open_journal(folder / "journal.db", KEYS)
    id = session(1)

    async def run() -> None:
        say("ready")
        sys.stdin.readline()
        won = 0
        while won < number:
            place = next_place(journal, id)
            try:
                await journal.append([draft(id, place, finished(str(os.getpid())))])
            except Fenced:
                say("fenced")
                continue
            say(str(place))
            won += 1

    asyncio.run(run())
    journal.close()


def reserve(folder: Path, number: int) -> None:
    """Reserve 30 tokens in each of 64 new sessions at once; say how many were let through."""
    journal = open_journal(folder / "journal.db", KEYS)

    async def run() -> None:
        say("ready")
        sys.stdin.readline()
        outcomes = await asyncio.gather(
            *(journal.append([draft(session(number + at), 1, requested(tokens=30))]) for at in range(64)),
            return_exceptions=True,
        )
        say(str(sum(isinstance(outcome, tuple) for outcome in outcomes)))

    asyncio.run(run())
    journal.close()


def fill(folder: Path) -> None:
    """Append until the disk is full, say what came of it, make room, and go on."""
    ballast = folder / "ballast"
    ballast.write_bytes(b"\x00" * 200_000)
    _until_full(folder, ballast.unlink)


def fill_to_limit(folder: Path) -> None:
    """The same where files of this process may only grow so far."""
    journal = folder / "journal.db"
    open_journal(journal, KEYS).close()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    _until_full(folder, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def _until_full(folder: Path, make_room: object) -> None:
    assert callable(make_room)
    journal = open_journal(folder / "journal.db", KEYS)

    async def run() -> None:
        place = 1
        outcomes: list[object] = []
        while not any(isinstance(outcome, StorageFault) for outcome in outcomes):
            outcomes = await asyncio.gather(
                *(journal.append([draft(session(at), place, finished("x" * 5000))]) for at in range(8)),
                return_exceptions=True,
            )
            place += 1
        say(f"full {next(outcome for outcome in outcomes if isinstance(outcome, StorageFault))}")
        failed = [at for at in range(8) if isinstance(outcomes[at], StorageFault)]
        written = {event.session for event in journal.events() if event.session_seq == place - 1}
        assert written == {session(at) for at in range(8)} - {session(at) for at in failed}
        assert journal.verify_chain().faults == ()
        make_room()
        await asyncio.gather(*(journal.append([draft(session(at), place - 1, finished())]) for at in failed))
        assert journal.verify_chain().faults == ()
        say(f"recovered {journal.head()}")

    asyncio.run(run())
    journal.close()


def steps_with_one_more() -> dict[int, str]:
    """The shipped steps, and one as a later version might bring."""
    steps = known_steps()
    steps[max(steps) + 1] = """
        ALTER TABLE events ADD COLUMN weight integer NOT NULL DEFAULT 0;
        CREATE TABLE weights (seq integer PRIMARY KEY, note text NOT NULL);
        INSERT INTO weights SELECT seq, 'old; and kept' FROM events;
        UPDATE events SET weight = 1 WHERE seq % 2 = 1;
    """
    return steps


if __name__ == "__main__":
    name, folder, *numbers = sys.argv[1:]
    globals()[name](Path(folder), *map(int, numbers))
