"""Checkpoints of folders, and versions of single files, over the store of contents.

Layer: machines. Knows neither sessions nor events. All work is done in threads: giving up a wait gives up a ``take``
after the file that it is at, while everything else comes to its end; nothing is ever half kept or half known.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from typing import TypeVar

from stead.domain.checkpoints import ABSENT, FileChange, InUse, Progress, Restored, Tree, Version
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.machines import comparing, left_out
from stead.machines.layers import side
from stead.machines.restoring import Restoring, make_folder, place
from stead.machines.scanning import NotKept, Scan, read_file
from stead.machines.workspace import locked_workspace, opened_above, opened_workspace
from stead.storage.amending import amend
from stead.storage.contents import NAME_BYTES, ContentStore
from stead.storage.forgetting import forget
from stead.storage.intake import Intake, Naming, keeping
from stead.storage.trees import Entry, Look, differences

MOST_FILES = 200_000
_FILE_CLOCK = 5
"""CLOCK_REALTIME_COARSE, which Python has no name for: a file's times are taken from it."""

Stopped = Callable[[], bool]
T = TypeVar("T")


class FolderCheckpoints:
    """Implements ``domain.checkpoints.Checkpoints`` and ``Versions``. ``close`` releases the store.

    Args:
        store: where everything is kept; it is closed with this.
        most_files: files, links and folders that a folder may have, besides what is left out.
        on_kept: called with the name of each tree and content that was asked for, before anything can be forgotten
            again; so what is not on record yet can be counted as in use.
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
        self._stop = threading.Event()
        self._latest: dict[str, tuple[int, bytes]] = {}
        """By folder, when its last checkpoint was over, by the clock that files are stamped with, and its root."""

    def close(self) -> None:
        """Abandon the checkpoint being taken, wait for other work, and close every file.

        Raises:
            StorageFault: something was still at work after 30 s.
        """
        self._stop.set()
        self._store.close()

    # -- trees of folders -------------------------------------------------------------------------------------------

    async def take(self, directory: str, ignore: Sequence[str], progress: Progress) -> Tree:
        """See ``Checkpoints``."""
        given_up = threading.Event()

        def work() -> Tree:
            rules = left_out.Rules(ignore)
            tree = self._take(directory, rules, progress, lambda: given_up.is_set() or self._stop.is_set())
            self._on_kept(tree.root)
            return tree

        async with self._taking:
            try:
                return await self._do(work)
            except asyncio.CancelledError:
                given_up.set()
                raise

    async def differences(
        self, directory: str, ignore: Sequence[str], old: str, new: str = ""
    ) -> tuple[FileChange, ...]:
        """See ``Checkpoints``."""

        def work() -> tuple[FileChange, ...]:
            store, before = self._store, _name(old)
            kept = comparing.from_store(store)
            store.tree(before)
            if new:
                after = _name(new)
                store.tree(after)
                return comparing.changes(differences(store.tree, before, store.tree, after), kept, kept)
            with _opened(directory) as top:
                look, after = self._now(directory, top, left_out.Rules(ignore))
                found = differences(store.tree, before, look, after)
                return comparing.changes(found, kept, comparing.from_folder(top))

        return await self._do(work)

    async def restore(
        self, directory: str, ignore: Sequence[str], root: str, paths: Sequence[str] = (), part: str = ""
    ) -> Restored:
        """See ``Checkpoints``."""
        if part:
            return await self._revert(directory, root, _plain(*paths), part)
        wanted = [left_out.shown(_plain(path)) for path in paths]

        def work() -> Restored:
            store, before = self._store, _name(root)
            store.tree(before)
            rules = left_out.Rules(ignore, unfinished=True)
            with _opened(directory, locked_workspace) as top:
                restoring = Restoring(store, top, wanted)
                look, now = self._now(directory, top, rules)
                for path in wanted:
                    if not any(_has(*tree, path.split("/")) for tree in ((store.tree, before), (look, now))):
                        raise NotFound(f"there is no {path!r}, neither in the checkpoint nor in the folder")
                return restoring.run(differences(store.tree, before, look, now, damaged=restoring.fail))

        return await self._do(work)

    async def amend(self, root: str, versions: Sequence[Version]) -> str:
        """See ``Checkpoints``."""
        files = {os.fsencode(_plain(version.path)): _entry(version) for version in versions}

        def work() -> str:
            amended = amend(self._store, _name(root), files).hex()
            self._on_kept(amended)
            return amended

        return await self._do(work)

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
            with _opened(directory) as top, keeping(self._store) as intake:
                versions = tuple(_version(intake, top, path) for path in plain)
            for version in versions:
                self._on_kept(version.content)
            return versions

        return await self._do(work)

    def held(self, directory: str, path: str, since_ns: int, until_ns: int) -> bytes | None:
        """What a file held at its folder's last checkpoint; see ``landing.Before``. In a thread."""
        taken_ns, at = self._latest.get(directory, (0, b""))
        if not at or not since_ns <= taken_ns <= until_ns:
            return None
        try:
            with self._store.lock.shared():
                entry = self._at(at, path)
                return b"".join(self._store.read(entry.ref)) if entry else None
        except (NotFound, Conflict, StorageFault):  # nothing is known, and the two versions wait for the person
            return None

    async def change(self, old: Version, new: Version) -> FileChange:
        """See ``Versions``."""
        kept = comparing.from_store(self._store)
        return await self._do(
            lambda: comparing.change(os.fsencode(new.path), _entry(old), _entry(new), kept, kept, diff=True)
        )

    async def put_back(self, directory: str, old: Version, expected: Version) -> None:
        """See ``Versions``."""
        path = _plain(old.path)

        def work() -> None:
            with _opened(directory, locked_workspace) as top:
                try:
                    self._put_back(top, path, old, expected)
                except OSError as error:
                    why = left_out.why_not(error)
                    raise InvalidRequest(f"{path!r} cannot be put back: {why}; fix that, try again") from error

        await self._do(work)

    # -- in threads -------------------------------------------------------------------------------------------------

    async def _do(self, work: Callable[[], T]) -> T:
        """Do it in a thread, while nothing is forgotten."""

        def at_it() -> T:
            with self._store.lock.shared():
                return work()

        return await asyncio.to_thread(at_it)

    def _take(self, directory: str, rules: left_out.Rules, progress: Progress, stopped: Stopped) -> Tree:
        began, store, at = time.monotonic(), self._store, os.fsencode(directory)
        last, files = store.last(at)
        with _opened(directory) as top, keeping(store, at) as intake:
            scan = Scan(directory, intake, store.seen(at), rules, self._most_files, stopped, progress)
            root = scan.run(top, files)
        self._latest[directory] = time.clock_gettime_ns(_FILE_CLOCK), root
        if root != last:
            store.note_last(at, root, scan.files)
        # What cannot be read of the older tree is not counted.
        found = differences(store.tree, last, store.tree, root, damaged=lambda _path, _damage: None)
        return Tree(
            root.hex(),
            scan.files,
            scan.size_bytes,
            sum(1 for _ in found),
            intake.stored_bytes,
            tuple(scan.left_out),
            scan.left_out_count,
            round((time.monotonic() - began) * 1000),
        )

    async def _revert(self, directory: str, root: str, path: str, part: str) -> Restored:
        def work() -> Restored:
            self._store.tree(_name(root))
            with _opened(directory, locked_workspace) as top, keeping(self._store) as intake:
                now, entry = _version(intake, top, path), self._at(_name(root), path)
                before, after = comparing.from_store(self._store), comparing.from_folder(top)
                old = Version(path, ABSENT) if entry is None else _kept(path, entry)
                if part != comparing.change(os.fsencode(path), entry, _entry(now), before, after, diff=True).diff:
                    old = _without(intake, entry, now, part, before, after)
                intake.flush()
                self._put_back(top, path, old, now)
            return Restored(1, (path,))

        return await self._do(work)

    def _at(self, root: bytes, path: str) -> Entry | None:
        """What a tree has at a path."""
        entry, at = None, root
        for name in os.fsencode(path).split(b"/"):
            if entry is not None and entry.kind != "folder":
                return None
            entry = next((entry for entry in self._store.tree(at) if entry.name == name), None)
            if entry is None:
                return None
            at = entry.ref
        return entry

    def _now(self, directory: str, top: int, rules: left_out.Rules) -> tuple[Look, bytes]:
        """The tree of a folder as it is now, without storing it."""
        naming, seen = Naming(self._store), self._store.seen(os.fsencode(directory))
        scan = Scan(directory, naming, seen, rules, self._most_files, stopped=self._stop.is_set)
        return naming.look, scan.run(top)

    def _put_back(self, top: int, path: str, old: Version, expected: Version) -> None:
        changed = Conflict(f"{path!r} is not as it was left any more; look at what changed, nothing was done")
        now = _version(Naming(self._store), top, path)
        if (now.content, now.mode) != (expected.content, expected.mode):
            raise changed
        if old.content == ABSENT and now.content == ABSENT:
            return
        with opened_above(top, path, make=make_folder) as (folder, name):
            there, target = side(folder, name), _entry(old)
            if there is not None and there.what != "file":
                raise changed
            if target is None:
                os.unlink(name, dir_fd=folder)
            else:
                place(self._store, target, folder, name, there)


@contextmanager
def _opened(directory: str, opening: Callable[[str], AbstractContextManager[int]] = opened_workspace) -> Iterator[int]:
    """A descriptor of the folder itself.

    Raises:
        InvalidRequest: it is not there, or may not be read.
    """
    try:
        with opening(directory) as top:
            yield top
    except OSError as error:
        raise InvalidRequest(
            f"{directory!r} is no folder that can be read ({error.strerror}); put it back or fix its mode"
        ) from error


def _has(look: Look, root: bytes, parts: Sequence[str]) -> bool:
    """Whether a tree has a path, given as it is shown."""
    found = [entry for entry in look(root) if left_out.shown(os.fsdecode(entry.name)) == parts[0]]
    if len(parts) == 1:
        return bool(found)
    return any(entry.kind == "folder" and _has(look, entry.ref, parts[1:]) for entry in found)


def _version(intake: Intake, top: int, path: str) -> Version:
    """A file as it is now.

    Raises:
        InvalidRequest: there is one, and it may not be read or is too large to be kept.
    """
    try:
        with opened_above(top, path) as (folder, name):
            entry, _ = read_file(intake, folder, os.fsencode(name))
    except (NotKept, PermissionError) as error:
        why = left_out.why_not(error) if isinstance(error, OSError) else error
        raise InvalidRequest(f"{path!r} cannot be kept: {why}; fix that, or leave it alone") from error
    except OSError:
        return Version(path, ABSENT)
    return Version(path, entry.ref.hex(), entry.mode, entry.size)


def _kept(path: str, entry: Entry) -> Version:
    if entry.kind != "file":
        raise Conflict(f"{path!r} was a {entry.kind}; restore it whole")
    return Version(path, entry.ref.hex(), entry.mode, entry.size)


def _without(
    intake: Intake, entry: Entry | None, now: Version, part: str, before: comparing.Text, after: comparing.Text
) -> Version:
    """The file as it is now, but for one hunk of its diff."""
    path, there = os.fsencode(now.path), _entry(now)
    was, has = before(path, entry) if entry else None, after(path, there) if there else None
    text = None if was is None or has is None else comparing.reverted(was, has, part)
    if text is None:
        raise Conflict(f"{now.path!r} does not differ so any more; look at its diff again, nothing was done")
    content = text.encode()
    return Version(now.path, intake.content(BytesIO(content).read).hex(), now.mode, len(content))


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
