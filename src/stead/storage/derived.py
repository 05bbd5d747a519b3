"""A file that is derived from the journal, opened to be written; its tables are made when it has none.

Layer: storage. Knows no table but ``progress``, whose one row says how far the file has come and of which schema it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from stead.storage.database import Database
from stead.storage.migrate import statements

if TYPE_CHECKING:
    from sqlite3 import Connection


@contextmanager
def opening(database: Database, schema: str, progress: tuple[object, ...]) -> Iterator[Connection]:
    """A connection to write with, for longer than this; it and the file are closed again if anything fails inside.

    Args:
        database: the file.
        schema: statements for a file that is empty.
        progress: the row that such a file begins with.

    Raises:
        StorageFault: it cannot be read or written.
    """
    with database.faults(), ExitStack() as undo:
        undo.callback(database.close)
        connection = undo.enter_context(closing(database.open()))
        connection.execute("PRAGMA synchronous = normal")  # what a power cut takes is in the journal still
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in statements(schema):
                connection.execute(statement)
            marks = ", ".join("?" for _ in progress)
            connection.execute(f"INSERT INTO progress VALUES ({marks})", progress)  # noqa: S608 - marks alone
        yield connection
        connection.execute("COMMIT")
        undo.pop_all()
