"""Signing: what is signed, when, by what key, and what is not signed over."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from stead.config import Home
from stead.domain import events as ev
from stead.domain.audit import Head
from stead.domain.errors import NotFound, StorageFault
from stead.storage import head_keeper
from stead.storage.audit import Audit, open_audit
from stead.storage.database import connect
from stead.storage.head_copy import HeadCopy, encode_head
from stead.storage.head_keeper import HeadKeeper
from stead.storage.heads import is_signed
from stead.storage.journal import JournalFile, open_journal
from tests.attacks.audit_attacks import signed_by
from tests.build import START_MS
from tests.storage.drafts import KEYS, OTHER_KEYS, draft, finished, session
from tests.storage.test_chain import tampering

if TYPE_CHECKING:
    from sqlite3 import Connection

ADA = session(1)
DEADLINE_S = 20


@pytest.fixture
def copy(home: Home) -> HeadCopy:
    return HeadCopy(home.heads)


async def grow(journal: JournalFile, count: int) -> None:
    place = sum(1 for _ in journal.events(session=ADA))
    await journal.append([draft(ADA, place + at, finished(f"step {place + at}")) for at in range(1, count + 1)])


def edges(home: Home) -> list[tuple[int, int]]:
    with tampering(home) as connection:
        return [tuple(row) for row in connection.execute("SELECT size, length(edge) FROM heads ORDER BY size")]


async def test_anybody_can_check_a_head_with_the_public_key(journal: JournalFile, home: Home, copy: HeadCopy) -> None:
    await grow(journal, 5)
    head = await journal.heads.sign(START_MS, copy)
    signed = json.dumps([head.journal, 5, head.root, head.chain, START_MS], separators=(",", ":")).encode()
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(journal.heads.public_key()))
    key.verify(bytes.fromhex(head.signature), b"stead head 1\n" + signed)
    assert (head.key, head.size) == (journal.heads.public_key(), 5)
    assert (head.journal, head.chain) == (journal.chain_at(1).hex(), journal.chain_at(5).hex())
    assert json.loads(home.heads.read_text("utf-8")) == json.loads(encode_head(head))
    assert home.heads.stat().st_mode & 0o777 == 0o600


async def test_a_head_has_one_form_alone(journal: JournalFile, copy: HeadCopy) -> None:
    await grow(journal, 5)
    head = await journal.heads.sign(START_MS, copy)
    assert is_signed(head)
    for other in (head.signature.upper(), f" {head.signature}", head.signature[:-2]):
        assert not is_signed(msgspec.structs.replace(head, signature=other))


async def test_without_new_events_the_newest_head_is_given_again(journal: JournalFile, copy: HeadCopy) -> None:
    await grow(journal, 3)
    first = await journal.heads.sign(START_MS, copy)
    assert await journal.heads.sign(START_MS + 1, copy) == first
    assert list(copy.lines()) == [encode_head(first) + b"\n"]
    copy.path.unlink()
    assert await journal.heads.sign(START_MS + 2, copy) == first
    assert copy.last() == first, "a copy that was lost begins anew with the newest head"


async def test_a_journal_without_events_has_nothing_to_sign(journal: JournalFile, copy: HeadCopy) -> None:
    with pytest.raises(NotFound, match="no event to sign"):
        await journal.heads.sign(START_MS, copy)


async def test_a_new_head_reads_only_what_has_come_since(journal: JournalFile, home: Home, copy: HeadCopy) -> None:
    await grow(journal, 70)
    await journal.heads.sign(START_MS, copy)
    with tampering(home) as connection:
        connection.execute("DELETE FROM events WHERE seq < 60")  # nobody misses them
    await grow_from(journal, 70, 5)
    head = await journal.heads.sign(START_MS + 1, copy)
    assert head.size == 75
    assert edges(home) == [(70, 0), (75, 32 * (75).bit_count())], "the newest alone keeps the edge"


async def grow_from(journal: JournalFile, place: int, count: int) -> None:
    await journal.append([draft(ADA, place + at, finished()) for at in range(1, count + 1)])


async def test_what_was_changed_before_a_head_is_not_signed_again(
    journal: JournalFile, home: Home, copy: HeadCopy
) -> None:
    await grow(journal, 4)
    await journal.heads.sign(START_MS, copy)
    with tampering(home) as connection:
        connection.execute("UPDATE events SET actor = 'model' WHERE seq = 2")
    await grow(journal, 2)
    await journal.heads.sign(START_MS + 1, copy)
    report = Audit(journal.heads, copy).verify()
    assert [fault for fault in report.faults if "signed for other events" in fault]


async def test_a_journal_that_became_shorter_is_not_signed(journal: JournalFile, home: Home, copy: HeadCopy) -> None:
    await grow(journal, 6)
    await journal.heads.sign(START_MS, copy)
    with tampering(home) as connection:
        connection.execute("DELETE FROM events WHERE seq > 4")
        connection.execute("DELETE FROM heads")
    with pytest.raises(StorageFault, match="was cut, changed or replaced"):
        await journal.heads.sign(START_MS + 1, copy)
    await grow_from(journal, 4, 5)
    with pytest.raises(StorageFault, match="was cut, changed or replaced"):
        await journal.heads.sign(START_MS + 2, copy)


async def test_a_gap_is_not_signed_over(journal: JournalFile, home: Home, copy: HeadCopy) -> None:
    await grow(journal, 6)
    with tampering(home) as connection:
        connection.execute("DELETE FROM events WHERE seq = 3")
    with pytest.raises(StorageFault, match="event 4 follows 2"):
        await journal.heads.sign(START_MS, copy)


@pytest.mark.parametrize(
    "change",
    ["UPDATE heads SET edge = zeroblob(64)", "UPDATE heads SET edge = zeroblob(5)", "UPDATE heads SET edge = 7"],
)
async def test_a_head_whose_edge_was_changed_is_not_gone_on_from(
    journal: JournalFile, home: Home, copy: HeadCopy, change: str
) -> None:
    await grow(journal, 3)
    await journal.heads.sign(START_MS, copy)
    with tampering(home) as connection:
        connection.execute(change)
    await grow(journal, 1)
    with pytest.raises(StorageFault, match="the head at event 3 was changed"):
        await journal.heads.sign(START_MS + 1, copy)


async def test_a_forged_head_is_not_gone_on_from(journal: JournalFile, home: Home, copy: HeadCopy) -> None:
    await grow(journal, 3)
    head = await journal.heads.sign(START_MS, copy)
    with tampering(home) as connection:
        forged = encode_head(signed_by(OTHER_KEYS.audit, head)).decode()
        connection.execute("UPDATE heads SET head = ?", (forged,))
    with pytest.raises(StorageFault, match="the head at event 3 was changed"):
        await journal.heads.sign(START_MS + 1, copy)


async def test_two_who_sign_at_once_agree(journal: JournalFile, home: Home, copy: HeadCopy) -> None:
    await grow(journal, 9)
    with open_audit(home.journal, KEYS, home.heads) as other:
        heads = await asyncio.gather(*(table.sign(START_MS, copy) for table in (journal.heads, other.table) * 4))
    assert {head.root for head in heads} == {heads[0].root}
    report = Audit(journal.heads, copy).verify()
    assert (report.faults, report.doubts) == ((), ())


def test_a_line_that_a_power_cut_left_unfinished_is_no_head(tmp_path: Path) -> None:
    copy = HeadCopy(tmp_path / "heads.jsonl")
    first = Head("aa", 1, "bb", "cc", 5, "dd", "ee")
    copy.add(first)
    with copy.path.open("ab") as file:
        file.write(encode_head(first)[:30])
    assert copy.last() == first
    second = Head("aa", 2, "bb", "cc", 5, "dd", "ee")
    copy.add(second)
    assert list(copy.lines()) == [encode_head(first) + b"\n", encode_head(second) + b"\n"]


def test_a_copy_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    copy = HeadCopy(tmp_path / "gone" / "heads.jsonl")
    with pytest.raises(StorageFault, match=r"gone/heads.jsonl.*cannot be used.*audit_heads"):
        copy.add(Head("aa", 1, "bb", "cc", 5, "dd", "ee"))
    folder = HeadCopy(tmp_path)
    with pytest.raises(StorageFault, match="cannot be used"):
        folder.last()


async def test_a_check_takes_no_longer_for_each_event_of_a_long_journal(
    journal: JournalFile, home: Home, copy: HeadCopy
) -> None:
    await grow(journal, 2000)
    await journal.append([draft(session(2), 1, finished()), draft(session(2), 2, ev.SessionDeleted())])
    await journal.erase(session(2))
    seen: list[tuple[int, int]] = []
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    def watched(path: Path, key: bytes) -> Connection:
        connection = connect(path, key)
        connection.set_progress_handler(count, 1000)
        return connection

    with open_audit(home.journal, KEYS, home.heads, connect=watched) as audit:
        assert audit.verify(progress=lambda done, total: seen.append((done, total))).faults == ()
    assert steps < 1000, "a million steps of the database are enough for 2,000 events; each against each are 40 million"
    assert seen == [(done, 2002) for done in range(256, 2002, 256)]


# -- when -----------------------------------------------------------------------------------------------------------


async def until_signed(copy: HeadCopy, size: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while (last := copy.last()) is None or last.size < size:
            await asyncio.sleep(0.005)


@pytest.fixture
def keeper(journal: JournalFile, copy: HeadCopy) -> HeadKeeper:
    keeper = HeadKeeper(Audit(journal.heads, copy))
    journal.on_growth = keeper.noticed
    return keeper


async def test_a_head_is_signed_after_so_many_events_and_not_before(
    journal: JournalFile, keeper: HeadKeeper, copy: HeadCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_keeper, "HEAD_EVENTS", 10)
    keeping = asyncio.create_task(keeper.keep())
    await grow(journal, 9)
    await asyncio.sleep(0)
    assert copy.last() is None
    await grow(journal, 1)
    await until_signed(copy, 10)
    await grow(journal, 12)
    await until_signed(copy, 22)
    keeping.cancel()


async def test_a_head_is_signed_after_so_much_time_with_new_events(
    journal: JournalFile, keeper: HeadKeeper, copy: HeadCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_keeper, "HEAD_EVERY_S", 0.05)
    keeping = asyncio.create_task(keeper.keep())
    for size in (1, 2):
        await grow(journal, 1)
        await until_signed(copy, size)
    keeping.cancel()


async def test_leaving_signs_what_is_new_and_only_that(
    journal: JournalFile, keeper: HeadKeeper, copy: HeadCopy
) -> None:
    assert await keeper.sign()
    assert copy.last() is None
    await grow(journal, 2)
    assert await keeper.sign()
    written = copy.path.stat().st_mtime_ns
    assert await keeper.sign()
    assert (copy.path.stat().st_mtime_ns, len(list(copy.lines()))) == (written, 1)


async def test_a_copy_that_fails_is_logged_and_tried_again(
    journal: JournalFile, home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(head_keeper, "HEAD_EVERY_S", 0.01)
    monkeypatch.setattr(head_keeper, "RETRY_S", 0.01)
    copy = HeadCopy(home.root / "disk" / "heads.jsonl")
    keeper = HeadKeeper(Audit(journal.heads, copy))
    journal.on_growth = keeper.noticed
    keeping = asyncio.create_task(keeper.keep())
    with caplog.at_level(logging.ERROR):
        await grow(journal, 3)
        async with asyncio.timeout(DEADLINE_S):
            while "cannot be used" not in caplog.text:
                await asyncio.sleep(0.005)
    copy.path.parent.mkdir()
    await until_signed(copy, 3)
    keeping.cancel()


# -- upgrades -------------------------------------------------------------------------------------------------------


async def test_a_journal_of_an_older_stead_is_checked_as_far_as_it_goes(home: Home) -> None:
    home.journal.write_bytes((Path(__file__).parent / "schemas" / "0001.db").read_bytes())
    os.chmod(home.journal, 0o600)
    with open_audit(home.journal, KEYS, home.heads) as audit:
        report = audit.verify()
        with pytest.raises(StorageFault, match="start Stead once"):
            await audit.sign()
    assert report.faults == ()
    assert "no head has been signed yet" in report.doubts[0]
    journal = open_journal(home.journal, KEYS)
    head = await journal.heads.sign(START_MS, HeadCopy(home.heads))
    journal.close()
    assert head.size == report.events
    with open_audit(home.journal, KEYS, home.heads) as audit:
        assert (audit.verify().faults, audit.verify().doubts) == ((), ())
