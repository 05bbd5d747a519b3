"""P11: what a durable append costs beside a bare insert, and how fast a history is read and folded.

The bare insert is the least that could be done: the same library, key, table, row size and ``synchronous = FULL``, one
transaction each, called without any loop or thread in between. Ours goes the whole way: from an event loop to the
writer thread and back, with fence, ledger, commitment and chain. Both alternate in one run, on the same disk.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from bench.bar import Bar
from stead.domain import events as ev
from stead.domain.folding import fold
from stead.domain.ids import DEFAULT_WORKSPACE, CallDigest, CallKey, CommandId, RequestNo, SessionId
from stead.domain.messages import Text, ToolCall, Usage
from stead.domain.policies import Label, Profile, Reason, Risk
from stead.storage.chain import Row
from stead.storage.database import Database
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keys import derive_keys
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection

REPEATS = 9
APPENDS = 150
WRITERS, EACH = 50, 40
TURNS = 4000
OUTPUT = "x" * 400
KEYS = derive_keys(bytes(32))
START_MS = 1_800_000_000_000
MODEL = ev.ModelRef("acme", "m1")
_INSERT = f"INSERT INTO events ({', '.join(Row._fields)}) VALUES ({', '.join('?' * len(Row._fields))})"


def measure() -> list[Bar]:
    """Run in a folder of the working directory, so that it is a real disk that is waited for."""
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=Path.cwd()) as name:
        folder = Path(name)
        return [*uvloop.run(_appends(folder)), _reading(folder)]


# -- appending ------------------------------------------------------------------------------------------------------


async def _appends(folder: Path) -> list[Bar]:
    journal = open_journal(folder / "ours.db", KEYS)
    open_journal(folder / "raw.db", KEYS).close()  # the same tables
    database = Database(folder / "raw.db", KEYS.database)
    raw, thread = database.open(), Writer(database, "bench-writer")
    repeats = [await _p50s_us(journal, raw, thread, repeat) for repeat in range(REPEATS + 1)][1:]  # the first warms up
    batched = statistics.median([await _batched_per_s(journal, repeat) for repeat in range(3)])
    raw.close()
    thread.close()
    database.close()
    journal.close()
    ours, bare, handed = (statistics.median(column) for column in zip(*repeats, strict=True))
    ratio = statistics.median(ours / bare for ours, bare, _ in repeats)
    beside = statistics.median(ours / handed for ours, _, handed in repeats)
    conditions = (
        f"p50 of {APPENDS} appends of one event, a bare insert after each, then a bare insert handed to a thread and "
        f"awaited; median of {REPEATS} repeats: {ours:.0f}, {bare:.0f} and {handed:.0f} µs; {WRITERS} writers at once "
        f"{batched:,.0f} events/s, one bare insert after another {1e6 / bare:,.0f}"
    )
    anchors = {"against the insert handed to a thread": round(beside, 3)}
    return [Bar("P11", ratio, "x raw insert p50", "≤ 1.2", ratio <= 1.2, anchors, conditions)]


async def _p50s_us(journal: JournalFile, raw: Connection, thread: Writer, repeat: int) -> list[float]:
    """One of each in turn, because a disk that others use changes its pace from second to second."""
    times: list[list[float]] = [[], [], []]
    for place in range(1, APPENDS + 1):
        drafts = [_draft(SessionId(f"s_{repeat:016x}"), place, _finished(place))]
        rows = [_row(2 * (repeat * APPENDS + place) + at) for at in range(2)]
        start = time.perf_counter()
        await journal.append(drafts)
        times[0].append(time.perf_counter() - start)
        start = time.perf_counter()
        raw.execute("BEGIN IMMEDIATE")
        raw.execute(_INSERT, rows[0])
        raw.execute("COMMIT")
        times[1].append(time.perf_counter() - start)
        start = time.perf_counter()
        await thread.submit(partial(_insert, rows[1]))
        times[2].append(time.perf_counter() - start)
    return [statistics.median(column) * 1e6 for column in times]


def _row(seq: int) -> tuple[object, ...]:
    payload = os.urandom(len(OUTPUT) + 150)
    header = (seq, "s_0123456789abcdef", seq, START_MS, "stead", "", "tool.finished", 1)
    return (*header, payload, payload[:16], payload[:32], payload[:32])


def _insert(row: tuple[object, ...], connection: Connection) -> None:
    connection.execute(_INSERT, row)


async def _batched_per_s(journal: JournalFile, repeat: int) -> float:
    async def write(number: int) -> None:
        id = SessionId(f"s_{repeat + 1:08x}{number:08x}")
        for place in range(1, EACH + 1):
            await journal.append([_draft(id, place, _finished(place))])

    start = time.perf_counter()
    await asyncio.gather(*(write(number) for number in range(WRITERS)))
    return WRITERS * EACH / (time.perf_counter() - start)


# -- reading and folding --------------------------------------------------------------------------------------------


def _reading(folder: Path) -> Bar:
    id = SessionId("s_fedcba9876543210")
    journal = open_journal(folder / "history.db", KEYS)
    bodies = [body for turn in range(1, TURNS + 1) for body in _turn(turn)]
    drafts = [_draft(id, place, body) for place, body in enumerate([_created(), *bodies], 1)]
    asyncio.run(_fill(journal, drafts))
    decoded: list[float] = []
    folded: list[float] = []
    for _ in range(5):
        start = time.process_time()
        count = sum(1 for _ in journal.events(session=id))
        decoded.append(count / (time.process_time() - start))
        start = time.process_time()
        fold(event for event in journal.events(session=id) if isinstance(event, ev.Event))
        folded.append(count / (time.process_time() - start))
    journal.close()
    rate, read = statistics.median(folded), statistics.median(decoded)
    conditions = (
        f"{len(drafts):,} events of one session of {TURNS:,} turns with a tool call each, read from the encrypted "
        f"file, decoded and folded, per CPU second, median of 5; decoded alone {read:,.0f}"
    )
    return Bar("P11.fold", rate, "events/s read and folded", "≥ 50,000", rate >= 50_000, {"decode": read}, conditions)


async def _fill(journal: JournalFile, drafts: list[ev.Draft]) -> None:
    for start in range(0, len(drafts), 500):
        await journal.append(drafts[start : start + 500])


def _draft(id: SessionId, place: int, body: ev.Body) -> ev.Draft:
    return ev.Draft(id, place, START_MS + place, "stead", CommandId(""), body)


def _finished(turn: int) -> ev.ToolFinished:
    return ev.ToolFinished(CallKey(f"call_{turn}_1"), "read", "ok", OUTPUT, Label(), len(OUTPUT), 5)


def _turn(turn: int) -> list[ev.Body]:
    """What one model request with one tool call leaves in the journal."""
    key, digest = CallKey(f"call_{turn}_1"), CallDigest("d" * 64)
    arguments = f'{{"path":"notes/{turn}.md"}}'
    parts = (Text(f"I read note {turn} next, to see what it says of the plan."), ToolCall(key, "read", arguments))
    usage, spend = Usage(4000, 60, 3900), ev.Spend(4060, 900)
    number = RequestNo(turn)
    return [
        ev.ModelRequested(number, "a" * 64, 2 * turn - 1, 4096, ev.Spend(9000, 2000)),
        ev.ModelReplied(number, parts, "tool_call", MODEL, usage, spend, (), 1500, 300),
        ev.CallJudged(key, "read", "allow", Reason("auto", "Reads are free."), Risk.LOW, digest),
        ev.ToolStarted(key, "read", arguments, digest, idempotent=True),
        _finished(turn),
    ]


def _created() -> ev.SessionOpened:
    return ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title="Read the notes",
        contract=ev.Contract("Read the notes"),
        directory="/home/ada/notes",
        tools=(),
        chain=(MODEL,),
        budget=ev.Budget("unlimited", "unlimited"),
        limits=ev.Limits(),
        profile=Profile.ASK,
        instructions="Act for Ada.",
    )


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
        print(f"    {bar.conditions}")
