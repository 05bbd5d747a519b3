"""One thread, shared commits, and nobody left waiting."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stead.config import Home
from stead.domain.errors import StorageFault
from stead.storage.database import Database, connect
from stead.storage.journal import open_journal
from stead.storage.writer import Writer
from tests.storage.drafts import KEYS, draft, finished, session

if TYPE_CHECKING:
    from sqlite3 import Connection


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    database = Database(tmp_path / "plain.db", KEYS.database)
    connection = database.open()
    connection.execute("CREATE TABLE notes (text text)")
    connection.close()
    writer = Writer(database, "test-writer")
    yield writer
    writer.close()
    database.close()


async def test_fifty_writers_share_their_commits(home: Home) -> None:
    statements: list[str] = []

    def watched(path: Path, key: bytes) -> Connection:
        connection = connect(path, key)
        connection.set_trace_callback(statements.append)
        return connection

    journal = open_journal(home.journal, KEYS, connect=watched)
    statements.clear()

    async def work(number: int) -> None:
        for place in range(1, 21):
            await journal.append([draft(session(number), place, finished())])

    await asyncio.gather(*(work(number) for number in range(50)))
    commits = statements.count("COMMIT")
    assert journal.head() == 1000
    assert journal.verify_chain().faults == ()
    assert commits < 300, f"{commits} commits for 1,000 events of 50 writers"
    journal.close()


async def test_a_bug_in_one_piece_of_work_fails_its_batch_and_not_the_writer(
    writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(connection: Connection) -> None:
        connection.execute("INSERT INTO notes VALUES ('lost')")
        raise ZeroDivisionError

    with caplog.at_level(logging.ERROR), pytest.raises(StorageFault, match="ZeroDivisionError"):
        await writer.submit(broken)
    assert "because of a bug" in caplog.text
    assert await writer.submit(lambda connection: connection.execute("SELECT * FROM notes").fetchall()) == []


async def test_an_error_of_the_library_fails_the_batch_and_not_the_writer(writer: Writer) -> None:
    outcomes = await asyncio.gather(
        writer.submit(lambda connection: connection.execute("INSERT INTO notes VALUES ('one')").rowcount),
        writer.submit(lambda connection: connection.execute("INSERT INTO nowhere VALUES (1)").rowcount),
        return_exceptions=True,
    )
    assert isinstance(outcomes[1], StorageFault)
    kept = await writer.submit(lambda connection: connection.execute("SELECT count(*) FROM notes").fetchone()[0])
    assert kept == (0 if isinstance(outcomes[0], StorageFault) else 1)  # as the two fell into one batch or into two


async def test_work_that_leaves_no_transaction_behind_is_found_out(writer: Writer) -> None:
    with pytest.raises(StorageFault):
        await writer.submit(lambda connection: connection.execute("COMMIT").rowcount)
    assert await writer.submit(lambda connection: connection.execute("SELECT 7").fetchone()[0]) == 7


async def test_a_loop_that_has_closed_is_not_waited_for(writer: Writer) -> None:
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: Connection) -> None:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(30)

    holding = asyncio.ensure_future(writer.submit(slow))

    def elsewhere() -> None:
        async def leave() -> None:
            waiting = asyncio.ensure_future(
                writer.submit(lambda connection: connection.execute("INSERT INTO notes VALUES ('left')").rowcount)
            )
            await asyncio.sleep(0)
            waiting.cancel()

        asyncio.run(leave())

    await asyncio.to_thread(elsewhere)
    gate.set()
    await holding
    kept = await writer.submit(lambda connection: connection.execute("SELECT text FROM notes").fetchall())
    assert kept == [("left",)]
