"""How far each channel was read.

Layer: storage. An encrypted file of its own: nothing else says it, and the outbox of chats can be given up without it.
One that is damaged is left to the person.
"""

from __future__ import annotations

import threading
from pathlib import Path

from stead.domain.errors import StorageFault, WrongKey
from stead.storage.database import Damaged, Database, transaction
from stead.storage.derived import opening
from stead.storage.keys import Keys

_SCHEMA = Path(__file__).parent / "schema/positions.sql"
_CURE = (
    "stop Stead, move the file away and start again: what was written by e-mail, on Matrix, Slack and Discord since the"
    " last message that was taken in is not read then, and has to be written again"
)


class ChannelPositions:
    """Safe to call from several threads. Every method raises ``StorageFault`` when the file cannot be read or written.

    Args:
        path: the file; its folder exists.
        keys: the home's.
    """

    def __init__(self, path: Path, keys: Keys) -> None:
        self._lock = threading.Lock()
        try:
            self._database = Database(path, keys.views, cure=_CURE)
            with opening(self._database, _SCHEMA.read_text("utf-8"), (0,)) as self._connection:
                pass
        except (Damaged, WrongKey) as fault:
            raise StorageFault(f"{str(path)!r}: the file is damaged; keep a copy of it, and {_CURE}") from fault
        self._connection.execute("PRAGMA synchronous = full")  # no journal has what a power cut would take here

    def of(self, channel: str) -> tuple[str, str]:
        """How far a channel was read and by which bot; "" and "" where it never was."""
        wanted = "SELECT cursor, account FROM positions WHERE channel = ?"
        with self._lock, self._database.faults():
            found = self._connection.execute(wanted, (channel,)).fetchone()
        return (found[0], found[1]) if found else ("", "")

    def move(self, channel: str, cursor: str, account: str) -> None:
        """A channel was read up to here by a bot."""
        self._write("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", channel, cursor, account)

    def drop(self, channel: str) -> None:
        """A channel is no more."""
        self._write("DELETE FROM positions WHERE channel = ?", channel)

    def _write(self, statement: str, *values: str) -> None:
        with self._lock, self._database.faults(), transaction(self._connection):
            self._connection.execute(statement, values)
