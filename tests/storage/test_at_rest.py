"""Nothing of what is kept can be read in any file of the home."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC

from stead.config import Home
from stead.domain import events as ev
from stead.storage.backup import backup
from stead.storage.database import Database
from stead.storage.journal import open_journal
from stead.storage.packing import packed_in
from stead.storage.views import Views
from tests.build import created
from tests.storage.drafts import KEYS, claim, draft, finished, session, stream
from tests.storage.raw import raw

CANARY = "canary-5f2a91c7-sings"
ADA = session(1)


def _files_with(home: Home, words: bytes) -> list[str]:
    files = [path for path in home.root.rglob("*") if path.is_file()]
    assert any(path.name == "journal.db-wal" for path in files)
    return [path.name for path in files if words in path.read_bytes()]


async def test_no_file_of_the_home_shows_a_word_of_the_journal_the_vault_or_the_views(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    views = Views(home.views / "default.db", KEYS, journal)
    await journal.append(
        [*stream(ADA, [created(CANARY), *[finished(CANARY * 300)] * 50])], claim=claim("c", ADA, CANARY)
    )
    await journal.vault.put("provider/acme", CANARY)
    await journal.snapshots.save(ADA, 3, CANARY.encode())
    assert len(views.search("canary")) == 50
    backup(home, KEYS, "six quiet otters", home.root / "home.backup")
    for words in (CANARY.encode(), b"SQLite format 3", b"CREATE TABLE", str(ADA).encode()):
        assert _files_with(home, words) == []
    views.close()
    journal.close()


async def test_every_file_is_for_its_owner_alone(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    views = Views(home.views / "default.db", KEYS, journal)
    await journal.append(stream(ADA, [created()]))
    views.catch_up()
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in home.data.rglob("*") if path.is_file()}
    assert set(modes) >= {"journal.db", "journal.db-wal", "default.db", "default.db-wal"}
    assert set(modes.values()) == {"0o600"}
    views.close()
    journal.close()


def _every_page(path: Path, key: bytes) -> bytes:
    """The whole file decrypted by hand, free pages included: 4 KiB each, AES-256-CBC, then 80 bytes of IV and MAC."""
    content = path.read_bytes()
    plain = b""
    for start in range(0, len(content), 4096):
        page = content[start + (16 if start == 0 else 0) : start + 4096]
        decryptor = Cipher(AES256(key), CBC(page[-80:-64])).decryptor()
        plain += decryptor.update(page[:-80]) + decryptor.finalize()
    return plain + packed_in(plain)


async def test_what_was_erased_is_gone_even_for_somebody_with_the_key(home: Home) -> None:
    journal = open_journal(home.journal, KEYS)
    views = Views(home.views / "default.db", KEYS, journal)
    await journal.append(stream(ADA, [created(CANARY), *[finished(CANARY * 300)] * 20]))
    await journal.append(stream(session(2), [created("stays")]))
    await journal.snapshots.save(ADA, 3, CANARY.encode())
    assert views.search(CANARY)
    for path, key in ((home.journal, KEYS.database), (home.views / "default.db", KEYS.views)):
        Database(path, key).scrub()  # fold the log back, so that what is there can be found
        assert CANARY.encode() in _every_page(path, key)
    await journal.append([draft(ADA, 22, ev.SessionDeleted())])
    assert await journal.erase(ADA) == 21
    assert views.search(CANARY) == []
    for path, key in ((home.journal, KEYS.database), (home.views / "default.db", KEYS.views)):
        assert CANARY.encode() not in raw(path.with_name(path.name + "-wal"), key)
        plain = _every_page(path, key)
        assert b"stays" in plain
        assert b"canary" not in plain.lower()
        assert b"5f2a91c7" not in plain
    views.close()
    journal.close()
