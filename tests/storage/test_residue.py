"""Whatever lies in a home is looked into, decrypted where it is the home's own; what was not is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stead.config import Home
from stead.domain.needles import Needles
from stead.storage.database import Database
from stead.storage.journal import JournalFile
from stead.storage.packing import pack
from stead.storage.residue import Residue
from tests.storage.drafts import KEYS, OTHER_KEYS, draft, finished, session

WORDS = "the quillfeather of Skaane"
touches = Needles([WORDS]).touches


async def test_every_kind_of_file_is_looked_into(home: Home, journal: JournalFile) -> None:
    search = Residue(home, KEYS)
    await journal.append([draft(session(2), 1, finished("nothing"))])
    before = search.search(touches, 60)
    assert (before.left, before.backups, before.skipped) == ((), (), ())
    assert {"data/journal.db", "data/journal.db-wal"} <= set(before.scanned)
    await journal.append([draft(session(1), 1, finished(WORDS))])
    (home.log).write_text(f"a line with {WORDS.upper()}\n")
    (home.root / "notes").mkdir()
    (home.root / "notes" / "export.jsonl").write_text('{"text": "the\\nquillfeather\\u0020of Skaane"}')
    found = search.search(touches, 60)
    assert [line.partition(":")[0] for line in sorted(found.left)] == ["logs/stead.log", "notes/export.jsonl"]
    assert (found.databases, found.laid_out) == (("data/journal.db-wal",), False)


async def test_words_are_found_in_what_is_packed_in_rows_that_were_deleted_and_not_overwritten(
    home: Home, journal: JournalFile
) -> None:
    connection = Database(home.views / "default.db", KEYS.views).open()
    connection.execute("PRAGMA secure_delete = off")
    connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (?)", (pack(WORDS.encode()),))
    connection.execute("DELETE FROM t")
    connection.close()
    assert Residue(home, KEYS).search(touches, 60).databases == ("data/views/default.db",)


async def test_words_across_the_edge_of_pages_and_of_blocks_are_found(home: Home, journal: JournalFile) -> None:
    for place, at in enumerate(range(3900, 4100, 5), 1):
        await journal.append([draft(session(place), 1, finished("x" * at + WORDS))])
        Database(home.journal, KEYS.database).scrub()
        (home.root / "plain").write_bytes(b"x" * ((1 << 20) - 5) + WORDS.encode())
        found = Residue(home, KEYS).search(touches, 60)
        assert (len(found.left), found.databases) == (1, ("data/journal.db",))
        await journal.append([draft(session(place), 2, finished("-"))])


_STRANGER = """
import sys
from pathlib import Path
from stead.storage.audit import open_audit
from tests.storage.drafts import KEYS
with open_audit(Path(sys.argv[1]), KEYS, Path(sys.argv[2])) as audit:
    audit.verify()
"""


async def test_the_journal_is_not_closed_under_the_daemon_by_another_process_after_a_search(
    home: Home, journal: JournalFile
) -> None:
    """As `stead memory verify` does: the last to close a database takes its log away, whoever writes to it still."""
    await journal.append([draft(session(1), 1, finished("before"))])
    log = home.journal.with_name("journal.db-wal")
    was = log.stat().st_ino
    assert Residue(home, KEYS).search(touches, 60).skipped == ()
    subprocess.run(
        [sys.executable, "-c", _STRANGER, str(home.journal), str(home.heads)], check=True, cwd=Path(__file__).parents[2]
    )
    assert log.stat().st_ino == was
    await journal.append([draft(session(1), 2, finished("after"))])


def test_copies_from_before_are_named_with_how_long_they_are_kept(home: Home) -> None:
    for name in ("data/backups/journal-schema-0002-x.db", "replaced-20260101T000000Z-aa/data/journal.db"):
        path = home.root / name
        path.parent.mkdir(parents=True)
        connection = Database(path, KEYS.database).open()
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (?)", (WORDS,))
        connection.close()
    found = Residue(home, KEYS).search(touches, 60)
    assert (found.left, found.databases) == ((), ())
    assert any("kept until the next upgrade" in line for line in found.backups)
    assert any("kept until you remove it" in line for line in found.backups)


def test_what_cannot_be_read_or_not_in_time_is_named(home: Home) -> None:
    (home.root / "large").write_bytes(bytes(3 << 20))
    found = Residue(home, KEYS).search(touches, 0)
    assert found.skipped == ("large: not searched in time",)
    assert found.scanned == ()
    (home.root / "other.db").mkdir()
    (home.root / "other.db-wal").write_bytes(b"a log of nobody knows what")
    assert any(line.startswith("other.db-wal: ") for line in Residue(home, KEYS).search(touches, 60).skipped)
    (home.root / "other.db").rmdir()
    os.mkfifo(home.root / "pipe")  # it is no file, and nobody waits for it
    assert Residue(home, KEYS).search(touches, 60).skipped == ()


def test_a_database_of_another_home_is_looked_at_as_it_is(home: Home) -> None:
    Database(home.journal, OTHER_KEYS.database).open().close()
    found = Residue(home, KEYS).search(touches, 60)
    assert (found.left, found.databases) == ((), ())


def test_files_that_are_named_after_people_are_said_by_their_folder(home: Home) -> None:
    """What a receipt has stays for good, and somebody may be forgotten later."""
    people = home.memory_files / "global" / "people"
    people.mkdir(parents=True)
    (people / "torvald-skaane.md").write_text("- Has the keys.\n")
    (people / "ada-lund.md").write_text("- Met Bo Berg.\n")
    folder = people.relative_to(home.root).as_posix()
    for words in ("Torvald Skaane", "Bo Berg"):
        found = Residue(home, KEYS).search(Needles([words]).touches, 60)
        assert f"{folder}: 2 files" in found.scanned
        assert [line.partition(":")[0] for line in found.left] == [folder]
        assert "skaane" not in repr(found)
        assert "lund" not in repr(found)
    assert Residue(home, KEYS).search(touches, 60).left == ()


def test_words_with_which_databases_are_laid_out_are_known(home: Home) -> None:
    for words, laid_out in (("porter", True), ("integrity", True), (WORDS, False)):
        assert Residue(home, KEYS).search(Needles([words]).touches, 60).laid_out is laid_out


def test_words_are_taken_out_of_logs_that_somebody_writes_to(home: Home) -> None:
    home.log.parent.mkdir(parents=True, exist_ok=True)
    older = home.log.with_name("stead.log.1")
    older.write_bytes(b"\xff a line\nwith the\nQUILLFEATHER of Skaane.\n")
    with home.log.open("ab", buffering=0) as writer:  # as the daemon has it
        writer.write(f"1 {WORDS} and more words than what stands there now\n2 else\n".encode())
        Residue(home, KEYS).strike(touches, Needles([WORDS]).cleaned)
        writer.write(b"3 again\n")
    assert home.log.read_text() == "1 [forgotten] and more words than what stands there now\n2 else\n3 again\n"
    assert older.read_bytes() == b"\xff a line\nwith [forgotten].\n"
    assert Residue(home, KEYS).search(touches, 60).left == ()
