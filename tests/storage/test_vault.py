"""Secrets: sealed one by one, bound to their name and version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stead.config import Home
from stead.domain.errors import StorageFault
from stead.storage.database import connect
from stead.storage.journal import JournalFile, open_journal
from tests.storage.drafts import KEYS, OTHER_KEYS

VALUE = "sk-not-a-real-key-ü"


async def test_a_secret_comes_back_until_it_is_removed(journal: JournalFile, home: Home) -> None:
    vault = journal.vault
    assert vault.get("provider/acme") is None
    await vault.put("provider/acme", "first")
    await vault.put("provider/acme", VALUE)
    await vault.put("provider/umbra", "")
    assert (vault.get("provider/acme"), vault.get("provider/umbra")) == (VALUE, "")
    other = open_journal(home.journal, KEYS)
    assert other.vault.get("provider/acme") == VALUE
    other.close()
    assert await vault.remove("provider/acme")
    assert not await vault.remove("provider/acme")
    assert vault.get("provider/acme") is None


async def test_a_record_is_sealed_even_within_the_open_database(journal: JournalFile, home: Home) -> None:
    await journal.vault.put("provider/acme", VALUE)
    connection = connect(home.journal, KEYS.database)
    (sealed,) = connection.execute("SELECT sealed FROM secrets").fetchone()
    connection.close()
    assert VALUE.encode() not in sealed


async def test_the_database_key_alone_opens_no_secret(journal: JournalFile, home: Home) -> None:
    await journal.vault.put("provider/acme", VALUE)
    stolen = replace(KEYS, master=b"", vault=OTHER_KEYS.vault)
    thief = open_journal(home.journal, stolen)
    with pytest.raises(StorageFault, match=r"'provider/acme' was changed"):
        thief.vault.get("provider/acme")
    thief.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'b'), "
        "nonce = (SELECT nonce FROM secrets WHERE name = 'b'), version = 1 WHERE name = 'a'",
        "UPDATE secrets SET version = version + 1 WHERE name = 'a'",
        "UPDATE secrets SET sealed = zeroblob(40) WHERE name = 'a'",
        "UPDATE secrets SET nonce = zeroblob(12) WHERE name = 'a'",
        "UPDATE secrets SET nonce = zeroblob(3) WHERE name = 'a'",
    ],
)
async def test_a_record_in_anothers_place_or_changed_is_refused(
    journal: JournalFile, home: Home, statement: str
) -> None:
    await journal.vault.put("a", "one")
    await journal.vault.put("b", "two")
    connection = connect(home.journal, KEYS.database)
    connection.execute(statement)
    connection.close()
    with pytest.raises(StorageFault, match="'a' was changed"):
        journal.vault.get("a")
    assert journal.vault.get("b") == "two"


async def test_a_version_rises_with_every_change_and_goes_on_rising_after_a_removal(journal: JournalFile) -> None:
    vault = journal.vault
    assert [await vault.put("secret/shop", value) for value in ("one", "two")] == [1, 2]
    assert await vault.remove("secret/shop")
    assert (vault.opened("secret/shop"), vault.get("secret/shop")) == (None, None)
    assert await vault.put("secret/shop", "three") == 3
    assert vault.opened("secret/shop") == (3, "three")


async def test_an_old_record_put_back_shows_its_old_version(journal: JournalFile, home: Home) -> None:
    await journal.vault.put("secret/shop", "old")
    connection = connect(home.journal, KEYS.database)
    old = connection.execute("SELECT * FROM secrets").fetchone()
    await journal.vault.remove("secret/shop")
    newest = await journal.vault.put("secret/shop", "new")
    connection.execute("DELETE FROM secrets")
    connection.execute("INSERT INTO secrets VALUES (?, ?, ?, ?)", old)
    connection.commit()
    connection.close()
    replayed = journal.vault.opened("secret/shop")
    assert replayed is not None
    assert replayed[0] < newest


async def test_names_are_listed_by_prefix_without_what_was_removed(journal: JournalFile) -> None:
    vault = journal.vault
    for name in ("secret/b", "secret/a", "secret%x", "provider/acme/key", "secret/gone"):
        await vault.put(name, "value")
    await vault.remove("secret/gone")
    assert vault.names("secret/") == ("secret/a", "secret/b")
    assert vault.names("secret%") == ("secret%x",)
    assert vault.names("nothing/") == ()


async def test_nothing_of_a_removed_value_is_left_in_the_file(journal: JournalFile, home: Home) -> None:
    await journal.vault.put("secret/shop", "value")
    connection = connect(home.journal, KEYS.database)
    (sealed,) = connection.execute("SELECT sealed FROM secrets").fetchone()
    assert len(sealed) > 16
    await journal.vault.remove("secret/shop")
    assert connection.execute("SELECT name, version, nonce, sealed FROM secrets").fetchall() == [
        ("secret/shop", 1, b"", b"")
    ]
    connection.close()
