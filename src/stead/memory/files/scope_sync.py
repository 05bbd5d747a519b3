"""The merge of one scope's files of memories: read, taken in, and written.

Layer: memory. Called by one sync at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from stead.brain.memory_files import MEMORIES, PEOPLE, USER
from stead.domain.memory import MemoryId, MemoryRow, Scope
from stead.domain.memory_ports import MemoryReports, RowsWanted
from stead.memory.files.codec import MOST_BYTES
from stead.memory.files.edits import Edits, Statements
from stead.memory.files.exchange import FileRead
from stead.memory.files.folder import Kept, MemoryFolder, Written
from stead.memory.files.merge import ScopeFiles, deletions, edits, left_empty, update
from stead.memory.files.rows import row_of, rows_of

_TRIES = 5
_MOST, _MOST_PINNED = 2_000, 1_000
_MOST_GENERATIONS = 10**12 - 1


@dataclass
class _Look:
    """The memories of a scope at one moment.

    Args:
        live: those that may be put into files, oldest first.
        rows: those, and all that the files speak of, by id.
        waiting: ids of which it is proposed to forget them.
    """

    live: list[MemoryRow]
    rows: dict[str, MemoryRow]
    waiting: set[str]


class ScopeSync:
    """Keeps the files of a scope and its memories the same.

    Args:
        statements: takes in what a person wrote.
        reports: what is proposed.
        files: the folder.
        tell: says to the person what they should know.
    """

    def __init__(
        self, statements: Statements, reports: MemoryReports, files: MemoryFolder, tell: Callable[[str], None]
    ) -> None:
        self._statements = statements
        self._remembered = statements.remembered
        self._reports = reports
        self._files = files
        self._tell = tell

    async def merge(self, scope: Scope, folder: str, paths: Iterable[str], kept: Kept) -> None:
        """Merge the files of one scope; one that changes all the time is left for the next sync."""
        for _ in range(_TRIES):
            found, files = await asyncio.to_thread(self._read, scope, folder, paths, kept)
            async with self._statements.stream.lock:
                look = await asyncio.to_thread(self._look, files)
                taking = Edits(self._statements, scope, look.rows)
                if changed := await asyncio.to_thread(edits, files, look.rows, look.live):
                    await taking.take(changed)
                    look = await asyncio.to_thread(self._look, files)
                deleted = deletions(files, look.rows, look.waiting)
                await taking.propose(deleted)
                look.waiting |= {id for _, id in deleted}
            for notice in taking.notices:
                self._tell(notice)
            if await asyncio.to_thread(self._write, files, folder, found, look, kept):
                return
            paths = {*found, *(f"{folder}/{name}" for name in files.files)}
        self._files.busy = True

    def _read(
        self, scope: Scope, folder: str, paths: Iterable[str], kept: Kept
    ) -> tuple[dict[str, FileRead], ScopeFiles]:
        found = {path: read for path in paths if (read := self._files.read(path)) is not None}
        for read in found.values():
            self._tell(read.notice)
        inside = {path.removeprefix(f"{folder}/"): read for path, read in found.items()}
        texts = {name: read.text for name, read in inside.items() if not read.why}
        base = {
            path.removeprefix(f"{folder}/"): one.ids for path, one in kept.files.items() if is_of_memories(path, folder)
        }
        return found, ScopeFiles.of(scope, texts, inside.keys() - texts.keys(), base)

    def _look(self, files: ScopeFiles) -> _Look:
        """The memories of a scope, and those that its files speak of, as they are now."""
        live = self._live(files.scope)
        rows: dict[str, MemoryRow] = {row.memory.id: row for row in live}
        todo = files.mentioned - rows.keys()
        while todo:
            id = todo.pop()
            row = row_of(self._remembered, MemoryId(id)) if id.startswith("m_") and id not in rows else None
            if row is not None:
                rows[id] = row
                todo |= {row.superseded_by} if row.superseded_by else set()
        proposals = self._reports.proposals(waiting=True)
        waiting = {id for row in proposals if row.proposal.what == "forget" for id in row.proposal.memories}
        return _Look(live, rows, set(waiting))

    def _live(self, scope: Scope) -> list[MemoryRow]:
        """The live memories of a scope, oldest first: the pinned and the newest."""
        pinned, _ = self._remembered.rows(RowsWanted(place=scope.place, pinned=True, limit=_MOST_PINNED))
        rows = [*pinned, *islice(rows_of(self._remembered, scope.place), _MOST)]
        own = {row.memory.id: row for row in rows if row.memory.scope == scope}
        return sorted(own.values(), key=lambda row: (row.recorded_ms, row.memory.id))

    def _write(self, files: ScopeFiles, folder: str, found: Mapping[str, FileRead], look: _Look, kept: Kept) -> bool:
        """Write the files that are not as they should be; False when one changed meanwhile."""
        update(files, look.rows, look.live, look.waiting)
        for name, document in sorted(files.files.items()):
            path = f"{folder}/{name}"
            read, known = found.get(path), kept.files.get(path, Written())
            if known.ids and name.startswith(f"{PEOPLE}/") and left_empty(name, document):
                if read is not None and not self._files.write(path, None, read.stamp):
                    return False
                kept.files.pop(path)  # its name is that of a person of whom nothing is remembered
                continue
            if len(document.text(_MOST_GENERATIONS).encode()) > MOST_BYTES:
                self._tell(f"{path} is not written: it would be too long to be read back; take something out of it")
                continue
            generation = document.generation if document.generation >= 0 else known.generation
            if read is None or document.text(generation) != read.text:
                generation = max(known.generation, document.generation, 0) + 1
                if not self._files.write(path, document.text(generation), read.stamp if read else None):
                    return False
            lines = (bullet.id for bullet in document.bullets if not bullet.gone and bullet.id.startswith("m_"))
            ids = {id: known.ids.get(id, generation) for id in lines}
            kept.files[path] = Written(max(generation, known.generation), ids)
        for path in [path for path in kept.files if path.startswith(f"{folder}/{PEOPLE}/") and path not in found]:
            rows = (look.rows.get(id) for id in kept.files[path].ids)
            if not any(row is not None and row.status == "live" for row in rows):
                kept.files.pop(path)  # a person's file that is gone, with everything that stood in it
        return True


def is_of_memories(path: str, folder: str) -> bool:
    """Whether a file is one of a scope's memories; others that a person puts there are theirs."""
    inside = path.removeprefix(f"{folder}/")
    return inside != path and (inside in (USER, MEMORIES) or inside.startswith(f"{PEOPLE}/"))
