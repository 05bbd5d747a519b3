"""Where the master key is kept, and what is said when it cannot be had."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stead.config import Home
from stead.domain.errors import Conflict, InvalidRequest, StorageFault, WrongKey
from stead.storage import keystore
from stead.storage.journal import open_journal
from stead.storage.keys import from_recovery_key, recovery_key
from stead.storage.keystore import SOURCES, keep, open_keys, restore_keys, source_of, statement
from tests.storage.drafts import KEYS, OTHER_KEYS

KEYRING = """
import os, pathlib
def _file(service, name): return pathlib.Path(os.environ["FAKE_KEYRING"]) / f"{service}-{name}"
def set_password(service, name, value):
    from keyring.errors import KeyringLocked
    if os.environ.get("FAKE_KEYRING_STATE") == "locked": raise KeyringLocked("locked")
    _file(service, name).write_text(value)
def get_password(service, name):
    from keyring.errors import KeyringLocked
    state = os.environ.get("FAKE_KEYRING_STATE")
    if state == "locked": raise KeyringLocked("locked")
    if state == "asks":
        import threading
        threading.Event().wait()
    return _file(service, name).read_text() if _file(service, name).exists() else None
"""
ERRORS = "class KeyringError(Exception): ...\nclass KeyringLocked(KeyringError): ...\n"


def nobody() -> str:
    raise AssertionError("no passphrase was to be asked for")


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An operating system's keyring, as its library presents it, in a folder."""
    package = tmp_path / "site" / "keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(KEYRING)
    (package / "errors.py").write_text(ERRORS)
    entries = tmp_path / "entries"
    entries.mkdir()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("FAKE_KEYRING", str(entries))
    yield entries
    for name in ("keyring", "keyring.errors"):
        sys.modules.pop(name, None)


def test_a_new_home_gets_a_key_file_for_its_owner_alone_and_shows_its_recovery_key_once(home: Home) -> None:
    made = open_keys(home, "file", nobody)
    again = open_keys(home, "passphrase", nobody)  # what the file says counts, not the setting
    assert home.key.stat().st_mode & 0o777 == 0o600
    assert from_recovery_key(made.recovery) == made.keys == again.keys
    assert (made.source, again.source, again.recovery) == ("file", "file", "")
    assert not list(home.root.glob("key.*"))


def test_a_key_file_that_others_can_read_is_refused_with_the_command_that_mends_it(home: Home) -> None:
    open_keys(home, "file", nobody)
    home.key.chmod(0o640)
    with pytest.raises(StorageFault, match=r"0640.*chmod 600"):
        open_keys(home, "file", nobody)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_file_of_another_account_is_refused(home: Home) -> None:
    open_keys(home, "file", nobody)
    os.chown(home.key, 12345, 12345)
    with pytest.raises(StorageFault, match="another account"):
        open_keys(home, "file", nobody)


def test_a_key_file_behind_a_link_is_not_followed(home: Home, tmp_path: Path) -> None:
    open_keys(home, "file", nobody)
    home.key.rename(tmp_path / "elsewhere")
    home.key.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageFault, match="cannot be read"):
        open_keys(home, "file", nobody)


@pytest.mark.parametrize("content", [b"", b"{", b'{"kept_in":"moon"}', b'{"kept_in":"file","master":"AAAA"}'])
def test_a_damaged_key_file_is_refused(home: Home, content: bytes) -> None:
    home.key.write_bytes(content)
    home.key.chmod(0o600)
    with pytest.raises(StorageFault, match="key"):
        open_keys(home, "file", nobody)


def test_a_journal_without_its_key_file_gets_no_new_key(home: Home) -> None:
    open_journal(home.journal, KEYS).close()
    with pytest.raises(StorageFault, match=r"missing.*key recover"):
        open_keys(home, "file", nobody)
    assert not home.key.exists()


def test_a_passphrase_opens_what_it_closed_and_no_other_does(home: Home) -> None:
    made = open_keys(home, "passphrase", lambda: "six quiet otters")
    assert made.keys.master not in home.key.read_bytes()
    assert open_keys(home, "file", lambda: "six quiet otters").keys == made.keys
    with pytest.raises(WrongKey, match="passphrase"):
        open_keys(home, "file", lambda: "six quiet otter")


def test_a_short_passphrase_is_refused_before_anything_is_written(home: Home) -> None:
    with pytest.raises(InvalidRequest, match="at least 8"):
        open_keys(home, "passphrase", lambda: "seven77")
    assert not home.key.exists()


def test_a_forged_passphrase_cost_does_not_exhaust_the_machine(home: Home) -> None:
    open_keys(home, "passphrase", lambda: "six quiet otters")
    home.key.write_bytes(home.key.read_bytes().replace(b"65536", b"99999999"))
    with pytest.raises(StorageFault, match="out of range"):
        open_keys(home, "file", lambda: "six quiet otters")


def test_the_keyring_keeps_the_master_out_of_the_home(home: Home, keyring: Path) -> None:
    made = open_keys(home, "keyring", nobody)
    assert open_keys(home, "file", nobody) == keystore.OpenedKeys(made.keys, "keyring", "")
    assert source_of(home) == "keyring"
    next(keyring.iterdir()).unlink()
    with pytest.raises(StorageFault, match="no entry"):
        open_keys(home, "file", nobody)


def test_a_locked_keyring_says_what_to_do(home: Home, keyring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_keys(home, "keyring", nobody)
    monkeypatch.setenv("FAKE_KEYRING_STATE", "locked")
    with pytest.raises(StorageFault, match=r"KeyringLocked.*unlock it"):
        open_keys(home, "file", nobody)


def test_a_keyring_that_waits_for_a_person_is_not_waited_for(
    home: Home, keyring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_keys(home, "keyring", nobody)
    monkeypatch.setenv("FAKE_KEYRING_STATE", "asks")
    monkeypatch.setattr(keystore, "_KEYRING_TIMEOUT_S", 0.2)
    with pytest.raises(StorageFault, match=r"did not answer within .* unlock it"):
        open_keys(home, "file", nobody)


def test_without_the_extra_the_keyring_is_refused_with_its_name(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(InvalidRequest, match=r"stead\[keyring\]"):
        open_keys(home, "keyring", nobody)
    assert not home.key.exists()


def test_a_recovery_key_makes_the_key_file_anew_if_it_opens_the_journal(home: Home) -> None:
    open_journal(home.journal, KEYS).close()
    with pytest.raises(WrongKey, match="does not open"):
        restore_keys(home, recovery_key(OTHER_KEYS), "file", nobody)
    assert not home.key.exists()
    assert restore_keys(home, recovery_key(KEYS), "file", nobody) == KEYS
    assert open_keys(home, "file", nobody).keys == KEYS
    with pytest.raises(Conflict, match="exists"):
        restore_keys(home, recovery_key(KEYS), "file", nobody)


def test_a_key_moves_from_one_place_to_another(home: Home) -> None:
    keys = open_keys(home, "file", nobody).keys
    keep(home, keys, "passphrase", lambda: "six quiet otters", replace=True)
    assert source_of(home) == "passphrase"
    assert open_keys(home, "file", lambda: "six quiet otters").keys == keys


@pytest.mark.parametrize("source", SOURCES)
def test_each_place_says_what_it_protects_against_and_what_not(source: keystore.Source) -> None:
    assert "protects" in statement(source)
    assert "does not protect" in statement(source)
