"""Secrets by name. They lie in the journal's encrypted file, and each is encrypted once more under the vault's key.

Layer: storage. A value leaves only through ``get`` and ``opened``. The name and a version that rises with every change
are bound to each record, so one cannot be put in place of another. The version goes on rising after a removal: what is
left of a removed secret is an empty record, and whoever notes versions elsewhere (the journal does, for a person's
secrets) can tell an old record from the newest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stead.domain.errors import StorageFault, WrongKey
from stead.storage.database import Database
from stead.storage.sealing import seal, unseal
from stead.storage.writer import Writer

if TYPE_CHECKING:
    from sqlite3 import Connection

_REMOVED = b""
"""What stands where a value was erased; nothing that is sealed is ever empty, since its tag alone has 16 bytes."""


class Vault:
    """Implements ``domain.vault.Vault``.

    Args:
        database: the journal's file.
        writer: its writer.
        key: 32 bytes, the vault's own.
    """

    def __init__(self, database: Database, writer: Writer, key: bytes) -> None:
        self._database = database
        self._writer = writer
        self._key = key

    async def put(self, name: str, value: str) -> int:
        """Store or replace; gives the record's version, which no record of this name has had before.

        Raises:
            StorageFault: it was not written.
        """

        def work(connection: Connection) -> int:
            row = connection.execute("SELECT version FROM secrets WHERE name = ?", (name,)).fetchone()
            version: int = row[0] + 1 if row else 1
            nonce, sealed = seal(self._key, value.encode(), _context(name, version))
            connection.execute("DELETE FROM secrets WHERE name = ?", (name,))
            connection.execute("INSERT INTO secrets VALUES (?, ?, ?, ?)", (name, version, nonce, sealed))
            return version

        return await self._writer.submit(work)

    def get(self, name: str) -> str | None:
        """The value, or nothing.

        Raises:
            StorageFault: the record was changed, or the file cannot be read.
        """
        found = self.opened(name)
        return None if found is None else found[1]

    def opened(self, name: str) -> tuple[int, str] | None:
        """The version and the value, or nothing.

        Raises:
            StorageFault: the record was changed, or the file cannot be read.
        """
        with self._database.reading() as connection:
            row = connection.execute("SELECT version, nonce, sealed FROM secrets WHERE name = ?", (name,)).fetchone()
        if row is None or row[2] == _REMOVED:
            return None
        try:
            return row[0], unseal(self._key, row[1], row[2], _context(name, row[0])).decode()
        except WrongKey as error:
            raise StorageFault(f"the vault's record {name!r} was changed; set the secret again") from error

    def names(self, prefix: str) -> tuple[str, ...]:
        """The names that begin so, in order; no value is opened for it.

        Raises:
            StorageFault: the file cannot be read.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT name FROM secrets WHERE substr(name, 1, ?) = ? AND sealed <> ? ORDER BY name",
                (len(prefix), prefix, _REMOVED),
            ).fetchall()
        return tuple(name for (name,) in rows)

    async def remove(self, name: str) -> bool:
        """Erase the value; false when there was none. The name and its version stay.

        Raises:
            StorageFault: it was not written.
        """

        def work(connection: Connection) -> bool:
            removed = connection.execute(
                "UPDATE secrets SET nonce = ?, sealed = ? WHERE name = ? AND sealed <> ?",
                (b"", _REMOVED, name, _REMOVED),
            )
            return removed.rowcount > 0

        return await self._writer.submit(work)


def _context(name: str, version: int) -> bytes:
    return f"stead secret {version} {name}".encode()
