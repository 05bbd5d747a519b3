"""What an insider can do to a journal: one who has the key of the database, one who has only the file, one who has all.

``bench/s11_audit.py`` does this a thousand times; ``test_audit.py`` a hundred. Each attack works on a copy of a home
that was left in good order, with a signed head over everything and its copy outside the file.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stead.config import Home
from stead.domain import events as ev
from stead.domain.audit import AuditReport, Head
from stead.domain.errors import StorageFault, WrongKey
from stead.domain.forgetting import Redaction
from stead.domain.ids import HOME, CommandId
from stead.domain.memory_events import ForgettingBegun
from stead.storage.audit import open_audit
from stead.storage.chain import GENESIS, Row, covered, link
from stead.storage.database import Database, IntegrityError, connect
from stead.storage.event_rows import stored_rows
from stead.storage.head_copy import HeadCopy, decode_head, encode_head
from stead.storage.heads import signed_bytes
from stead.storage.journal import JournalFile, open_journal
from stead.storage.merkle import Edge, leaf_hash
from tests.build import START_MS, created
from tests.storage.drafts import KEYS, OTHER_KEYS, draft, finished, session, stream

if TYPE_CHECKING:
    from sqlite3 import Connection

PAGE_BYTES = 4096


@dataclass(frozen=True)
class Kept:
    """A home in good order, with what its person and an attacker might have of its past.

    Args:
        home: journal, and the copy of the heads.
        older: the journal's file as it was some events ago.
        elsewhere: a head over everything, on another disk.
        events: how many there are.
    """

    home: Home
    older: Path
    elsewhere: Path
    events: int

    def copied(self, to: Path) -> Kept:
        """The same again, to be attacked."""
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.home.root, to)
        return Kept(Home(to), self.older, self.elsewhere, self.events)


def keep(folder: Path, rng: random.Random) -> Kept:
    """Live for a while: sessions, some of them deleted and erased, words forgotten, heads now and then."""
    home = Home(folder / "home")
    home.make()
    return asyncio.run(_live(folder, home, rng))


async def _live(folder: Path, home: Home, rng: random.Random) -> Kept:
    journal = open_journal(home.journal, KEYS)
    copy = HeadCopy(home.heads)
    streams = {number: 0 for number in range(rng.randint(3, 6))}
    older_at = rng.randint(2, 6)
    for turn in range(12):
        await _some(journal, streams, rng, turn)
        if turn % 4 == 1 or turn == older_at:
            await journal.heads.sign(START_MS + turn, copy)
        if turn == older_at:
            journal.close()
            shutil.copy(home.journal, folder / "older.db")
            journal = open_journal(home.journal, KEYS)
        if turn % 5 == 4 and len(streams) > 2:
            gone = rng.choice(sorted(streams))
            await journal.append([draft(session(gone), streams.pop(gone) + 1, ev.SessionDeleted())])
            await journal.erase(session(gone))
        if turn % 3 == 2:
            await _forget_words(journal, streams, rng)
    number = min(streams)
    await journal.append([draft(session(number), streams[number] + 1, finished("said at last"))])
    streams[number] += 1
    await _forget_words(journal, {number: streams[number]}, rng)  # so that there is something to attack
    places = sum(event.session == HOME for event in journal.events())
    await journal.append([draft(HOME, places + 1, ev.DaemonStopped("asked to leave"))])
    head = await journal.heads.sign(START_MS + 99, copy)
    HeadCopy(folder / "elsewhere.jsonl").add(head)
    journal.close()
    return Kept(home, folder / "older.db", folder / "elsewhere.jsonl", head.size)


async def _forget_words(journal: JournalFile, streams: dict[int, int], rng: random.Random) -> None:
    """Forget what the last call of some session gave, which may have been forgotten before."""
    number = rng.choice(sorted(streams))
    last = list(journal.events(session=session(number)))[-1]
    if isinstance(last, ev.Event) and isinstance(last.body, ev.ToolFinished):
        body = msgspec.structs.replace(last.body, text=f"said [forgotten] {rng.random()}")
        begun = ForgettingBegun((), (last.seq,), ("1:aa",), "cli")
        redaction = Redaction({last.seq: body}, begun, START_MS, CommandId(""), journal.head())
        await journal.redact(redaction, lambda _: False)
        streams[number] += 1


async def _some(journal: JournalFile, streams: dict[int, int], rng: random.Random, turn: int) -> None:
    for number in sorted(streams):
        if not streams[number]:
            await journal.append([draft(session(number), 1, created(f"goal {number}"), ts_ms=START_MS + turn)])
            streams[number] = 1
        count = rng.randint(0, 3)
        bodies = [finished(f"said {rng.random()}", f"call_{turn}_{at}") for at in range(count)]
        await journal.append(stream(session(number), bodies, first=streams[number] + 1, ts_ms=START_MS + turn * 9000))
        streams[number] += count


def audited(kept: Kept, *, elsewhere: bool = False) -> AuditReport | None:
    """What a check says; none where the file cannot even be opened, which says enough."""
    try:
        with open_audit(kept.home.journal, KEYS, kept.home.heads) as audit:
            return audit.verify(kept.elsewhere if elsewhere else None)
    except (StorageFault, WrongKey):
        return None


# -- with the key of the database -----------------------------------------------------------------------------------


@contextmanager
def tampering(kept: Kept) -> Iterator[Connection]:
    """The journal, opened by somebody who has its key."""
    connection = connect(kept.home.journal, KEYS.database)
    try:
        yield connection
    finally:
        connection.close()


def _rows(kept: Kept) -> list[Row]:
    database = Database(kept.home.journal, KEYS.database)
    try:
        return list(stored_rows(database))
    finally:
        database.close()


def _write(kept: Kept, rows: list[Row]) -> None:
    with tampering(kept) as connection:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM events")
        marks = ", ".join("?" * len(Row._fields))
        connection.executemany(f"INSERT INTO events VALUES ({marks})", rows)
        connection.execute("COMMIT")


def _set(kept: Kept, seq: int, **values: object) -> None:
    names = ", ".join(f"{name} = ?" for name in values)
    with tampering(kept) as connection:
        connection.execute(f"UPDATE events SET {names} WHERE seq = ?", (*values.values(), seq))


def flip_a_bit_of_a_value(kept: Kept, rng: random.Random) -> None:
    row = rng.choice(_rows(kept))
    name = rng.choice([name for name in Row._fields[1:] if getattr(row, name) not in (None, "")])
    _set(kept, row.seq, **{name: _flipped(getattr(row, name), rng)})


def put_a_value_of_another_type(kept: Kept, rng: random.Random) -> None:
    row, name = rng.choice(_rows(kept)), rng.choice(Row._fields[1:])
    value: object = rng.random()
    if name in ("payload", "salt", "commitment", "chain", "ts_ms", "version", "session_seq"):
        value = rng.choice(["text", 0.5, b"\xff"]) if name in ("ts_ms", "version", "session_seq") else "text"
    _set(kept, row.seq, **{name: value if not isinstance(value, float) else b"\xff\xfe"})


def _flipped(value: object, rng: random.Random) -> object:
    if isinstance(value, int):
        return value ^ 1 << rng.randrange(40)
    if isinstance(value, str):
        at = rng.randrange(len(value))
        return value[:at] + chr(ord(value[at]) ^ 1 << rng.randrange(4)) + value[at + 1 :]
    assert isinstance(value, bytes)
    changed = bytearray(value)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def delete_rows(kept: Kept, rng: random.Random) -> None:
    first = rng.randint(1, kept.events - 1)
    last = min(kept.events - 1, first + rng.randrange(3))
    with tampering(kept) as connection:
        connection.execute("DELETE FROM events WHERE seq BETWEEN ? AND ?", (first, last))


def delete_rows_and_close_the_gap(kept: Kept, rng: random.Random) -> None:
    rows = _rows(kept)
    first = rng.randrange(len(rows) - 1)
    del rows[first : first + rng.randint(1, 3)]
    _write(kept, _rechained(_renumbered(rows)))


def swap_two_rows(kept: Kept, rng: random.Random) -> None:
    rows = _rows(kept)
    one, other = rng.sample(range(len(rows)), 2)
    rows[one], rows[other] = rows[other]._replace(seq=one + 1), rows[one]._replace(seq=other + 1)
    rows.sort(key=lambda row: row.seq)
    _write(kept, _unique(_rechained(rows) if rng.random() < 0.5 else rows))


def swap_two_payloads(kept: Kept, rng: random.Random) -> None:
    rows = [row for row in _rows(kept) if row.payload is not None]
    one, other = rng.sample(rows, 2)
    for row, source in ((one, other), (other, one)):
        values = {"payload": source.payload, "salt": source.salt}
        if rng.random() < 0.5:
            values["commitment"] = source.commitment
        _set(kept, row.seq, **values)


def erase_a_payload_that_was_not_deleted(kept: Kept, rng: random.Random) -> None:
    row = rng.choice([row for row in _rows(kept) if row.payload is not None])
    _set(kept, row.seq, payload=None, **({"salt": None} if rng.random() < 0.7 else {}))


def change_what_is_read_instead(kept: Kept, rng: random.Random) -> None:
    with tampering(kept) as connection:
        rows = connection.execute("SELECT seq, payload, salt FROM replacements").fetchall()
        if not rows:
            raise IntegrityError("nothing was forgotten here")
        seq, payload, salt = rng.choice(rows)
        change = rng.randrange(4)
        if change == 0:
            connection.execute("UPDATE replacements SET payload = ? WHERE seq = ?", (_flipped(payload, rng), seq))
        elif change == 1:
            connection.execute("UPDATE replacements SET salt = ? WHERE seq = ?", (_flipped(salt, rng), seq))
        elif change == 2:
            connection.execute("DELETE FROM replacements WHERE seq = ?", (seq,))
        else:
            connection.execute("UPDATE replacements SET version = version + 1 WHERE seq = ?", (seq,))


def put_a_forgotten_payload_back(kept: Kept, rng: random.Random) -> None:
    """With the payload, its salt, or both, of another row."""
    with tampering(kept) as connection:
        gone = connection.execute("SELECT seq FROM replacements").fetchall()
        if not gone:
            raise IntegrityError("nothing was forgotten here")
        other = rng.choice([row for row in _rows(kept) if row.payload is not None])
        values = {"payload": other.payload, "salt": other.salt}
        if rng.random() < 0.3:
            del values[rng.choice(["payload", "salt"])]
    _set(kept, rng.choice(gone)[0], **values)


def forget_words_that_nobody_forgot(kept: Kept, rng: random.Random) -> None:
    row = rng.choice([row for row in _rows(kept) if row.payload is not None])
    salt = os.urandom(16)
    with tampering(kept) as connection:
        connection.execute("INSERT INTO replacements VALUES (?, 1, ?, ?)", (row.seq, row.payload, salt))
        if rng.random() < 0.7:
            connection.execute("UPDATE events SET payload = NULL, salt = NULL WHERE seq = ?", (row.seq,))


def cut_off_the_end(kept: Kept, rng: random.Random) -> None:
    size = rng.randint(1, kept.events - 1)
    with tampering(kept) as connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (size,))
        if rng.random() < 0.7:
            connection.execute("DELETE FROM heads WHERE size > ?", (size,))


def cut_off_everything(kept: Kept, rng: random.Random) -> None:
    with tampering(kept) as connection:
        connection.execute("DELETE FROM events")
        connection.execute("DELETE FROM heads")


def rewrite_the_past_with_a_new_chain(kept: Kept, rng: random.Random) -> None:
    _write(kept, _rechained(_edited(_rows(kept), rng)))


def rewrite_the_past_and_drop_the_heads(kept: Kept, rng: random.Random) -> None:
    rewrite_the_past_with_a_new_chain(kept, rng)
    with tampering(kept) as connection:
        connection.execute("DELETE FROM heads")


def slip_a_row_in(kept: Kept, rng: random.Random) -> None:
    rows = _rows(kept)
    at = rng.randrange(1, len(rows))
    payload, salt = b'{"type":"daemon.stopped","why":"forged"}', os.urandom(16)
    commitment = hmac.digest(salt, payload, hashlib.sha256)
    rows.insert(at, Row(0, HOME, 0, START_MS, "stead", "", "daemon.stopped", 1, payload, salt, commitment, b""))
    _write(kept, _rechained(_renumbered(rows)))


def _edited(rows: list[Row], rng: random.Random) -> list[Row]:
    at = rng.choice([place for place, row in enumerate(rows) if row.payload is not None])
    payload = rows[at].payload
    assert payload is not None
    salt = os.urandom(16)
    changed = payload.replace(b"said", b"sang") if b"said" in payload else payload + b" "
    commitment = hmac.digest(salt, changed, hashlib.sha256)
    return [*rows[:at], rows[at]._replace(payload=changed, salt=salt, commitment=commitment), *rows[at + 1 :]]


def _renumbered(rows: list[Row]) -> list[Row]:
    places: dict[str, int] = {}
    made = []
    for seq, row in enumerate(rows, 1):
        places[row.session] = places.get(row.session, 0) + 1
        made.append(row._replace(seq=seq, session_seq=places[row.session]))
    return made


def _rechained(rows: list[Row]) -> list[Row]:
    made, chain = [], GENESIS
    for row in rows:
        chain = link(chain, row[:8], row.commitment)
        made.append(row._replace(chain=chain))
    return made


def _unique(rows: list[Row]) -> list[Row]:
    """Rows that the table takes: no place of a stream twice."""
    seen: set[tuple[str, int]] = set()
    made = []
    for row in rows:
        place = row.session_seq
        while (row.session, place) in seen:
            place += 1000
        seen.add((row.session, place))
        made.append(row._replace(session_seq=place))
    return made


# -- against the heads ----------------------------------------------------------------------------------------------


def _change_copy(kept: Kept, change: Callable[[Head], Head], rng: random.Random) -> None:
    lines = kept.home.heads.read_bytes().splitlines(keepends=True)
    at = rng.randrange(len(lines))
    lines[at] = encode_head(change(decode_head(lines[at]))) + b"\n"
    kept.home.heads.write_bytes(b"".join(lines))


def _change_table(kept: Kept, change: Callable[[Head], Head], rng: random.Random) -> None:
    with tampering(kept) as connection:
        rows = connection.execute("SELECT size, head FROM heads").fetchall()
        size, line = rng.choice(rows)
        connection.execute(
            "UPDATE heads SET head = ? WHERE size = ?", (encode_head(change(decode_head(line))).decode(), size)
        )


def replace_a_head(kept: Kept, rng: random.Random) -> None:
    """With one whose fields were changed, under the old signature."""
    field = rng.choice(["journal", "size", "root", "chain", "ts_ms", "key", "signature"])

    def change(head: Head) -> Head:
        value = getattr(head, field)
        if isinstance(value, int):
            return msgspec.structs.replace(head, **{field: value + rng.choice([-1, 1])})
        at = rng.randrange(len(value))
        digit = "0123456789abcdef"[(int(value[at], 16) + rng.randint(1, 15)) % 16]
        return msgspec.structs.replace(head, **{field: value[:at] + digit + value[at + 1 :]})

    rng.choice([_change_copy, _change_table])(kept, change, rng)


def forge_a_head(kept: Kept, rng: random.Random) -> None:
    """With one that another key has signed."""

    def change(head: Head) -> Head:
        return signed_by(OTHER_KEYS.audit, msgspec.structs.replace(head, root=os.urandom(32).hex()))

    rng.choice([_change_copy, _change_table])(kept, change, rng)


def scribble_over_the_copy(kept: Kept, rng: random.Random) -> None:
    content = bytearray(kept.home.heads.read_bytes())
    at = rng.randrange(len(content) - 1)
    content[at] ^= 1 << rng.randrange(7)
    kept.home.heads.write_bytes(bytes(content))


def signed_by(seed: bytes, head: Head) -> Head:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(seed)
    named = msgspec.structs.replace(head, key=key.public_key().public_bytes_raw().hex())
    return msgspec.structs.replace(named, signature=key.sign(signed_bytes(named)).hex())


# -- with every key of the home: only a head on another disk tells ---------------------------------------------------


def rewrite_the_past_and_sign_it_anew(kept: Kept, rng: random.Random) -> None:
    _write(kept, _rechained(_edited(_rows(kept), rng)))
    _sign_all_anew(kept)


def cut_off_the_end_and_sign_it_anew(kept: Kept, rng: random.Random) -> None:
    """So little that no deletion is undone, which would show by itself."""
    with tampering(kept) as connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (kept.events - rng.randint(1, 3),))
    _sign_all_anew(kept)


def _sign_all_anew(kept: Kept) -> None:
    rows = _rows(kept)
    edge = Edge()
    for row in rows:
        edge.append(leaf_hash(covered(row[:8], row.commitment)))
    journal, chain = rows[0].chain.hex(), rows[-1].chain.hex()
    head = signed_by(KEYS.audit, Head(journal, edge.size, edge.root().hex(), chain, START_MS, "", ""))
    kept.home.heads.write_bytes(encode_head(head) + b"\n")
    with tampering(kept) as connection:
        connection.execute("DELETE FROM heads")
        values = (head.size, encode_head(head).decode(), b"".join(edge.hashes))
        connection.execute("INSERT INTO heads VALUES (?, ?, ?)", values)


# -- with the file alone --------------------------------------------------------------------------------------------


def flip_a_bit_of_the_file(kept: Kept, rng: random.Random) -> None:
    content = bytearray(kept.home.journal.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    kept.home.journal.write_bytes(bytes(content))


def cut_the_file(kept: Kept, rng: random.Random) -> None:
    size = kept.home.journal.stat().st_size
    os.truncate(kept.home.journal, rng.randrange(PAGE_BYTES, size))


def swap_two_pages(kept: Kept, rng: random.Random) -> None:
    content = kept.home.journal.read_bytes()
    pages = [content[at : at + PAGE_BYTES] for at in range(0, len(content), PAGE_BYTES)]
    one, other = rng.sample(range(len(pages)), 2)
    pages[one], pages[other] = pages[other], pages[one]
    kept.home.journal.write_bytes(b"".join(pages))


def put_the_older_file_back(kept: Kept, rng: random.Random) -> None:
    shutil.copy(kept.older, kept.home.journal)


def put_an_older_page_back(kept: Kept, rng: random.Random) -> None:
    """Its seal is good: it is this file's, and stood in this place once. Pages that change no event do not count."""
    old, content, before = kept.older.read_bytes(), kept.home.journal.read_bytes(), _rows(kept)
    starts = list(range(0, min(len(old), len(content)), PAGE_BYTES))
    rng.shuffle(starts)
    for at in starts:
        kept.home.journal.write_bytes(content[:at] + old[at : at + PAGE_BYTES] + content[at + PAGE_BYTES :])
        try:
            if _rows(kept) != before:
                return
        except (StorageFault, WrongKey):
            return
    raise AssertionError("no page of the older file changes an event")


Attack = Callable[[Kept, random.Random], None]

WITH_THE_DATABASE_KEY: tuple[Attack, ...] = (
    flip_a_bit_of_a_value,
    put_a_value_of_another_type,
    delete_rows,
    delete_rows_and_close_the_gap,
    swap_two_rows,
    swap_two_payloads,
    erase_a_payload_that_was_not_deleted,
    change_what_is_read_instead,
    put_a_forgotten_payload_back,
    forget_words_that_nobody_forgot,
    cut_off_the_end,
    cut_off_everything,
    rewrite_the_past_with_a_new_chain,
    rewrite_the_past_and_drop_the_heads,
    slip_a_row_in,
    replace_a_head,
    forge_a_head,
)
WITH_THE_FILE: tuple[Attack, ...] = (
    flip_a_bit_of_the_file,
    cut_the_file,
    swap_two_pages,
    put_the_older_file_back,
    put_an_older_page_back,
    scribble_over_the_copy,
)
WITH_EVERY_KEY: tuple[Attack, ...] = (rewrite_the_past_and_sign_it_anew, cut_off_the_end_and_sign_it_anew)
ATTACKS = (*WITH_THE_DATABASE_KEY, *WITH_THE_FILE, *WITH_EVERY_KEY)


def found(kept: Kept, attack: Attack, rng: random.Random, into: Path) -> bool:
    """Carry an attack out on a copy; whether a check then says that something is wrong."""
    while True:
        victim = kept.copied(into)
        try:
            attack(victim, rng)
            break
        except IntegrityError:
            continue  # the table itself did not take it: try another
    report = audited(victim, elsewhere=attack in WITH_EVERY_KEY)
    return report is None or bool(report.faults)
