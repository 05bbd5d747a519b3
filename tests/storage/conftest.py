"""A home on disk, its keys and its open journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.config import Home
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keys import Keys
from tests.storage.drafts import KEYS


@pytest.fixture
def keys() -> Keys:
    return KEYS


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.make()
    return home


@pytest.fixture
def journal(home: Home, keys: Keys) -> Iterator[JournalFile]:
    journal = open_journal(home.journal, keys)
    yield journal
    journal.close()
