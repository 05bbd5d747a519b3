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

import errno
import functools
import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from stead.config import Home
from stead.domain.forgetting import Found, Touches
from stead.storage.contents import index_key
from stead.storage.database import file_salt
from stead.storage.keys import Keys
from stead.storage.packing import packed_in

PAGE_BYTES = 4096
BLOCK_BYTES = 1 << 20
EDGE_BYTES = 1 << 12
"""Of what was read before, looked at again with what comes after it."""
_SALT_BYTES, _IV_BYTES, _RESERVE_BYTES = 16, 16, 80
_LOG_HEAD_BYTES, _FRAME_HEAD_BYTES, _POINTER_BYTES = 32, 24, 4
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
        self._journal = home.journal
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
            with suppress(OSError), path.open("r+b") as log:  # the search that follows names it
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
            if touches(before + block) or touches(packed_in(before + block)):
                return True
            before = block[-EDGE_BYTES:]
        return False

    def _blocks(self, path: Path) -> Iterator[bytes]:
        key = None
        with suppress(FileNotFoundError), self._opened(path.with_name(path.name.removesuffix("-wal"))) as main:
            key = self._keys.get(main.read(_SALT_BYTES))
        with self._opened(path) as file:
            if key is None:
                while block := file.read(BLOCK_BYTES):
                    yield block
            else:
                yield from _joined(pages(file, key, in_log=path.name.endswith("-wal")))

    @contextmanager
    def _opened(self, path: Path) -> Iterator[BinaryIO]:
        """A file to be read; the journal's own are opened by another process.

        Whoever closes a file lets go of every lock that its process has on it, the library's own included. Another
        process that opens the journal, as `stead memory verify` does, would then take itself for the last one, and
        remove the log that the daemon still writes to.
        """
        if not path.name.startswith(self._journal.name) or path.parent != self._journal.parent:
            with path.open("rb") as file:
                yield file
            return
        with subprocess.Popen(
            ["cat", "--", str(path)],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as reader:
            assert reader.stdout
            yield cast("BinaryIO", reader.stdout)
            if not reader.stdout.read(1) and reader.wait():
                raise FileNotFoundError if not path.exists() else OSError(errno.EIO, "it could not be read")


def pages(file: BinaryIO, key: bytes, *, in_log: bool) -> Iterator[bytes]:
    """The content of every page that stands in a file, as it was before it was encrypted; a cut-off one is none.

    Args:
        file: a database, or its write-ahead log, from its start.
        key: 32 bytes.
        in_log: see there.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher, salt = algorithms.AES(key), file_salt(key)
    file.read(_LOG_HEAD_BYTES if in_log else 0)
    while True:
        file.read(_FRAME_HEAD_BYTES if in_log else 0)
        page = file.read(PAGE_BYTES)
        if len(page) < PAGE_BYTES:
            return
        page = page.removeprefix(salt)
        end = len(page) - _RESERVE_BYTES
        decryptor = Cipher(cipher, modes.CBC(page[end : end + _IV_BYTES])).decryptor()
        yield decryptor.update(page[:end])


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
