"""Folders for checkpoints: made at random, changed at random, and digested independently of the product."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stead.config import Home
from stead.machines.checkpoints import FolderCheckpoints
from stead.storage.contents import ContentStore

KEY = bytes(range(32))
NAMES = [
    "a", "b", "notes.md", "main.py", "ünï", " leading", "-rf", "a b", "new\nline", "esc\x1b[31m", "*", "\\", "'\"",
    "x" * 255, os.fsdecode(b"\xff\xfe"), os.fsdecode(b"caf\xe9"), "\u202eevil", ".hidden", "c:", "a\\nb",
]  # fmt: skip


def quiet(_done: int, _known: int) -> None:
    """Progress that nobody looks at."""


@contextmanager
def opened_checkpoints(store: Path, most_files: int = 200_000) -> Iterator[FolderCheckpoints]:
    home = Home(store.parent / f"{store.name}-home")
    home.make()
    checkpoints = FolderCheckpoints(ContentStore(store, KEY), most_files=most_files)
    try:
        yield checkpoints
    finally:
        checkpoints.close()


def digest(folder: Path) -> str:
    """Of names, kinds, modes, link targets and contents."""
    whole = hashlib.sha256()
    for line in sorted(_lines(os.fsencode(folder), b"")):
        whole.update(line)
    return whole.hexdigest()


def _lines(folder: bytes, above: bytes) -> Iterator[bytes]:
    for name in os.listdir(folder):
        full, path = os.path.join(folder, name), above + b"/" + name
        status = os.lstat(full)
        mode = b"%o" % (status.st_mode & 0o777)
        if stat.S_ISLNK(status.st_mode):
            yield b"link\0" + path + b"\0" + os.readlink(full)
        elif stat.S_ISDIR(status.st_mode):
            yield b"folder\0" + path + b"\0" + mode
            yield from _lines(full, path)
        else:
            with open(full, "rb") as file:
                yield b"file\0" + path + b"\0" + mode + b"\0" + hashlib.sha256(file.read()).digest()


class Gardener:
    """Changes a folder at random.

    Args:
        folder: that is changed.
        chance: where the randomness comes from.
    """

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance

    def change(self) -> str:
        """Do one thing; says which."""
        name = self.chance.choice(
            [
                "write",
                "write",
                "rewrite",
                "rewrite",
                "append",
                "delete",
                "rename",
                "mode",
                "link",
                "fold",
                "kind",
                "big",
            ]
        )
        getattr(self, "_" + name)()
        return name

    def _write(self) -> None:
        path = self._place()
        if not os.path.lexists(path):
            path.write_bytes(self._content())

    def _rewrite(self) -> None:
        """As many bytes as before, and the old time put back: only a change's own time tells."""
        if path := self._file():
            status = path.stat()
            path.write_bytes(self.chance.randbytes(status.st_size))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _append(self) -> None:
        if path := self._file():
            with path.open("ab") as file:
                file.write(self._content())

    def _delete(self) -> None:
        if path := self._any():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _rename(self) -> None:
        path, target = self._any(), self._place()
        if path and not os.path.lexists(target) and path not in target.parents:
            path.rename(target)

    def _mode(self) -> None:
        if (path := self._any()) and not path.is_symlink():
            folder = path.is_dir()
            path.chmod(self.chance.choice([0o700, 0o755, 0o775] if folder else [0o600, 0o644, 0o755, 0o444, 0o666]))

    def _link(self) -> None:
        path = self._place()
        if not os.path.lexists(path):
            path.symlink_to(self.chance.choice(["a", ".", "..", "/etc/passwd", "nowhere", path.name, "b/../a"]))

    def _fold(self) -> None:
        path = self._place()
        if not os.path.lexists(path):
            path.mkdir()

    def _kind(self) -> None:
        """Something else under the same name."""
        if path := self._any():
            folder = path.is_dir() and not path.is_symlink()
            shutil.rmtree(path) if folder else path.unlink()
            if folder:
                path.write_bytes(self._content())
            elif self.chance.random() < 0.5:
                path.mkdir()
                (path / "inside").write_bytes(self._content())
            else:
                path.symlink_to("elsewhere")

    def _big(self) -> None:
        path = self._place()
        if not os.path.lexists(path):
            path.write_bytes(self.chance.randbytes(self.chance.choice([32 << 10, (32 << 10) + 1, 700_000])))

    def _content(self) -> bytes:
        return self.chance.choice([b"", b"word\n" * self.chance.randrange(50), self.chance.randbytes(300)])

    def _place(self) -> Path:
        return self.chance.choice(self._folders()) / self.chance.choice(NAMES)

    def _folders(self) -> list[Path]:
        return [Path(path) for path, _, _ in sorted(os.walk(self.folder)) if path.count("/") < 12]

    def _any(self) -> Path | None:
        found = [Path(path) / name for path, folders, files in sorted(os.walk(self.folder)) for name in folders + files]
        return self.chance.choice(sorted(found)) if found else None

    def _file(self) -> Path | None:
        found = [Path(path) / name for path, _, files in sorted(os.walk(self.folder)) for name in files]
        found = [path for path in found if not path.is_symlink()]
        return self.chance.choice(sorted(found)) if found else None
