"""P14: the store after 10,000 turns, blobs apart: journal, read models, heads.

A turn is a person's message, a request that calls a tool, the call with its verdict and 400 characters of output, and a
request that answers; 100 sessions of 100 turns. What is said are pieces of Stead's own docs and sources, and every
digest is another one, since rows are packed: what repeats would count for too little. They are written as the daemon
writes them, and taken in by the read models with their search. Then all of it is moved into archives, for comparison.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from pathlib import Path

from msgspec.structs import replace

from bench.bar import Bar
from bench.p11_journal import KEYS, MODEL, OUTPUT, _created, _draft, _turn
from stead.config import Home
from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, CallDigest, RequestNo, SessionId
from stead.domain.messages import Text, Usage
from stead.domain.policies import Label
from stead.storage.archives import folder_of
from stead.storage.database import Database
from stead.storage.journal import JournalFile, open_journal
from stead.storage.views import Views

SESSIONS, TURNS = 100, 100
MB = 1_000_000
ROOT = Path(__file__).parents[1]
SAID = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("adr/*.md")))
READ = "\n".join(path.read_text() for path in sorted((ROOT / "src" / "stead").rglob("*.py")))


def measure() -> list[Bar]:
    """In a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        home = Home(Path(name))
        home.make()
        journal = open_journal(home.journal, KEYS)
        asyncio.run(_fill(journal))
        views = Views(home.views / f"{DEFAULT_WORKSPACE}.db", KEYS, journal)
        views.catch_up()
        events = journal.head()
        parts = {"journal": _mb(home.data, "journal.db*"), "read models": _mb(home.views, "*")}
        for number in range(SESSIONS):
            asyncio.run(journal.archive(_id(number)))
        archived = _mb(folder_of(home.journal), "*")
        views.close()
        journal.close()
        database = Database(home.journal, KEYS.database)
        database.copy_to(home.data / "copy.db")
        database.close()
        left = _mb(home.data, "copy.db")
    size = sum(parts.values())
    said = f"{SESSIONS * TURNS:,} turns, {events:,} events; " + ", ".join(f"{k} {v:.1f} MB" for k, v in parts.items())
    said += f"; all archived: {archived:.1f} MB of archives, and a journal that would fill {left:.1f} MB"
    peers = {"opencode": 13_000.0, "OpenClaw": 15_500.0}
    return [Bar("P14", size, "MB, store after 10,000 turns, blobs apart", "≤ 60", size <= 60, peers, said)]


def _mb(folder: Path, pattern: str) -> float:
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file()) / MB


def _id(number: int) -> SessionId:
    return SessionId(f"s_{number:016x}")


async def _fill(journal: JournalFile) -> None:
    for number in range(SESSIONS):
        bodies: list[ev.Body] = [_created()]
        for turn in range(TURNS):
            bodies += _asked(number * TURNS + turn, turn)
        drafts = [_draft(_id(number), place, body) for place, body in enumerate(bodies, 1)]
        for start in range(0, len(drafts), 500):
            await journal.append(drafts[start : start + 500])


def _asked(turn: int, at: int) -> list[ev.Body]:
    """A turn, the ``at``th of its session."""
    requested, replied, judged, started, finished = _turn(2 * at + 1)
    assert isinstance(requested, ev.ModelRequested) and isinstance(judged, ev.CallJudged)
    assert isinstance(started, ev.ToolStarted) and isinstance(finished, ev.ToolFinished)
    digest, number = CallDigest(_digest(f"call {turn}")), RequestNo(2 * at + 2)
    text, usage, spend = Text(_piece(SAID, turn, 280)), Usage(4200, 80, 4000), ev.Spend(4280, 950)
    return [
        ev.MessageReceived(_piece(SAID, -turn, 60), "web", Label()),
        replace(requested, prefix_sha256=_digest(f"first {turn}")),
        replied,
        replace(judged, digest=digest),
        replace(started, digest=digest),
        replace(finished, text=_piece(READ, turn, len(OUTPUT))),
        ev.ModelRequested(number, _digest(f"second {turn}"), 2 * number - 1, 4096, ev.Spend(9000, 2000)),
        ev.ModelReplied(number, (text,), "stop", MODEL, usage, spend, (), 1500, 300),
    ]


def _digest(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()


def _piece(text: str, number: int, length: int) -> str:
    start = number * 997 % (len(text) - length)
    return text[start : start + length]
