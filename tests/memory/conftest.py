"""A journal of its own for each test, and the indexes over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.memory.books import MemoryBooks
from stead.storage.journal import JournalFile, open_journal
from tests.memory.saying import Sayings
from tests.storage.drafts import KEYS


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[JournalFile]:
    journal = open_journal(tmp_path / "journal.db", KEYS)
    yield journal
    journal.close()


@pytest.fixture
def books(tmp_path: Path, journal: JournalFile) -> Iterator[MemoryBooks]:
    books = MemoryBooks(tmp_path / "memory", KEYS.views, journal)
    yield books
    books.close()


@pytest.fixture
def sayings(journal: JournalFile) -> Sayings:
    return Sayings(journal)
