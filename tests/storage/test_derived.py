"""Files that are derived from the journal: opened whole, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stead.domain.errors import StorageFault
from stead.storage.database import Database, connect
from stead.storage.derived import opening
from tests.storage.drafts import KEYS

if TYPE_CHECKING:
    from sqlite3 import Connection

SCHEMA = "CREATE TABLE progress (seq integer NOT NULL, schema text NOT NULL);\n"


def test_an_empty_file_gets_its_tables_once(tmp_path: Path) -> None:
    for schema in ("first", "second"):
        database = Database(tmp_path / "lists.db", KEYS.views)
        with opening(database, SCHEMA, (0, schema)) as connection:
            opened = connection
        assert opened.execute("SELECT seq, schema FROM progress").fetchall() == [(0, "first")]
        opened.close()
        database.close()


def test_what_fails_on_the_way_leaves_neither_tables_nor_anything_open(tmp_path: Path) -> None:
    made: list[Connection] = []

    def watched(path: Path, key: bytes) -> Connection:
        made.append(connect(path, key))
        return made[-1]

    database = Database(tmp_path / "lists.db", KEYS.views, watched)
    with pytest.raises(StorageFault, match="no such table: pages"), opening(database, SCHEMA, (0, "a")) as connection:
        connection.execute("SELECT * FROM pages")

    for connection in made:
        with pytest.raises(StorageFault, match="closed"), database.faults():
            connection.execute("SELECT 1")
    with pytest.raises(StorageFault, match="closed"), database.reading():
        raise AssertionError("it can be read")
    with opening(Database(tmp_path / "lists.db", KEYS.views), SCHEMA, (0, "b")) as connection:
        assert connection.execute("SELECT schema FROM progress").fetchall() == [("b",)]
    connection.close()
