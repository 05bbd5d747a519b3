"""Checkpoints of folders, and versions of single files, over the store of contents.

Layer: machines. Knows neither sessions nor events. All work is done in threads: giving up a wait gives up a ``take``
after the file that it is at, while everything else comes to its end; nothing is ever half kept or half known.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
import time
from collections.abc import Callable, Sequence

from stead.domain.checkpoints import ABSENT, FileChange, InUse, Progress, Restored, Tree, Version
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.machines import comparing, left_out
from stead.machines.restoring import Restoring
from stead.machines.scanning import PERMISSIONS, Reading, Scan, opened_top, why_not
from stead.machines.workspace import opened_above
from stead.machines.writing import make_folder, regular, replacing, status_of, write
from stead.storage.amending import amend
from stead.storage.contents import NAME_BYTES, ContentStore
from stead.storage.database import Damaged
from stead.storage.forgetting import forget
from stead.storage.intake import Intake, Naming, keeping
from stead.storage.trees import Entry, differences

MOST_FILES = 200_000
_FILE_CLOCK = 5
"""CLOCK_REALTIME_COARSE, which Python has no name for: a file's times are taken from it."""

Stopped = Callable[[], bool]


class FolderCheckpoints:
    """Implements ``domain.checkpoints.Checkpoints`` and ``Versions``. Close it to let go of the store.

    Args:
        store: where everything is kept; it is closed with this.
        most_files: files, links and folders that a folder may have, besides what is left out.
        on_kept: told the name of each tree and content that somebody asked to have kept, before anything can be
            forgotten again; so what is not on record yet can be counted as in use.
    """

    def __init__(
        self,
        store: ContentStore,
        *,
        most_files: int = MOST_FILES,
        on_kept: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._on_kept = on_kept
        self._store = store
        self._most_files = most_files
        self._taking = asyncio.Lock()  # one walk at a time: two would only slow each other down
        self._writing = threading.Lock()  # one that writes into folders: a restore sweeps up what an older one left
        self._stop = threading.Event()
        self._latest: dict[str, tuple[int, bytes]] = {}
        """By folder, when its last checkpoint was over, by the clock that files are stamped with, and its root."""

    def close(self) -> None:
        """Give up what is being taken, wait for the rest, and let go of every file.

        Raises:
            StorageFault: something was still at work after 30 s.
        """
        self._stop.set()
        self._store.close()

    # -- trees of folders -------------------------------------------------------------------------------------------

    async def take(self, directory: str, ignore: Sequence[str], progress: Progress) -> Tree:
        """See ``Checkpoints``."""
        given_up = threading.Event()

        def stopped() -> bool:
            return given_up.is_set() or self._stop.is_set()

        def work() -> Tree:
            rules = left_out.Rules(ignore)
            with self._store.door.together():
                tree = self._take(directory, rules, progress, stopped)
                self._on_kept(tree.root)
                return tree

        async with self._taking:
            try:
                return await asyncio.to_thread(work)
            except asyncio.CancelledError:
                given_up.set()
                raise

    async def differences(
        self, directory: str, ignore: Sequence[str], old: str, new: str = ""
    ) -> tuple[FileChange, ...]:
        """See ``Checkpoints``."""

        def work() -> tuple[FileChange, ...]:
            store = self._store
            with store.door.together():
                before, kept = _name(old), comparing.from_store(store)
                store.tree(before)
                if new:
                    after = _name(new)
                    store.tree(after)
                    return comparing.changes(differences(store.tree, before, store.tree, after), kept, kept)
                naming, rules = Naming(store), left_out.Rules(ignore)
                after = self._scan(naming, directory, rules).run(directory)
                with opened_top(directory) as top:
                    found = differences(store.tree, before, naming.look, after)
                    return comparing.changes(found, kept, comparing.from_folder(top))

        return await asyncio.to_thread(work)

    async def restore(self, directory: str, ignore: Sequence[str], root: str, paths: Sequence[str] = ()) -> Restored:
        """See ``Checkpoints``."""
        wanted = [_plain(path) for path in paths]

        def work() -> Restored:
            rules = left_out.Rules(ignore)
            with self._store.door.together(), self._writing:
                seen = self._store.seen(os.fsencode(directory))
                return Restoring(self._store, seen, rules, wanted).run(directory, _name(root))

        return await asyncio.to_thread(work)

    async def amend(self, root: str, versions: Sequence[Version]) -> str:
        """See ``Checkpoints``."""
        files = {os.fsencode(_plain(version.path)): _entry(version) for version in versions}

        def work() -> str:
            with self._store.door.together():
                amended = amend(self._store, _name(root), files).hex()
                self._on_kept(amended)
                return amended

        return await asyncio.to_thread(work)

    async def forget(self, in_use: Callable[[], InUse]) -> int:
        """See ``Checkpoints``."""

        def named() -> tuple[list[bytes], list[bytes]]:
            used = in_use()
            return [_name(root) for root in used.roots], [_name(name) for name in used.contents if name != ABSENT]

        return await asyncio.to_thread(forget, self._store, named)

    # -- single files -----------------------------------------------------------------------------------------------

    async def keep(self, directory: str, paths: Sequence[str]) -> tuple[Version, ...]:
        """See ``Versions``."""
        plain = [_plain(path) for path in paths]

        def work() -> tuple[Version, ...]:
            with self._store.door.together(), opened_top(directory) as top:
                with keeping(self._store) as intake:
                    versions = tuple(_version(intake, top, path) for path in plain)
                for version in versions:
                    self._on_kept(version.content)
                return versions

        return await asyncio.to_thread(work)

    def held(self, directory: str, path: str, since_ns: int, until_ns: int) -> bytes | None:
        """What a file held at its folder's last checkpoint; see ``landing.Before``. In a thread."""
        taken_ns, at = self._latest.get(directory, (0, b""))
        if not at or not since_ns <= taken_ns <= until_ns:
            return None
        try:
            with self._store.door.together():
                for name in os.fsencode(path).split(b"/"):
                    at = next((entry.ref for entry in self._store.tree(at) if entry.name == name), b"")
                return b"".join(self._store.read(at))
        except (NotFound, Conflict, StorageFault):  # nothing is known, and the two versions wait for the person
            return None

    async def change(self, old: Version, new: Version) -> FileChange:
        """See ``Versions``."""

        def work() -> FileChange:
            with self._store.door.together():
                before, after = self._text(old), self._text(new)
            return comparing.described(left_out.shown(new.path), _entry(old), _entry(new), before, after)

        return await asyncio.to_thread(work)

    async def put_back(self, directory: str, old: Version, expected: Version) -> None:
        """See ``Versions``."""
        path = _plain(old.path)

        def work() -> None:
            with self._store.door.together(), self._writing, opened_top(directory) as top:
                try:
                    self._put_back(top, path, old, expected)
                except OSError as error:
                    raise InvalidRequest(
                        f"{path!r} cannot be put back: {why_not(error)}; mend that, try again"
                    ) from error

        await asyncio.to_thread(work)

    # -- in threads -------------------------------------------------------------------------------------------------

    def _take(self, directory: str, rules: left_out.Rules, progress: Progress, stopped: Stopped) -> Tree:
        began, store, at = time.monotonic(), self._store, os.fsencode(directory)
        last, files = store.last(at)
        with keeping(store, at) as intake:
            scan = self._scan(intake, directory, rules, progress, stopped)
            root = scan.run(directory, files)
        self._latest[directory] = time.clock_gettime_ns(_FILE_CLOCK), root
        changed = _differing(store, last, root)
        if changed or not last:
            store.note_last(at, root, scan.files)
        return Tree(
            root.hex(),
            scan.files,
            scan.size_bytes,
            changed,
            intake.stored_bytes,
            tuple(scan.left_out),
            scan.left_out_count,
            round((time.monotonic() - began) * 1000),
        )

    def _scan(
        self,
        intake: Intake,
        directory: str,
        rules: left_out.Rules,
        progress: Progress = lambda done, known: None,
        stopped: Stopped | None = None,
    ) -> Scan:
        seen = self._store.seen(os.fsencode(directory))
        stopped = stopped or self._stop.is_set
        return Scan(intake, seen, rules, most_files=self._most_files, progress=progress, stopped=stopped)

    def _put_back(self, top: int, path: str, old: Version, expected: Version) -> None:
        changed = Conflict(f"{path!r} is not as it was left any more; look at what changed, nothing was done")
        now = _version(Naming(self._store), top, path)
        if (now.content, now.mode) != (expected.content, expected.mode):
            raise changed
        if old.content == ABSENT and now.content == ABSENT:
            return
        with opened_above(top, path, make=_make_above) as (folder, name):
            raw = os.fsencode(name)
            status = status_of(folder, raw)
            if status is not None and not stat.S_ISREG(status.st_mode):
                raise changed
            if old.content == ABSENT:
                os.unlink(raw, dir_fd=folder)
            else:
                with replacing(folder, raw) as fresh:
                    write(self._store, _name(old.content), old.mode, folder, fresh, status)

    def _text(self, version: Version) -> str | None:
        if version.content == ABSENT:
            return ""
        return comparing.kept_text(self._store, _name(version.content), version.size_bytes)


def _version(intake: Intake, top: int, path: str) -> Version:
    """A file as it is now.

    Raises:
        InvalidRequest: there is one, and it may not be read or is too large to be kept.
    """
    try:
        with opened_above(top, path) as (folder, name), regular(folder, os.fsencode(name)) as file:
            reading = Reading(file)
            content = intake.content(reading.read)
            mode = os.fstat(file).st_mode & PERMISSIONS
    except PermissionError as error:
        raise InvalidRequest(f"{path!r} cannot be kept: {why_not(error)}; mend its mode, or leave it alone") from error
    except OSError:
        return Version(path, ABSENT)
    if reading.too_large:
        raise InvalidRequest(f"{path!r} cannot be kept: {left_out.TOO_LARGE}; leave it alone, or make it smaller")
    return Version(path, content.hex(), mode, reading.size_bytes)


def _make_above(folder: int, name: str) -> None:
    make_folder(folder, os.fsencode(name), 0o755)


def _differing(store: ContentStore, old: bytes, new: bytes) -> int:
    """How many entries differ; all of them when the older tree is no longer whole."""
    try:
        return sum(1 for _ in differences(store.tree, old, store.tree, new))
    except (NotFound, Damaged):
        return sum(1 for _ in differences(store.tree, b"", store.tree, new))


def _entry(version: Version) -> Entry | None:
    if version.content == ABSENT:
        return None
    return Entry(os.fsencode(version.path), "file", version.mode, version.size_bytes, _name(version.content))


def _name(text: str) -> bytes:
    """A name as the contract has it."""
    try:
        name = bytes.fromhex(text)
    except ValueError:
        name = b""
    if len(name) != NAME_BYTES:
        raise NotFound(f"{text!r} names nothing that is kept; a name has {2 * NAME_BYTES} hex digits")
    return name


def _plain(path: str) -> str:
    plain = path.strip("/")
    if path.startswith("/") or "\0" in path or {"", ".", ".."} & set(plain.split("/")):
        raise InvalidRequest(f"{path!r} is no path within the folder; give one like src/main.py")
    return plain
