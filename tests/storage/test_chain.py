"""Whatever is done to a row behind the journal's back is found."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from stead.config import Home
from stead.domain import events as ev
from stead.storage.chain import GENESIS, Row
from stead.storage.database import connect
from stead.storage.journal import JournalFile
from tests.build import created
from tests.storage.drafts import KEYS, draft, finished, session, stream

if TYPE_CHECKING:
    from sqlite3 import Connection

ADA, BOB = session(1), session(2)
COLUMNS = list(Row._fields)


@pytest.fixture
async def full(journal: JournalFile) -> JournalFile:
    """Ten events of two streams, one of them deleted and erased."""
    for place in range(1, 5):
        await journal.append([draft(ADA, place, finished(f"a{place}"), cause="c1"), draft(BOB, place, finished("b"))])
    await journal.append([draft(ADA, 5, finished("a5")), draft(BOB, 5, ev.SessionDeleted())])
    await journal.erase(BOB)
    assert journal.verify_chain().faults == ()
    return journal


@contextmanager
def tampering(home: Home) -> Iterator[Connection]:
    """The file, opened by somebody who has the key."""
    connection = connect(home.journal, KEYS.database)
    yield connection
    connection.close()


def _flipped(value: Any) -> Any:
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value + 1000 if isinstance(value, int) else chr(ord(value[0]) ^ 1) + value[1:] if value else "x"


@pytest.mark.parametrize("seq", [1, 5, 9])
@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_value_is_found(full: JournalFile, home: Home, seq: int, column: str) -> None:
    with tampering(home) as connection:
        (value,) = connection.execute(f"SELECT {column} FROM events WHERE seq = ?", (seq,)).fetchone()
        connection.execute(f"UPDATE events SET {column} = ? WHERE seq = ?", (_flipped(value), seq))
    assert full.verify_chain().faults


def test_every_flipped_bit_of_a_row_is_found(full: JournalFile, home: Home) -> None:
    with tampering(home) as connection:
        for column in ("payload", "salt", "commitment", "chain"):
            (value,) = connection.execute(f"SELECT {column} FROM events WHERE seq = 3").fetchone()
            for bit in range(0, len(value) * 8, 3):
                changed = bytearray(value)
                changed[bit // 8] ^= 1 << bit % 8
                connection.execute(f"UPDATE events SET {column} = ? WHERE seq = 3", (bytes(changed),))
                assert full.verify_chain().faults, (column, bit)
            connection.execute(f"UPDATE events SET {column} = ? WHERE seq = 3", (value,))
    assert full.verify_chain().faults == ()


@pytest.mark.parametrize("seq", range(1, 10))
def test_a_deleted_row_is_found(full: JournalFile, home: Home, seq: int) -> None:
    with tampering(home) as connection:
        connection.execute("DELETE FROM events WHERE seq = ?", (seq,))
    assert full.verify_chain().faults


def test_a_deleted_row_is_found_even_if_those_after_it_move_up(full: JournalFile, home: Home) -> None:
    with tampering(home) as connection:
        connection.execute("DELETE FROM events WHERE seq = 7")
        connection.execute("UPDATE events SET session_seq = session_seq - 1 WHERE session = ? AND seq > 7", (ADA,))
        for seq in (8, 9, 10):
            connection.execute("UPDATE events SET seq = seq - 1 WHERE seq = ?", (seq,))
    assert full.verify_chain().faults


@pytest.mark.parametrize("columns", [("payload", "salt"), ("payload", "salt", "commitment"), ("chain",), ("ts_ms",)])
def test_swapped_rows_are_found(full: JournalFile, home: Home, columns: tuple[str, ...]) -> None:
    names = ", ".join(columns)
    with tampering(home) as connection:
        connection.execute("UPDATE events SET ts_ms = ts_ms + seq WHERE seq IN (1, 3)")
        one, other = (
            connection.execute(f"SELECT {names} FROM events WHERE seq = ?", (seq,)).fetchone() for seq in (1, 3)
        )
        for seq, values in ((3, one), (1, other)):
            settings = ", ".join(f"{column} = ?" for column in columns)
            connection.execute(f"UPDATE events SET {settings} WHERE seq = ?", (*values, seq))
    assert full.verify_chain().faults


def test_a_payload_that_vanishes_without_a_recorded_deletion_is_found(full: JournalFile, home: Home) -> None:
    with tampering(home) as connection:
        connection.execute("UPDATE events SET payload = NULL, salt = NULL WHERE seq = 3")
    (fault,) = full.verify_chain().faults
    assert "no deletion is recorded" in fault


def test_a_payload_that_vanishes_with_its_salt_left_is_found(full: JournalFile, home: Home) -> None:
    with tampering(home) as connection:
        connection.execute("UPDATE events SET payload = NULL WHERE seq = 3")
    assert "lost its payload" in full.verify_chain().faults[0]


async def test_a_row_cut_off_at_the_end_shows_against_a_head_kept_elsewhere(full: JournalFile, home: Home) -> None:
    before = full.verify_chain()
    with tampering(home) as connection:
        connection.execute("DELETE FROM events WHERE seq = 10")
    after = full.verify_chain()
    assert (before.head, before.chain) != (after.head, after.chain)


async def test_a_snapshot_of_another_history_is_not_loaded(full: JournalFile, home: Home) -> None:
    await full.snapshots.save(ADA, 3, b"state")
    assert full.snapshots.load(ADA) == (3, b"state")
    with tampering(home) as connection:
        connection.execute("UPDATE events SET chain = zeroblob(32) WHERE session = ? AND session_seq = 3", (ADA,))
    assert full.snapshots.load(ADA) is None


async def test_anybody_can_check_the_chain_with_a_hash_function(journal: JournalFile, home: Home) -> None:
    await journal.append([*stream(ADA, [created("überall"), finished()]), draft(BOB, 1, finished(), cause="c1")])
    chain = GENESIS
    with tampering(home) as connection:
        for row in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY seq"):
            header, (payload, salt, commitment, stored) = row[:8], row[8:]
            assert hmac.new(salt, payload, hashlib.sha256).digest() == commitment
            plain = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
            chain = hashlib.sha256(chain + plain + commitment).digest()
            assert chain == stored


async def test_equal_payloads_have_unequal_commitments(journal: JournalFile, home: Home) -> None:
    await journal.append(stream(ADA, [finished("+44 20 7946 0000")] * 2))
    with tampering(home) as connection:
        rows = connection.execute("SELECT payload, salt, commitment FROM events").fetchall()
    assert rows[0][0] == rows[1][0]
    assert rows[0][1:] != rows[1][1:]
