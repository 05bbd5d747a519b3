"""S11: attacks on the record, and how many of them a check finds; and untouched records, and how many it suspects.

The attacks are those of ``tests/attacks/audit_attacks.py``: by an insider with the key of the database, by somebody
with the file alone, and by somebody with every key of the home, where only a head that was kept on another disk can
tell. Each works on a fresh copy of one of several homes, with a signed head over all events.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from pathlib import Path

from bench.bar import Bar
from stead.storage.audit import open_audit
from stead.storage.head_copy import HeadCopy
from stead.storage.journal import open_journal
from tests.attacks.audit_attacks import ATTACKS, WITH_EVERY_KEY, audited, found, keep
from tests.build import START_MS
from tests.storage.drafts import KEYS, draft, finished, session

HOMES = 20
TIMES = 60
UNTOUCHED = 200
EVENTS = 50_000


def measure() -> list[Bar]:
    """Shares, and how fast a check is."""
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        return [_attacks(Path(name)), _untouched(Path(name)), _speed(Path(name))]


def _attacks(folder: Path) -> Bar:
    homes = [keep(folder / f"home-{seed}", random.Random(seed)) for seed in range(HOMES)]
    missed = [
        f"{attack.__name__} {seed}"
        for attack in ATTACKS
        for seed in range(TIMES)
        if not found(homes[seed % HOMES], attack, random.Random(seed), folder / "victim")
    ]
    tried = len(ATTACKS) * TIMES
    share = 100 * (tried - len(missed)) / tried
    said = (
        f"{tried:,} attacks of {len(ATTACKS)} kinds on {HOMES} homes of about 70 events with erasures, a signed head "
        f"over all of them; {len(WITH_EVERY_KEY) * TIMES} of them with every key of the home, checked against a head "
        f"on another disk; missed: {', '.join(missed) or 'none'}"
    )
    return Bar("S11", share, "% of attacks found", "100", not missed, {}, said)


def _untouched(folder: Path) -> Bar:
    alarms = 0
    for seed in range(UNTOUCHED):
        kept = keep(folder / "untouched" / str(seed), random.Random(1000 + seed))
        report = audited(kept, elsewhere=True)
        alarms += report is None or bool(report.faults or report.doubts) or not report.erased
    said = f"{UNTOUCHED} untouched homes, each with sessions that were deleted and erased"
    return Bar("S11.false", alarms, "false alarms", "0", alarms == 0, {}, said)


def _speed(folder: Path) -> Bar:
    path, copy = folder / "long.db", folder / "long.jsonl"

    async def fill() -> float:
        journal = open_journal(path, KEYS)
        for first in range(1, EVENTS, 500):
            await journal.append([draft(session(1), first + at, finished("x" * 400)) for at in range(500)])
        await journal.heads.sign(START_MS, HeadCopy(copy))
        await journal.append([draft(session(2), 1 + at, finished("x" * 400)) for at in range(1000)])
        began = time.perf_counter()
        await journal.heads.sign(START_MS, HeadCopy(copy))
        took = time.perf_counter() - began
        journal.close()
        return took

    head_s = asyncio.run(fill())
    began = time.process_time()
    with open_audit(path, KEYS, copy) as audit:
        report = audit.verify()
    rate = report.events / (time.process_time() - began)
    said = (
        f"{report.events:,} events of 400 characters, per CPU second: page seals, indexes, commitments, chain, "
        f"streams, tree and heads; a further head over 1,000 new events took {head_s * 1000:.0f} ms"
    )
    assert not report.faults
    return Bar("S11.speed", rate, "events/s checked", "≥ 10,000", rate >= 10_000, {}, said)
