"""A whole home in one file under a passphrase, and back.

Layer: storage. The file opens on any machine: it carries the master key, so the passphrase protects everything.

    stream = length of manifest (4 bytes) ‖ manifest (JSON: names and sizes) ‖ the files, one after another

``backup_stream`` encrypts it.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from stead.brain.memory_files import FOLDERS
from stead.config import Home, load_settings
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.storage.archives import file_of, folder_of, listed
from stead.storage.backup_stream import CHUNK_BYTES, Opener, Sealer
from stead.storage.database import Database, connect, sync
from stead.storage.journal import open_journal
from stead.storage.keys import Keys, derive_keys
from stead.storage.keystore import Source, keep
from stead.storage.sealing import require_passphrase

_MANIFEST_LIMIT = 64 * 1024
_STALE_COPY_S = 24 * 3600
_LENGTH = struct.Struct(">I")

NEWEST = "newest"
"""In ``data/backups``: names the newest backup, and was written when it was made."""

_JOURNAL, _MASTER, _SETTINGS, _ARCHIVES = "journal.db", "master", "config.toml", "archives/"


class _Member(msgspec.Struct, frozen=True):
    name: str
    size_bytes: int


class _Manifest(msgspec.Struct, frozen=True):
    made_ms: int
    members: tuple[_Member, ...]


class Restored(NamedTuple):
    """What a restore brought: when the backup was made, its last event, and where an older home was moved ("" none)."""

    made_ms: int
    head: int
    moved_to: str


def backup(home: Home, keys: Keys, passphrase: str, destination: Path) -> int:
    """Write the home's backup; gives its size in bytes. The daemon may be running.

    Args:
        home: to save: its journal as of now, its master key, its settings. Read models are left out.
        keys: the home's.
        passphrase: at least 8 characters; without it nobody opens the file.
        destination: a file that does not exist; it appears only when it is whole, readable by the owner alone.

    Raises:
        InvalidRequest: the passphrase is too short.
        Conflict: the destination exists.
        StorageFault: the journal cannot be read, or the destination not written.
    """
    require_passphrase(passphrase)
    if destination.exists():
        raise Conflict(f"{str(destination)!r} exists; choose another name, or remove it")
    staged = destination.with_name(f".{destination.name}.{secrets.token_hex(4)}.part")
    try:
        with _copy_of_journal(home, keys) as copy:
            parts = {_JOURNAL: copy, **_archives(home, keys, copy)}
            if home.settings.exists():
                parts[_SETTINGS] = home.settings
            size = _pack(staged, passphrase, keys.master, parts)
        staged.replace(destination)
        sync(destination.parent)
        (home.data / "backups" / NEWEST).write_bytes(os.fsencode(destination))
    except OSError as error:
        raise StorageFault(f"{str(destination)!r} cannot be written: {error.strerror}; free space or fix it") from error
    finally:
        staged.unlink(missing_ok=True)
    return size


def restore(
    source: Path, passphrase: str, home: Home, *, key_source: Source = "file", replace: bool = False
) -> Restored:
    """Make a home from a backup. Nothing of the home changes before the whole backup has been checked.

    Args:
        source: the backup.
        passphrase: its own.
        home: without a journal and a key, unless it is to be replaced; its daemon does not run.
        key_source: where the master key is kept from now on; under a passphrase, it is the backup's.
        replace: move the older home's data, key and files of memory aside, into a folder of the home, and go on. Files
            of memory that lie elsewhere are moved into such a folder there.

    Raises:
        NotFound: there is no such file.
        Conflict: the home is not empty, or a daemon serves it.
        WrongKey: the passphrase is wrong, or the file's start was changed.
        StorageFault: the file is no backup, was cut off or changed, or the disk is full.
    """
    if not source.is_file():
        raise NotFound(f"there is no backup {str(source)!r}; give the file that 'stead backup' wrote")
    if (home.journal.exists() or home.key.exists()) and not replace:
        raise Conflict(f"{str(home.root)!r} has a home already; restore into another STEAD_HOME, or say to replace it")
    staged = Home(home.root / f"restoring-{secrets.token_hex(4)}")
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _no_daemon(home):
            for leftover in home.root.glob("restoring-*"):
                shutil.rmtree(leftover)  # of a restore that was killed
            staged.make()
            manifest, keys = _unpack(source, passphrase, staged)
            head = _checked_head(staged, keys)
            keep(staged, keys, key_source, lambda: passphrase)
            stamp = f"replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(2)}"
            _move_files_aside(_files_of(staged), stamp)
            aside = _move_aside(home, stamp)
            _move_in(staged, home)
    except OSError as error:
        raise StorageFault(f"the backup cannot be put into {str(home.root)!r}: {error}; fix that, try again") from error
    finally:
        shutil.rmtree(staged.root, ignore_errors=True)
    return Restored(manifest.made_ms, head, str(aside) if aside else "")


@contextmanager
def _copy_of_journal(home: Home, keys: Keys) -> Iterator[Path]:
    """A consistent copy, encrypted as the journal is, beside it; gone afterwards."""
    folder = home.data / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    for leftover in folder.glob("copy-*.db"):
        if time.time() - leftover.stat().st_mtime > _STALE_COPY_S:
            leftover.unlink()
    if not home.journal.exists():
        raise StorageFault(f"{str(home.root)!r} has no journal to back up; start Stead there first")
    copy = folder / f"copy-{secrets.token_hex(4)}.db"
    database = Database(home.journal, keys.database)
    try:
        database.copy_to(copy)
        yield copy
    finally:
        database.close()
        copy.unlink(missing_ok=True)


def _archives(home: Home, keys: Keys, copy: Path) -> dict[str, Path]:
    """The files of archives that the copy of the journal speaks of."""
    folder = folder_of(home.journal)
    with closing(connect(copy, keys.database)) as connection:
        files = [file_of(folder, archive.id) for archive in listed(connection)]
    return {f"{_ARCHIVES}{file.name}": file for file in files}


def _pack(target: Path, passphrase: str, master: bytes, parts: Mapping[str, Path]) -> int:
    sizes = {name: path.stat().st_size for name, path in parts.items()}
    members = (_Member(_MASTER, len(master)), *(_Member(name, size) for name, size in sizes.items()))
    manifest = msgspec.json.encode(_Manifest(time.time_ns() // 1_000_000, members))
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        sealer = Sealer(file, passphrase)
        sealer.write(_LENGTH.pack(len(manifest)) + manifest + master)
        for name, path in parts.items():
            with path.open("rb") as part:
                for piece in _pieces(sizes[name]):
                    content = part.read(piece)
                    if len(content) < piece:
                        raise StorageFault(f"{str(path)!r} became shorter while it was saved; back up again")
                    sealer.write(content)
        sealer.finish()
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _unpack(source: Path, passphrase: str, home: Home) -> tuple[_Manifest, Keys]:
    with source.open("rb") as file:
        opener = Opener(file, source, passphrase)
        (size,) = _LENGTH.unpack(opener.read(_LENGTH.size))
        if size > _MANIFEST_LIMIT:
            raise StorageFault(f"{str(source)!r} has a list of contents of {size:,} bytes; it was not made by Stead")
        manifest = msgspec.json.decode(opener.read(size), type=_Manifest)
        targets = {_JOURNAL: home.journal, _SETTINGS: home.settings}
        master = b""  # never on this disk in plain, in case it is to be kept otherwise
        for member in manifest.members:
            if member.name == _MASTER:
                master = opener.read(member.size_bytes)
            elif re.fullmatch(_ARCHIVES + r"\d{8}\.stead", member.name):
                folder_of(home.journal).mkdir(mode=0o700, exist_ok=True)
                _write_part(opener, home.data / member.name, member.size_bytes)
            elif member.name in targets:
                _write_part(opener, targets[member.name], member.size_bytes)
            else:
                raise StorageFault(f"{str(source)!r} has a part {member.name!r}; restore it with a newer Stead")
        opener.require_end()
    return manifest, derive_keys(master)


def _write_part(opener: Opener, target: Path, size: int) -> None:
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as part:
        for piece in _pieces(size):
            part.write(opener.read(piece))
        part.flush()
        os.fsync(part.fileno())


def _pieces(size: int) -> Iterator[int]:
    while size > 0:
        yield min(size, CHUNK_BYTES)
        size -= CHUNK_BYTES


def _checked_head(home: Home, keys: Keys) -> int:
    journal = open_journal(home.journal, keys)
    try:
        report = journal.verify_chain()
    finally:
        journal.close()
    if report.faults:
        raise StorageFault(f"the backup's journal does not verify: {report.faults[0]}; take another backup")
    return report.head


def _files_of(home: Home) -> Path | None:
    """The folder of the files of memory, where the settings put it elsewhere."""
    try:
        return home.under(load_settings(home)).memory_folder
    except InvalidRequest:  # the daemon's start says so, and then nothing reads them
        return None


def _move_files_aside(files: Path | None, name: str) -> None:
    """Make room for what the backup remembers: files of a later state would come in as the person's new words."""
    there = [files / folder for folder in FOLDERS.values() if (files / folder).exists()] if files else []
    if files and there:
        (files / name).mkdir(mode=0o700)
        for path in there:
            path.replace(files / name / path.name)


def _move_aside(home: Home, name: str) -> Path | None:
    """Make room, and lose nothing: the folder that the older home's files are in now, if there were any."""
    if home.data.exists() and not any(path.is_file() for path in home.data.rglob("*")):
        shutil.rmtree(home.data)
    parts = (home.data, home.key, home.settings, home.heads, Home(home.root).memory_files)
    occupied = [path for path in parts if path.exists()]
    if not occupied:
        return None
    aside = home.root / name
    aside.mkdir(mode=0o700)
    for path in occupied:
        path.replace(aside / path.name)
    return aside


def _move_in(staged: Home, home: Home) -> None:
    """The key comes last: a journal without its key is refused with the reason, and the restore can be repeated."""
    if staged.settings.exists():
        staged.settings.replace(home.settings)
    staged.data.replace(home.data)
    sync(home.root)
    staged.key.replace(home.key)
    home.make()
    sync(home.root)


@contextmanager
def _no_daemon(home: Home) -> Iterator[None]:
    home.run.mkdir(mode=0o700, exist_ok=True)
    with open(os.open(home.lock, os.O_RDWR | os.O_CREAT, 0o600), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(f"a daemon serves {str(home.root)!r}; run 'stead down' first") from error
        yield
