"""M6: what is left of a phrase in a home after it was forgotten, how long that takes, and whether it comes back.

The home has a record of many events, the read models and the memory made of it. The phrase stands in messages, replies,
thinking, arguments, results, titles, goals, summaries and memories. Afterwards every file is decrypted page by page
with the home's keys and searched, as whoever stole both would. The anchor is what a plain deletion of the same rows
leaves.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import tempfile
import time
from pathlib import Path
from shutil import copytree, rmtree

from bench.bar import Bar
from stead.domain import events as ev
from stead.domain.forget_commands import Forget
from stead.domain.ids import CallDigest, CallKey, RequestNo
from stead.domain.memory import MEMORY, Memory, MemoryId, Scope
from stead.domain.messages import Text, Thinking, ToolCall, Usage
from stead.domain.needles import Needles
from stead.domain.sessions import PERSON
from stead.storage.database import Database
from stead.storage.journal import JournalFile, open_journal
from tests.build import MODEL, START_MS, created
from tests.fakes.world import KEYS
from tests.runtime.forget_and_die import (
    LIKE_A_NAME,
    PHRASE,
    SHARP,
    SHORT,
    QuietHome,
    killed_at,
    kinds_of_steps,
    sampled,
)
from tests.storage.drafts import draft, finished, session, stream
from tests.storage.raw import raw

SESSIONS, TURNS = 200, 12
TOUCHED = 20
MEMORIES = 300
REPEATS = 5
SMALL = 20
"""Sessions of the home that is killed."""
WORDS = ("harbour", "letter", "evening", "kettle", "window", "garden", "ticket", "mirror", "basket", "river")
_NEEDLES = Needles([PHRASE])
_ALL = Needles([PHRASE, SHARP, SHORT])


def measure() -> list[Bar]:
    """Bytes left, seconds, and what came back."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        folder = Path(name)
        first = folder / "home"
        first.mkdir()
        events = asyncio.run(_live(first, SESSIONS))
        small = folder / "small"
        small.mkdir()
        asyncio.run(_live(small, SMALL))
        runs = [_forget(folder, first) for _ in range(REPEATS)]
        left, back = max(run[0] for run in runs), max(run[2] for run in runs)
        seconds = sorted(run[1] for run in runs)[REPEATS // 2]
        bad, tried = _killed(folder, small)
        said = (
            f"{events:,} events of {SESSIONS} sessions, {MEMORIES} memories; the phrase stands in {TOUCHED} sessions "
            f"and a memory; every page of every file decrypted, logs too; the median of {REPEATS} runs took "
            f"{seconds:.2f} s from the command to the signed receipt"
        )
        return [
            Bar("M6", left, "copies left", "0", left == 0, {"plain delete": _deleted_plainly(folder, first)}, said),
            Bar("M6.seconds", seconds, "s", "≤ 5", seconds <= 5, {}, said),
            Bar(
                "M6.back",
                back,
                "copies back",
                "0",
                back == 0,
                {},
                "read models and memory made anew from the record, and what was said before offered to be remembered",
            ),
            Bar(
                "M6.killed",
                bad,
                "homes with copies",
                "0",
                bad == 0,
                {},
                f"killed with SIGKILL before {tried} steps, of every kind that there is, then started again",
            ),
        ]


def _copies(folder: Path, needles: Needles = _NEEDLES) -> int:
    """How often the words stand in the home's files, as a holder of its keys reads them."""
    count = 0
    for file in folder.rglob("*"):
        if file.is_file() and not file.name.endswith("-shm"):
            for key in (KEYS.database, KEYS.views):
                count += len(needles.spans(raw(file, key).decode("utf-8", "replace")))
            count += len(needles.spans(file.read_bytes().decode("utf-8", "replace")))
    return count


async def _live(folder: Path, sessions: int) -> int:
    rng = random.Random(6)
    home = QuietHome(folder)
    for number in range(1, sessions + 1):
        phrase = PHRASE if number % max(1, sessions // TOUCHED) == 0 else ""
        bodies: list[ev.Body] = [created(f"{_said(rng)} {phrase}".strip())]
        for turn in range(1, TURNS):
            bodies += _turn(turn, phrase if turn == TURNS // 2 else "", rng)
        bodies.append(ev.ObjectiveEnded("unverified", "done", f"Done. {phrase}"))
        await home.journal.append(stream(session(number), bodies))
    texts = [_said(rng) for _ in range(MEMORIES - 4)]
    texts += [f"Ada keeps {PHRASE}.", SHORT, f"{SHARP} 5 is where Bo lives.", f"Bo is a kind {LIKE_A_NAME}."]
    made = [ev.MemoryMade(_memory(at, text), "cli") for at, text in enumerate(texts)]
    await home.journal.append([draft(MEMORY, at, fact) for at, fact in enumerate(made, 1)])
    home.views.catch_up()
    home.books.catch_up()
    await home.mirroring.sync()
    head = home.journal.head()
    home.close()
    assert _copies(folder) > TOUCHED
    return head


def _turn(number: int, phrase: str, rng: random.Random) -> list[ev.Body]:
    key = CallKey(f"call_{number}_0")
    call = ToolCall(key, "shell", json.dumps({"command": f"grep {phrase or _said(rng)}"}))
    parts = (Thinking(f"{_said(rng)} {phrase}"), Text(f"{_said(rng)} {phrase}"), call)
    spend, usage = ev.Spend(60), Usage(input=50, output=10)
    return [
        ev.MessageReceived(f"{_said(rng)} {phrase}", "cli", PERSON),
        ev.ModelRequested(RequestNo(number), "", number, 500, ev.Spend(100)),
        ev.ModelReplied(RequestNo(number), parts, "tool_call", MODEL, usage, spend, (), 1000, 100),
        ev.ToolStarted(key, "shell", call.arguments, CallDigest("d"), False),
        finished(f"{_said(rng)}\n{phrase}\n" * 3, key),
    ]


def _said(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=30))


def _memory(number: int, text: str) -> Memory:
    return Memory(MemoryId(f"m_{number:016x}"), "knowledge", text, Scope(), "user_said", PERSON, START_MS)


def _forget(folder: Path, first: Path) -> tuple[int, float, int]:
    """(copies left, seconds, copies that came back) of one run on a fresh copy of the home."""
    place = folder / "one"
    copytree(first, place)
    home = QuietHome(place)
    old = [event for event in home.journal.events(session=MEMORY) if isinstance(event, ev.Event)]
    began = time.perf_counter()
    receipt = asyncio.run(home.forgetting.forget(Forget(words=(PHRASE,)), "cli"))
    took = time.perf_counter() - began
    assert home.journal.verify_chain().faults == ()
    assert receipt.events
    left = _copies(place) + len(receipt.left)
    home.views.rebuild()
    home.books.rebuild()
    offered = [event.body.memory.text for event in old if isinstance(event.body, ev.MemoryMade)]
    offered += [f"ADA KEEPS\n{PHRASE.upper()}!", f"I was told of {PHRASE}, yesterday."]
    unknown = sum(bool(_NEEDLES.spans(text)) and not home.forgetting.is_forgotten(text) for text in offered)
    home.close()
    back = _copies(place) + unknown
    rmtree(place)
    return left, took, back


def _deleted_plainly(folder: Path, first: Path) -> int:
    """What a deletion of the same rows leaves, with neither overwriting nor an emptied log."""
    place = folder / "plain"
    copytree(first, place)
    journal: JournalFile = open_journal(place / "journal.db", KEYS)
    seqs = [(event.seq,) for event in journal.touched(_NEEDLES.touches)]
    reader = Database(place / "journal.db", KEYS.database).open()  # as a daemon holds one, so that the log stays
    writer = Database(place / "journal.db", KEYS.database).open()
    writer.execute("PRAGMA secure_delete = off")
    writer.executemany("UPDATE events SET payload = NULL WHERE seq = ?", seqs)
    left = _copies(place)
    reader.close()
    writer.close()
    journal.close()
    rmtree(place)
    return left


def _killed(folder: Path, first: Path) -> tuple[int, int]:
    """(homes in which something was left after the next start, how often it was killed)."""
    bad = 0
    logging.disable()  # each start says that it finishes what was cut off
    place = folder / "killed"
    copytree(first, place)
    kinds = kinds_of_steps(place)
    rmtree(place)
    steps = sampled(kinds, random.Random(6))
    for number in steps:
        copytree(first, place)
        killed_at(place, number)
        home = QuietHome(place)
        home.forgetting.load()
        begun = home.forgetting.is_forgotten(PHRASE)
        asyncio.run(home.forgetting.resume())
        home.views.catch_up()
        home.books.catch_up()
        home.close()
        bad += begun and _copies(place, _ALL) > 0
        rmtree(place)
    return bad, len(steps)
