"""kill -9, rivals and full disks: nothing acknowledged is lost, nothing is half written."""

from __future__ import annotations

import random
import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.domain.errors import StorageFault
from stead.domain.ids import HOME
from stead.storage.database import connect
from stead.storage.journal import open_journal
from tests.storage.drafts import DAY, KEYS, draft, finished, session, spent
from tests.storage.processes import DEADLINE_S, command, run, worker
from tests.storage.workers import BATCH

if TYPE_CHECKING:
    from sqlite3 import Connection


def _kill_once(home: Home, delay_s: float) -> int:
    """Start a writer, kill it some time after its first acknowledged append; the last seq it had been promised."""
    with worker("write_until_killed", home.data) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        killer = threading.Timer(delay_s, process.kill)  # what is varied is the instant, nothing is waited for
        killer.start()
        rest = process.stdout.read()
        killer.join(DEADLINE_S)
    lines = (first + rest).splitlines(keepends=True)
    return max(int(line) for line in lines if line.endswith("\n"))


def _check_after_kills(home: Home, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(kills):
        promised = _kill_once(home, chance.uniform(0, 0.08))
        journal = open_journal(home.journal, KEYS)
        report = journal.verify_chain()
        assert report.faults == ()
        assert report.head == report.rows >= promised
        places = Counter(event.session for event in journal.events())
        assert all(count % BATCH == 0 for count in places.values()), places
        journal.close()


def test_ten_kills_of_a_writer_lose_nothing_that_was_acknowledged(home: Home) -> None:
    _check_after_kills(home, 10, seed=0)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_thousand_kills_of_a_writer_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Forty kills a journal: each check reads all of it, so one journal for all would take hours."""
    for number in range(25):
        home = Home(tmp_path / str(number))
        home.make()
        _check_after_kills(home, 40, seed=number + 1)
        shutil.rmtree(home.root)


def test_two_processes_on_one_session_share_no_place_and_leave_no_gap(home: Home) -> None:
    open_journal(home.journal, KEYS).close()
    with worker("compete", home.data, 150) as one, worker("compete", home.data, 150) as other:
        said: list[str] = []
        for process in (one, other):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said += [line for process in (one, other) for line in process.communicate(timeout=DEADLINE_S)[0].split()]
    won = sorted(int(line) for line in said if line != "fenced")
    assert won == list(range(1, 301))
    assert "fenced" in said, "the two never met"
    journal = open_journal(home.journal, KEYS)
    assert journal.verify_chain().faults == ()
    journal.close()


async def test_two_processes_race_for_one_cap_and_never_pass_it(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    await journal.append([draft(HOME, 1, ev.CapSet(ev.Budget(1000, "unlimited")))])
    with worker("reserve", home.data, 0) as one, worker("reserve", home.data, 100) as other:
        for process in (one, other):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        won = [int(process.communicate(timeout=DEADLINE_S)[0]) for process in (one, other)]
    assert sum(won) == 33
    assert spent(journal, DAY) == ev.Spend(tokens=990)
    journal.close()


# -- full disks -----------------------------------------------------------------------------------------------------


async def test_a_full_file_fails_the_whole_batch_and_the_journal_works_again_when_there_is_room(home: Home) -> None:
    connections: list[Connection] = []

    def limited(path: Path, key: bytes) -> Connection:
        connections.append(connect(path, key))
        return connections[-1]

    journal = open_journal(home.journal, KEYS, connect=limited)
    await journal.append([draft(session(1), 1, finished())])
    writing = connections[-1]  # opened for that append
    (pages,) = writing.execute("PRAGMA page_count").fetchone()
    writing.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageFault, match=r"the disk is full, nothing was written; free some space"):
        await journal.append([draft(session(1), 2, finished("small")), draft(session(2), 1, finished("x" * 50_000))])
    assert journal.head() == 1
    writing.execute("PRAGMA max_page_count = 100000")
    await journal.append([draft(session(1), 2, finished()), draft(session(2), 1, finished("x" * 50_000))])
    assert journal.head() == 3
    assert journal.verify_chain().faults == ()
    journal.close()


def test_a_file_size_limit_is_survived(home: Home) -> None:
    done = run(command("fill_to_limit", home.data))
    assert done.returncode == 0, done.stderr
    assert "full" in done.stdout
    assert "recovered" in done.stdout


def test_a_disk_that_is_really_full_is_survived(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = f'mount -t tmpfs -o size=600k tmpfs "{small}" && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    if shutil.which("unshare") is None or run([*inside, "true"]).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    done = run([*inside, *command("fill", small)])
    assert done.returncode == 0, done.stderr
    assert "the disk is full, nothing was written" in done.stdout
    assert "recovered" in done.stdout
