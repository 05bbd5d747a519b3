"""Where the home's master key is kept: a plain file, the keyring of the operating system, or under a passphrase.

Layer: storage. The key file always exists and says where the master is, so ``key_source`` of the settings matters only
when a home is made. A home that has a journal and no key file is never given a new key.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, cast

import msgspec

from stead.config import Home
from stead.domain.errors import Conflict, InvalidRequest, StorageFault, WrongKey
from stead.storage.database import require_ours, sync
from stead.storage.keys import Keys, derive_keys, from_recovery_key, new_master, recovery_key
from stead.storage.sealing import Argon2id, new_argon2id, require_passphrase, seal, unseal

Source = Literal["file", "keyring", "passphrase"]
SOURCES: tuple[Source, ...] = ("file", "keyring", "passphrase")
AskPassphrase = Callable[[], str]

_KEYRING_SERVICE = "stead"
_KEYRING_TIMEOUT_S = 30.0
_CONTEXT = b"stead key file 1"

_STATEMENTS: dict[Source, str] = {
    "file": (
        "The key is in a plain file that only this account can read. It protects copies of the data folder: backups, "
        "synced folders, a disk image without the key file. It does not protect against the administrator of this "
        "machine, a program that runs as you, or a thief of the whole disk; encrypt the disk against that."
    ),
    "keyring": (
        "The key is in the keyring of the operating system. It protects the data, key file included, on a disk that is "
        "stolen or copied while you are signed out. It does not protect against a program that runs as you while the "
        "keyring is open, and Stead cannot start while it is locked."
    ),
    "passphrase": (
        "The key is encrypted under your passphrase. It protects the data, key file included, from everybody who does "
        "not know the passphrase, as far as that is hard to guess. It does not protect against the administrator or a "
        "program that runs as you while Stead is running, and Stead cannot start by itself after a restart."
    ),
}


class _Plain(msgspec.Struct, frozen=True, tag_field="kept_in", tag="file"):
    master: bytes


class _InKeyring(msgspec.Struct, frozen=True, tag_field="kept_in", tag="keyring"):
    entry: str


class _Wrapped(msgspec.Struct, frozen=True, tag_field="kept_in", tag="passphrase"):
    cost: Argon2id
    nonce: bytes
    sealed: bytes


_KeyFile = _Plain | _InKeyring | _Wrapped
_decoder: msgspec.json.Decoder[_KeyFile] = msgspec.json.Decoder(_KeyFile)


@dataclass(frozen=True)
class OpenedKeys:
    """A home's keys. ``recovery`` is the recovery key to show once, "" unless the home was new."""

    keys: Keys
    source: Source
    recovery: str


def open_keys(home: Home, source: Source, ask_passphrase: AskPassphrase) -> OpenedKeys:
    """The keys of a home; a new home gets new ones, kept as ``source`` says.

    Args:
        home: its folders exist.
        source: for a new home only; an existing key file says itself where its master is.
        ask_passphrase: called when one is needed; may raise.

    Raises:
        StorageFault: the key file is missing, damaged, or others can read it; or the keyring does not answer.
        WrongKey: the passphrase is wrong.
        InvalidRequest: the passphrase is too short, or the ``keyring`` extra is missing.
    """
    if home.key.exists():
        kept = _read(home.key)
        return OpenedKeys(_master(kept, home.key, ask_passphrase), _source_of(kept), "")
    if home.journal.exists() and home.journal.stat().st_size:
        raise StorageFault(
            f"the key file {str(home.key)!r} is missing and {str(home.journal)!r} cannot be read without it; put the "
            "file back, run `stead key recover`, or restore a backup"
        )
    keys = derive_keys(new_master())
    keep(home, keys, source, ask_passphrase)
    return OpenedKeys(keys, source, recovery_key(keys))


def keep(home: Home, keys: Keys, source: Source, ask_passphrase: AskPassphrase, *, replace: bool = False) -> None:
    """Write the key file, durable and for the owner alone.

    Raises:
        Conflict: there is one and it is not to be replaced.
        InvalidRequest, StorageFault: as ``open_keys``.
    """
    if home.key.exists() and not replace:
        raise Conflict(f"{str(home.key)!r} exists; move it away first if it is to be replaced")
    content = msgspec.json.encode(_kept(keys, source, ask_passphrase))
    staged = home.key.with_name(f"{home.key.name}.{os.getpid()}.new")
    staged.unlink(missing_ok=True)
    try:
        with open(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(home.key)
        sync(home.key.parent)
    except OSError as error:
        raise StorageFault(f"{str(home.key)!r} cannot be written: {error.strerror}; free space or fix it") from error
    finally:
        staged.unlink(missing_ok=True)


def restore_keys(home: Home, text: str, source: Source, ask_passphrase: AskPassphrase) -> Keys:
    """Make the key file anew from a recovery key, after checking that it opens the journal.

    Raises:
        InvalidRequest: the recovery key was mistyped.
        WrongKey: it is another home's.
        Conflict: there is a key file.
    """
    keys = from_recovery_key(text)
    require_ours(home.journal, keys.database)
    keep(home, keys, source, ask_passphrase)
    return keys


def source_of(home: Home) -> Source:
    """Where an existing home's master is kept.

    Raises:
        StorageFault: as ``open_keys``.
    """
    return _source_of(_read(home.key))


def statement(source: Source) -> str:
    """What keeping the key there protects against, and what not, in plain words."""
    return _STATEMENTS[source]


def _source_of(kept: _KeyFile) -> Source:
    match kept:
        case _Plain():
            return "file"
        case _InKeyring():
            return "keyring"
        case _Wrapped():
            return "passphrase"


def _read(path: Path) -> _KeyFile:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(64 * 1024)
    except OSError as error:
        raise StorageFault(f"the key file {str(path)!r} cannot be read: {error.strerror}; fix or restore it") from error
    if status.st_uid not in (os.geteuid(), 0):
        raise StorageFault(f"the key file {str(path)!r} belongs to another account; take it back with chown")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        raise StorageFault(
            f"the key file {str(path)!r} is open to other accounts (mode {mode:04o}); run 'chmod 600 {path}', and if "
            "others use this machine, treat the data as read by them"
        )
    try:
        return _decoder.decode(content)
    except msgspec.DecodeError as error:
        raise StorageFault(
            f"the key file {str(path)!r} is damaged; move it away, then run `stead key recover` or restore a backup"
        ) from error


def _master(kept: _KeyFile, path: Path, ask_passphrase: AskPassphrase) -> Keys:
    match kept:
        case _Plain(master=master):
            return derive_keys(master)
        case _InKeyring(entry=entry):
            return from_recovery_key(_from_keyring(entry))
        case _Wrapped(cost=cost, nonce=nonce, sealed=sealed):
            try:
                return derive_keys(unseal(cost.key(ask_passphrase()), nonce, sealed, _CONTEXT))
            except WrongKey:
                raise WrongKey(
                    f"the passphrase does not open {str(path)!r}; try again, or run `stead key recover`"
                ) from None


def _kept(keys: Keys, source: Source, ask_passphrase: AskPassphrase) -> _KeyFile:
    match source:
        case "file":
            return _Plain(keys.master)
        case "keyring":
            entry = f"home-{os.urandom(8).hex()}"
            _into_keyring(entry, recovery_key(keys))
            return _InKeyring(entry)
        case "passphrase":
            passphrase = ask_passphrase()
            require_passphrase(passphrase)
            cost = new_argon2id()
            nonce, sealed = seal(cost.key(passphrase), keys.master, _CONTEXT)
            return _Wrapped(cost, nonce, sealed)


def _into_keyring(entry: str, value: str) -> None:
    keyring = _keyring()
    _answer_of(lambda: keyring.set_password(_KEYRING_SERVICE, entry, value))
    if _from_keyring(entry) != value:
        raise StorageFault("the keyring did not keep what it was given; choose key_source = 'file' or 'passphrase'")


def _from_keyring(entry: str) -> str:
    keyring = _keyring()
    value = _answer_of(lambda: keyring.get_password(_KEYRING_SERVICE, entry))
    if not isinstance(value, str):
        raise StorageFault(
            f"the keyring has no entry {entry!r} of {_KEYRING_SERVICE!r}; sign in as the account that made this home, "
            "or move the key file away and run `stead key recover`"
        )
    return value


class _Keyring(Protocol):
    def get_password(self, service_name: str, username: str) -> str | None: ...

    def set_password(self, service_name: str, username: str, password: str) -> None: ...


def _keyring() -> _Keyring:
    try:
        import keyring
    except ImportError as error:
        raise InvalidRequest(
            "key_source = 'keyring' needs the extra: install 'stead[keyring]', or choose 'file' or 'passphrase'"
        ) from error
    return cast("_Keyring", keyring)


def _answer_of(ask: Callable[[], object]) -> object:
    """Ask the keyring in a thread of its own, because a locked one may wait for a person for ever."""
    answers: list[object] = []

    def work() -> None:
        from keyring.errors import KeyringError

        try:
            answers.append(ask())
        except KeyringError as error:
            answers.append(error)

    thread = threading.Thread(target=work, name="stead-keyring", daemon=True)
    thread.start()
    thread.join(_KEYRING_TIMEOUT_S)
    if not answers:
        why = f"did not answer within {_KEYRING_TIMEOUT_S:.0f} s" if thread.is_alive() else "failed, see the log"
        raise StorageFault(f"the keyring {why}; unlock it and start Stead again")
    if isinstance(answers[0], Exception):
        raise StorageFault(
            f"the keyring refused ({type(answers[0]).__name__}); unlock it and start Stead again, or move the key file "
            "away and run `stead key recover`"
        ) from answers[0]
    return answers[0]
