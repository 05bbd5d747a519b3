"""Read models that follow the journal: near its end without a reader, and with few calls of the database a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.domain.ids import CallKey
from stead.storage.database import Connect, connect
from stead.storage.follower import Follower
from stead.storage.journal import CHUNK_ROWS, JournalFile, open_journal
from stead.storage.views import CHUNK_EVENTS, Views
from tests.build import Story, created
from tests.storage.drafts import KEYS, finished, session, stream

if TYPE_CHECKING:
    from sqlite3 import Connection

CALLS_OF_A_BATCH = 12
"""Statements on the read models' file; reading the journal takes one more for every chunk of rows, and a few."""


def watching(statements: list[str]) -> Connect:
    """Opens files and notes what is executed, but for what the search's tables do by themselves within a statement."""

    def open_watched(path: Path, key: bytes) -> Connection:
        connection = connect(path, key)
        connection.set_trace_callback(lambda sql: None if sql.startswith("--") else statements.append(sql))
        return connection

    return open_watched


@pytest.fixture
def statements() -> list[str]:
    """Every statement on any file, in order."""
    return []


@pytest.fixture
def journal(home: Home, statements: list[str]) -> Iterator[JournalFile]:
    journal = open_journal(home.journal, KEYS, connect=watching(statements))
    yield journal
    journal.close()


@pytest.fixture
def views(home: Home, journal: JournalFile, statements: list[str]) -> Iterator[Views]:
    views = Views(home.views / "default.db", KEYS, journal, connect=watching(statements))
    yield views
    views.close()


def _worked(number: int, steps: int) -> list[ev.Draft]:
    """The stream of an objective that has made so many calls."""
    story = Story(created(f"otters {number}"))
    for _ in range(steps):
        story.turn(("plan", '{"steps":[]}'))
        for key in list(story.session.calls):
            story.tell(finished("otters", CallKey(key)))
    return [ev.Draft(session(number), e.session_seq, e.ts_ms, "stead", e.cause, e.body) for e in story.events]


async def test_a_batch_costs_as_many_statements_however_many_events_it_has(
    journal: JournalFile, views: Views, statements: list[str]
) -> None:
    for number in range(1, 5):
        await journal.append(_worked(number, 2))
    views.catch_up()
    more = [draft for number in range(11, 15) for draft in _worked(number, 25)][:CHUNK_EVENTS]
    await journal.append(more)
    statements.clear()
    assert views.catch_up() == len(more) > 300
    opened = 2 * 4  # an objective's first rows are written as it comes
    assert len(statements) <= CALLS_OF_A_BATCH + opened + len(more) // CHUNK_ROWS + 8, statements


async def test_the_read_models_keep_near_the_end_without_a_reader(journal: JournalFile, views: Views) -> None:
    follower = Follower(views)
    journal.on_growth = follower.noticed
    await journal.append(stream(session(1), [created("otters"), *[finished("otters")] * (CHUNK_EVENTS - 2)]))
    following = asyncio.create_task(follower.keep())
    await asyncio.sleep(0)
    assert views.reached == 0
    await journal.append(stream(session(1), [finished("otters")], first=CHUNK_EVENTS))
    async with asyncio.timeout(10):
        while views.reached < CHUNK_EVENTS:
            await asyncio.to_thread(int)
    following.cancel()
