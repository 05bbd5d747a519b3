"""Secrets by name. They lie in the journal's encrypted file, and each is encrypted once more under the vault's key.

Layer: storage. A value leaves only through ``get``. The name and a version that rises with every change are bound to
each record, so one cannot be put in place of another, nor an old value in place of a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.domain.errors import StorageFault, WrongKey
from stead.storage.database import Database
from stead.storage.sealing import seal, unseal
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection


class Vault:
    """Implements ``domain.ports.Secrets``.

    Args:
        database: the journal's file.
        writer: its writer.
        key: 32 bytes, the vault's own.
    """

    def __init__(self, database: Database, writer: Writer, key: bytes) -> None:
        self._database = database
        self._writer = writer
        self._key = key

    async def put(self, name: str, value: str) -> None:
        """Store or replace.

        Raises:
            StorageFault: it was not written.
        """

        def work(connection: Connection) -> None:
            row = connection.execute("SELECT version FROM secrets WHERE name = ?", (name,)).fetchone()
            version = row[0] + 1 if row else 1
            nonce, sealed = seal(self._key, value.encode(), _context(name, version))
            connection.execute("DELETE FROM secrets WHERE name = ?", (name,))
            connection.execute("INSERT INTO secrets VALUES (?, ?, ?, ?)", (name, version, nonce, sealed))

        await self._writer.submit(work)

    def get(self, name: str) -> str | None:
        """The value, or nothing.

        Raises:
            StorageFault: the record was changed, or the file cannot be read.
        """
        with self._database.reading() as connection:
            row = connection.execute("SELECT version, nonce, sealed FROM secrets WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        try:
            return unseal(self._key, row[1], row[2], _context(name, row[0])).decode()
        except WrongKey as error:
            raise StorageFault(f"the vault's record {name!r} was changed; set the secret again") from error

    async def remove(self, name: str) -> bool:
        """Erase; false when there was none.

        Raises:
            StorageFault: it was not written.
        """

        def work(connection: Connection) -> bool:
            return connection.execute("DELETE FROM secrets WHERE name = ?", (name,)).rowcount > 0

        return await self._writer.submit(work)


def _context(name: str, version: int) -> bytes:
    return f"stead secret {version} {name}".encode()
