"""Which folders checkpoints leave out, decided once: as a folder is when Stead first works in it.

Layer: machines. Folders that tools fill anew (packages, caches) are too large to be kept each time. But whoever makes
such a folder could hide in it, and a machine can make any. So it counts only where it was before any machine of
Stead's could write: that is looked up once, before the first machine starts or the first checkpoint is taken, written
down in Stead's home, and holds for every later session. What comes later is kept like everything else.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain.errors import StorageFault
from stead.machines.changes import opened
from stead.machines.left_out import HISTORY, REMADE, is_cache
from stead.machines.protected import Found, walk
from stead.machines.workspace import opened_workspace


class _Look(msgspec.Struct, frozen=True):
    """Paths of what is left out, relative to the directory."""

    directory: str
    folders: tuple[str, ...]


class FirstLooks:
    """What was found in each folder. Every method blocks.

    Args:
        home: Stead's own.
    """

    def __init__(self, home: Home) -> None:
        self._looks = home.root / "left_out"

    def left_out(self, directory: str) -> frozenset[str]:
        """Folders that are left out, by their paths in it; looks now if nobody did.

        Args:
            directory: absolute real path.

        Raises:
            OSError: it cannot be opened.
            StorageFault: what was written down cannot be read.
        """
        path = self._looks / f"{hashlib.sha256(os.fsencode(directory)).hexdigest()}.json"
        if not path.exists():
            self._looks.mkdir(mode=0o700, exist_ok=True)
            fresh = self._looks / f".{secrets.token_hex(8)}.new"
            fresh.write_bytes(msgspec.json.encode(self._look(directory)))
            try:
                os.link(fresh, path)
            except FileExistsError:
                pass  # somebody else was first, and a machine may be at work since
            finally:
                fresh.unlink()
        return frozenset(_read(path).folders)

    def _look(self, directory: str) -> _Look:
        """What is there; in folders that overlap with one that was worked in, only what was there before that."""
        known = [_read(path) for path in self._looks.glob("*.json")]
        found = [
            path
            for path in _present(directory)
            if all(
                not f"{directory}/{path}".startswith(f"{look.directory}/")
                or f"{directory}/{path}".removeprefix(f"{look.directory}/") in look.folders
                for look in known
            )
        ]
        return _Look(directory, tuple(found))


def _present(directory: str) -> list[str]:
    found = set[str]()

    def entered(path: str, name: str) -> bool:
        return name != HISTORY and path not in found

    with opened_workspace(directory) as top:
        for folder, above, entries in walk(top, "", Found(), entered):
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and (entry.name in REMADE or _is_tagged(folder, entry.name)):
                    found.add(above + entry.name)
    return sorted(path for path in found if path.isprintable())


def _is_tagged(above: int, name: str) -> bool:
    try:
        with opened(name, above) as folder:
            return is_cache(folder)
    except OSError:
        return False


def _read(path: Path) -> _Look:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Look)
    except (OSError, msgspec.MsgspecError) as error:
        raise StorageFault(
            f"{str(path)!r}, which says what checkpoints leave out, cannot be read: {error}; remove it, and that is "
            "decided anew"
        ) from error
