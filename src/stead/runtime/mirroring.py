"""Keeps the files of memory and the memories the same, whichever of them was changed.

Layer: runtime. One sync at a time. What a person wrote becomes facts first, under the lock of the stream ``memory``,
and then the files are written; a crash in between leaves a file whose bullets say what is remembered already, and the
next sync sees that. A file that is being written, or that changed while it was merged, is left for the next sync.

Whoever writes into the folder speaks as the person, so it must be where no machine can write: not in a workspace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import cast

import msgspec
from msgspec.structs import replace

from stead.brain.memory_files import MEMORIES, PEOPLE, SOUL, USER, folder_of
from stead.brain.memory_markdown import Document
from stead.brain.memory_merging import Sheaf, changes, deleted, left_empty, settle, taken_apart, title_of
from stead.domain import events as ev
from stead.domain.errors import NotFound, StorageFault
from stead.domain.memory import GLOBAL, Level, MemoryId, MemoryRow, PlaceId, ProposalId, Scope
from stead.domain.memory_events import MemoryFact
from stead.domain.memory_ports import MemoryReports, Place, RowsWanted
from stead.domain.mirroring import (
    BUSY,
    MOST_BYTES,
    FileRead,
    Kept,
    MirrorFiles,
    MirrorState,
    Souls,
    Stamp,
    Written,
)
from stead.domain.sessions import PERSON
from stead.runtime.memories import Memories
from stead.runtime.mirrored_changes import TakingIn
from stead.runtime.mirrored_days import Journals
from stead.runtime.mirrored_souls import mirror_soul
from stead.runtime.settled_files import Settled

_TRIES = 5
_PAGE, _PAGES = 1_000, 2
_MOST_NOTICES = 50
_MOST_FACTS = 1_000
_MOST_GENERATIONS = 10**12 - 1
_MOST_EVENTS = 2_000
"""That a start may have to look through once more, to know whether something was forgotten."""
_ALONE = 20
"""Deleted bullets that are proposed one by one; more at once are one proposal."""

log = logging.getLogger(__name__)


class Mirroring:
    """Safe to call from several tasks.

    Args:
        memories: takes in what a person wrote.
        reports: places, proposals, and what happened on a day.
        files: the folder.
        souls: the soul directives.
        root: where the folder is.
        zone: where the person lives; none for this computer's zone.
    """

    def __init__(
        self,
        memories: Memories,
        reports: MemoryReports,
        files: MirrorFiles,
        souls: Souls,
        *,
        root: Path,
        zone: tzinfo | None = None,
    ) -> None:
        self._memories = memories
        self._reports = reports
        self._files = Settled(files, memories.stream.now_ms)
        self._souls = souls
        self._root = root
        self._journals = Journals(memories.remembered, reports, self._files, zone)
        self._lock = asyncio.Lock()
        self._seen: Mapping[str, Stamp] | None = None
        self._seen_seq = 0
        self._notices: list[str] = []
        self._state = MirrorState(True, "", str(root), 0)

    @property
    def state(self) -> MirrorState:
        """How the files are."""
        return replace(self._state, notices=tuple(self._notices))

    @property
    def busy(self) -> bool:
        """Whether a file was left alone that somebody was writing, so that it is to be looked at again."""
        return self._files.busy

    async def changed(self) -> bool:
        """Whether a person changed a file since the last sync; a dead folder is tried again."""
        try:
            return self._files.busy or await asyncio.to_thread(self._files.stamps) != self._seen
        except StorageFault:
            return self._state.alive

    async def sync(self, *, whole: bool = False) -> MirrorState:
        """Take in what was written, and write what is remembered. It never raises for a folder that is not usable.

        Args:
            whole: look at every day's journal again. It is done anyway after something was deleted or forgotten, for as
                long as it takes until no file is left out.
        """
        async with self._lock:
            try:
                await self._sync(whole)
            except StorageFault as fault:
                self._seen = None
                self._state = replace(self._state, alive=False, reason=str(fault))
                log.warning("the files of memory are not kept up: %s", fault)
        return self.state

    async def _sync(self, whole: bool) -> None:
        places = await asyncio.to_thread(self._reports.places)
        if open_to := lies_open(self._root, (place.directory for place in places)):
            raise StorageFault(
                f"{str(self._root)!r} {open_to}, where machines could write it; set another memory_folder"
            )
        kept = await asyncio.to_thread(self._files.kept)
        before = msgspec.json.encode(kept)
        since = max(kept.seen_seq, self._seen_seq)
        head, gone = await asyncio.to_thread(self._memories.stream.gone_since, since)
        stamps = await asyncio.to_thread(self._files.begin)
        scopes = _scopes(places, kept)
        for scope, place in scopes.items():
            folder = kept.folders.setdefault(_name(scope), folder_of(scope, place.title))
            await self._mirror(scope, folder, stamps, kept)
            if scope.level == "global" or (scope.level == "workspace" and place.directory):
                await self._mirror_soul(folder, place.directory, kept)
        now_ms = self._memories.stream.now_ms()
        folders = [(scope, kept.folders[_name(scope)]) for scope in scopes]
        edited = {path for path in stamps if self._seen is not None and self._seen.get(path) != stamps[path]}
        whole = whole or gone or not since
        await asyncio.to_thread(self._journals.write, folders, kept, now_ms, edited, whole)
        if not self._files.busy:
            self._seen_seq = head
        if head - kept.seen_seq > _MOST_EVENTS or msgspec.json.encode(kept) != before:
            kept.seen_seq = self._seen_seq
            await asyncio.to_thread(self._files.keep, kept)
        self._seen = self._files.seen
        self._state = replace(self._state, alive=True, reason="", last_sync_ms=now_ms)

    async def _mirror(self, scope: Scope, folder: str, stamps: Mapping[str, Stamp], kept: Kept) -> None:
        """Merge the files of one scope; one that changes all the time is left for the next sync."""
        own = [path for path in stamps if _belongs(path, folder)]
        for _ in range(_TRIES):
            reads = await asyncio.to_thread(lambda paths: [self._files.read(path) for path in paths], own)
            found = {read.path: read for read in reads if read is not None}
            sheaf = self._taken_apart(scope, folder, found, kept)
            waiting = await self._take_in(sheaf)
            live = await asyncio.to_thread(self._live, scope)
            rows = await asyncio.to_thread(self._rows, sheaf, live)
            settle(sheaf, rows.get, live, waiting)
            done, made = await asyncio.to_thread(self._write, sheaf, folder, found, kept)
            if done:
                _forget_missing(folder, found, rows, kept)
                return
            own = [*dict.fromkeys((*own, *made))]
        self._files.busy = True

    async def _mirror_soul(self, folder: str, directory: str, kept: Kept) -> None:
        path = f"{folder}/{SOUL}"
        read = await asyncio.to_thread(self._files.read, path)
        if read is None or self._readable(read):
            self._tell(await mirror_soul(self._files, self._souls, kept, folder, directory, read))

    def _taken_apart(self, scope: Scope, folder: str, found: Mapping[str, FileRead], kept: Kept) -> Sheaf:
        texts, unread = dict[str, str](), set[str]()
        for path, read in found.items():
            name = path.removeprefix(f"{folder}/")
            if self._readable(read):
                texts[name] = read.text
            else:
                unread.add(name)
        written = {
            path.removeprefix(f"{folder}/"): one.ids for path, one in kept.files.items() if _belongs(path, folder)
        }
        sheaf = taken_apart(scope, texts, unread, written)
        if scope.level == "global":
            for name in (USER, MEMORIES):
                if name not in unread:
                    sheaf.files.setdefault(name, Document([f"# {title_of(name)}", ""]))
        return sheaf

    def _readable(self, read: FileRead) -> bool:
        """Whether a file can be worked with; why not is told, but for one that is whole in a moment."""
        if read.why and read.why != BUSY:
            self._tell(f"{read.path} is not read: {read.why}")
        return not read.why

    async def _take_in(self, sheaf: Sheaf) -> set[str]:
        """Make facts of what a person changed; gives the ids of which it is proposed to forget them."""
        async with self._memories.stream.lock:
            live = await asyncio.to_thread(self._live, sheaf.scope)
            rows = await asyncio.to_thread(self._rows, sheaf, live)
            taking = TakingIn(self._memories, sheaf.scope)
            for notice in await taking.take(changes(sheaf, rows.get, live)):
                self._tell(notice)
            waiting = await asyncio.to_thread(self._waiting)
            live = await asyncio.to_thread(self._live, sheaf.scope)
            rows = await asyncio.to_thread(self._rows, sheaf, live)
            gone = deleted(sheaf, rows.get, waiting)
            await self._propose(gone)
        return waiting | {id for _, id in gone}

    async def _propose(self, gone: Sequence[tuple[str, MemoryId]]) -> None:
        if not gone:
            return
        groups: list[tuple[str, tuple[MemoryId, ...]]] = [(path, (id,)) for path, id in gone]
        if len(gone) > _ALONE:
            every = [id for _, id in gone]
            pieces = [every[at : at + _MOST_FACTS] for at in range(0, len(every), _MOST_FACTS)]
            groups = [("the files", tuple(piece)) for piece in pieces]
        facts: list[MemoryFact] = [
            ev.MemoryProposed(
                ProposalId(self._memories.new_id("p")),
                "forget",
                ids,
                "",
                f"{'Its line was' if len(ids) == 1 else f'{len(ids)} lines were'} deleted from {path}.",
                PERSON,
            )
            for path, ids in groups
        ]
        await self._memories.stream.record(facts, by="person")

    def _write(
        self, sheaf: Sheaf, folder: str, found: Mapping[str, FileRead], kept: Kept
    ) -> tuple[bool, tuple[str, ...]]:
        """Write the files that are not as they should be; false when one changed meanwhile."""
        for name, document in sorted(sheaf.files.items()):
            path = f"{folder}/{name}"
            read = found.get(path)
            known = kept.files.get(path, Written())
            if known.ids and name.startswith(f"{PEOPLE}/") and left_empty(name, document):
                if read is not None and self._files.write(path, None, read.stamp) is None:
                    return False, ()
                kept.files.pop(path)  # its name tells of somebody of whom nothing is remembered
                continue
            if len(document.text(_MOST_GENERATIONS).encode()) > MOST_BYTES:
                self._tell(f"{path} is not written: it would be too long to be read back; take something out of it")
                continue
            generation = document.generation if document.generation >= 0 else known.generation
            if read is None or document.text(generation) != read.text:
                generation = max(known.generation, document.generation, 0) + 1
                if self._files.write(path, document.text(generation), read.stamp if read else None) is None:
                    return False, tuple(f"{folder}/{each}" for each in sheaf.files)
            lines = (bullet.id for bullet in document.bullets if not bullet.gone and _stays(bullet.id))
            ids = {id: known.ids.get(id, generation) for id in lines}
            kept.files[path] = Written(max(generation, known.generation), ids)
        return True, ()

    def _rows(self, sheaf: Sheaf, live: Iterable[MemoryRow]) -> dict[str, MemoryRow]:
        """The memories that the files speak of, and those in their places; what is live is known already."""
        todo = {bullet.id for _, bullet in sheaf.bullets()} | {id for ids in sheaf.written.values() for id in ids}
        found: dict[str, MemoryRow] = {row.memory.id: row for row in live}
        while todo:
            id = todo.pop()
            if id in found or not id.startswith("m_"):
                continue
            try:
                row = self._memories.remembered.row(MemoryId(id))
            except NotFound:
                continue
            found[id] = row
            if row.superseded_by:
                todo.add(row.superseded_by)
        return found

    def _live(self, scope: Scope) -> list[MemoryRow]:
        """The live memories of a scope, oldest first: the pinned and the newest."""
        pinned, _ = self._memories.remembered.rows(RowsWanted(place=scope.place, pinned=True, limit=_PAGE))
        found = {row.memory.id: row for row in pinned}
        after = ""
        for _ in range(_PAGES):
            rows, after = self._memories.remembered.rows(RowsWanted(place=scope.place, after=after, limit=_PAGE))
            found.update((row.memory.id, row) for row in rows)
            if not after:
                break
        own = [row for row in found.values() if row.memory.scope == scope]
        return sorted(own, key=lambda row: (row.recorded_ms, row.memory.id))

    def _waiting(self) -> set[str]:
        rows = self._reports.proposals(waiting=True)
        return {id for row in rows if row.proposal.what == "forget" for id in row.proposal.memories}

    def _tell(self, notice: str) -> None:
        if notice and notice not in self._notices:
            self._notices = [notice, *self._notices][:_MOST_NOTICES]
            log.info("files of memory: %s", notice)


def lies_open(root: Path, directories: Iterable[str]) -> str:
    """Whether a machine of one of these folders could see the files of memory, in words; "" when none can."""
    real = root.resolve()
    for directory in filter(None, directories):
        other = Path(directory).resolve()
        if real == other or other in real.parents or real in other.parents:
            return f"lies in the workspace {directory!r}, or around it"
    return ""


def _scopes(places: Collection[Place], kept: Kept) -> dict[Scope, Place]:
    """The scope that holds everywhere, those of every place that has anything, and those that had a folder once."""
    known = {place.id: place for place in places}
    found = {Scope("global", GLOBAL): Place(GLOBAL, "everywhere", "", 0, 0, 0)}
    for place in places:
        if place.id.startswith("c_"):
            found[Scope("channel", place.id)] = place
        elif place.id != GLOBAL:
            found[Scope("workspace", place.id)] = found[Scope("private", place.id)] = place
    for name in kept.folders:
        level, _, id = name.partition(":")
        scope = Scope(cast("Level", level), PlaceId(id))
        found.setdefault(scope, known.get(scope.place, Place(scope.place, id, "", 0, 0, 0)))
    return found


def _name(scope: Scope) -> str:
    return f"{scope.level}:{scope.place}"


def _belongs(path: str, folder: str) -> bool:
    """Whether a file is one of a scope's memories; others that a person puts there are theirs."""
    inside = path.removeprefix(f"{folder}/")
    return inside != path and (inside in (USER, MEMORIES) or inside.startswith(f"{PEOPLE}/"))


def _forget_missing(folder: str, found: Mapping[str, FileRead], rows: Mapping[str, MemoryRow], kept: Kept) -> None:
    """Know no more of a person's file that is gone, with everything that stood in it."""
    for path in [path for path in kept.files if path.startswith(f"{folder}/{PEOPLE}/") and path not in found]:
        if not any(id in rows and rows[id].status == "live" for id in kept.files[path].ids):
            kept.files.pop(path)


def _stays(id: str) -> bool:
    return id.startswith("m_")
