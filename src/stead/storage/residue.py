"""What a holder of the home's keys would find in its files: every page of every database, freed ones included.

Layer: storage. It opens no database. A statement shows rows; what was deleted and not overwritten stands in no row, so
each page is decrypted by itself, as SQLCipher 4 lays it out, in the file and in its write-ahead log:

    page = encrypted content ‖ 16 bytes initialisation vector ‖ 64 bytes HMAC; AES-256-CBC
    the first page begins with 16 bytes of salt in the clear
    log  = 32 bytes, then for each frame 24 bytes and a page

A value that is longer than a page goes on in others, and words may stand across the edge of two: so a page is looked at
together with the end of the one before it, which is where a value that was written at once goes on most of the time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from stead.config import Home
from stead.domain.forgetting import Found, Touches
from stead.storage.contents import index_key
from stead.storage.database import file_salt
from stead.storage.keys import Keys

PAGE_BYTES = 4096
BLOCK_BYTES = 1 << 20
EDGE_BYTES = 1 << 12
"""Of what was read before, looked at again with what comes after it."""
_SALT_BYTES, _IV_BYTES, _RESERVE_BYTES = 16, 16, 80
_LOG_HEAD_BYTES, _FRAME_HEAD_BYTES, _POINTER_BYTES = 32, 24, 4
_SHARED = (".db", ".db-wal", ".db-shm")
_OPEN: dict[tuple[int, int], int] = {}
"""Descriptors by device and inode; see ``_kept_open``."""
_PACKS = "packs"
_PEOPLE = "/people"
_CONTENTS = "data/contents/"
DROPPED = "they go with the sessions that keep them: `stead session delete`"


class Residue:
    """Implements ``domain.forgetting.Files``.

    Args:
        home: see there.
        keys: of its databases.
    """

    def __init__(self, home: Home, keys: Keys) -> None:
        self._root = home.root
        self._keys = {file_salt(key): key for key in (keys.database, keys.views, index_key(keys.checkpoints))}

    def search(self, touches: Touches, seconds: float) -> Found:
        """See ``domain.forgetting.Files``: every file, decrypted where it is a database of the home's."""
        deadline = time.monotonic() + seconds
        scanned: dict[str, int] = {}
        left: list[str] = []
        databases: list[str] = []
        backups: list[str] = []
        skipped: list[str] = []
        for path in self._files(self._root):
            name = _name(path.relative_to(self._root).as_posix())
            try:
                has = self._has(path, touches, deadline)
            except FileNotFoundError:
                continue  # it went meanwhile
            except OSError as error:
                skipped.append(f"{name}: {error.strerror}")
                continue
            if has is None:
                skipped.append(f"{name}: not searched in time")
                continue
            scanned[name] = scanned.get(name, 0) + 1
            if has and (kept := _kept(path, name)):
                backups.append(kept)
            elif has and name.endswith((".db", ".db-wal")) and not name.startswith(_CONTENTS):
                databases.append(name)
            elif has:
                left.append(_told(name))
            elif name.endswith(_PEOPLE) and touches(path.stem.encode()):
                left.append(f"{name}: the name of a file has the words; remove it there")
        counted = tuple(f"{name}: {count} files" if name.endswith(_PEOPLE) else name for name, count in scanned.items())
        return Found(
            counted,
            tuple(dict.fromkeys(left)),
            tuple(databases),
            touches(_layout()),
            tuple(backups),
            tuple(skipped),
        )

    def strike(self, touches: Touches, clean: Callable[[str], str]) -> None:
        """See ``domain.forgetting.Files``. A log is written over where it stands, since the daemon has it open."""
        for path in self._files(self._root / "logs"):
            with contextlib.suppress(OSError), path.open("r+b") as log:  # the search that follows names it
                old = log.read()
                if not touches(old):
                    continue
                new = clean(old.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                new += log.read()  # what came meanwhile
                log.seek(0)
                log.write(new)
                log.truncate()

    def _files(self, root: Path) -> Iterator[Path]:
        """Small ones first, so that one that is huge leaves least out; sealed contents are their store's business."""
        found = []
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != _PACKS]
            for name in names:
                path = Path(folder, name)
                try:
                    status = path.lstat()
                except FileNotFoundError:
                    continue
                if stat.S_ISREG(status.st_mode):
                    found.append((status.st_size, path))
        return iter([path for _, path in sorted(found)])

    def _has(self, path: Path, touches: Touches, deadline: float) -> bool | None:
        """Whether the file has the words; None when the time was up."""
        before = b""
        for block in self._blocks(path):
            if time.monotonic() > deadline:
                return None
            if touches(before + block):
                return True
            before = block[-EDGE_BYTES:]
        return False

    def _blocks(self, path: Path) -> Iterator[bytes]:
        main = path.with_name(path.name.removesuffix("-wal"))
        key = self._keys.get(_start(main))
        if key is not None:
            return _joined(pages(path, key))
        return _raw(path)


def pages(path: Path, key: bytes) -> Iterator[bytes]:
    """The content of every page that stands in a file, as it was before it was encrypted."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = algorithms.AES(key)
    for page in _stored(path, file_salt(key)):
        end = len(page) - _RESERVE_BYTES
        decryptor = Cipher(cipher, modes.CBC(page[end : end + _IV_BYTES])).decryptor()
        yield decryptor.update(page[:end])


def _stored(path: Path, salt: bytes) -> Iterator[bytes]:
    """Every page without what stands in the clear before it; a last one that is cut off is none."""
    in_log = path.name.endswith("-wal")
    at = _LOG_HEAD_BYTES if in_log else 0
    file = _kept_open(path)
    while True:
        at += _FRAME_HEAD_BYTES if in_log else 0
        page = os.pread(file, PAGE_BYTES, at)
        if len(page) < PAGE_BYTES:
            return
        at += PAGE_BYTES
        yield page.removeprefix(salt)


def _joined(content: Iterator[bytes]) -> Iterator[bytes]:
    """Pages in larger pieces, without the number of the next one with which those of a long value begin."""
    block: list[bytes] = []
    size = 0
    for page in content:
        block.append(page[_POINTER_BYTES:])
        size += len(page)
        if size >= BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def _kept_open(path: Path) -> int:
    """A descriptor of a database, or of what lies beside it, that is never closed while the file is there.

    Whoever closes a file lets go of every lock that the process has on it, the library's own included; another process
    would then take the database for one that nobody uses.
    """
    for key, file in list(_OPEN.items()):
        if os.fstat(file).st_nlink == 0:
            os.close(_OPEN.pop(key))
    status = path.stat()
    key = status.st_dev, status.st_ino
    if key not in _OPEN:
        _OPEN[key] = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    return _OPEN[key]


def _raw(path: Path) -> Iterator[bytes]:
    if path.name.endswith(_SHARED):
        at, file = 0, _kept_open(path)
        while block := os.pread(file, BLOCK_BYTES, at):
            at += len(block)
            yield block
        return
    with path.open("rb") as opened:
        while block := opened.read(BLOCK_BYTES):
            yield block


def _start(path: Path) -> bytes:
    try:
        if path.name.endswith(_SHARED):
            return os.pread(_kept_open(path), _SALT_BYTES, 0)
        with path.open("rb") as file:
            return file.read(_SALT_BYTES)
    except OSError:
        return b""


def _name(name: str) -> str:
    """How a receipt names a file: one that is named after somebody by its folder."""
    folder, _, _ = name.rpartition("/")
    return folder if f"/{folder}".endswith(_PEOPLE) else name


@functools.cache
def _layout() -> bytes:
    """The statements by which the home's databases are laid out; they stand in the databases too."""
    return b"".join(path.read_bytes() for path in sorted(Path(__file__).parents[1].rglob("*.sql")))


def _kept(path: Path, name: str) -> str:
    """What is said of a copy that was made before; "" for a file that is in use."""
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(path.stat().st_mtime))
    if name.startswith("data/backups/"):
        return f"{name}, made {made} before an upgrade; kept until the next upgrade, or until you remove it"
    if name.startswith("replaced-"):
        return f"{name}, made {made} or earlier; of a home that a backup replaced, kept until you remove it"
    return ""


def _told(name: str) -> str:
    if name.startswith(_CONTENTS):
        return f"{name}: names of your own files, as checkpoints have them; {DROPPED}"
    if name.startswith("logs/"):
        return f"{name}: a log; remove it, and report that words of yours were in it"
    return f"{name}: a file that Stead does not write words to; look into it, and remove it if it is not needed"
