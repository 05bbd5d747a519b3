"""Keeps the files of memory and the memories the same, whichever of them was changed.

Layer: memory. One sync at a time. What a person wrote becomes facts first, under the lock of the stream ``memory``, and
then the files are written; a crash in between leaves a file whose bullets say what is remembered already, and the next
sync sees that. A file that is being written, or that changed while it was merged, is left for the next sync.

A sync reads the events since the last one and looks at the stamps of the files. A scope of which neither says anything
is not read.

Whoever writes into the folder speaks as the person, so it must be where no machine can write: not in a workspace.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import cast

import msgspec
from msgspec.structs import replace

from stead.brain.memory_files import JOURNAL, SOUL, folder_of
from stead.domain import events as ev
from stead.domain.errors import NotFound, StorageFault
from stead.domain.ids import SessionId
from stead.domain.memory import GLOBAL, Level, PlaceId, Scope
from stead.domain.memory_ports import MemoryReports
from stead.domain.mirroring import MirrorState
from stead.domain.ports import Journal
from stead.memory.files.days import DAY_FILE, Days, Line
from stead.memory.files.edits import Statements
from stead.memory.files.exchange import Stamp
from stead.memory.files.folder import Kept, MemoryFolder
from stead.memory.files.rows import row_of
from stead.memory.files.scope_sync import ScopeSync, is_of_memories
from stead.memory.files.souls import DirectiveSouls, merge_soul

_MOST_NOTICES = 50
_MOST_EVENTS = 2_000
"""That a start may have to look through once more, to know whether something was forgotten."""

log = logging.getLogger(__name__)


@dataclass
class _News:
    """What happened since the last sync, as far as files say it.

    Args:
        seq: of the last event.
        ts_ms: of the last event.
        gone: a session was deleted, or words were forgotten.
        every: every scope may have changed.
        souls: a directive was changed.
        places: whose memories changed.
        made: lines of memories that were made.
        ended: where turns ended, and the first moment.
    """

    seq: int
    ts_ms: int = 0
    gone: bool = False
    every: bool = False
    souls: bool = False
    places: set[PlaceId] = field(default_factory=set)
    made: dict[Scope, list[Line]] = field(default_factory=lambda: defaultdict(list))
    ended: dict[Scope, int] = field(default_factory=dict)


class FileSync:
    """Safe to call from several tasks.

    Args:
        statements: takes in what a person wrote.
        reports: places, proposals, and what happened on a day.
        journal: what happened since the last sync.
        files: the folder.
        souls: the soul directives.
        zone: where the person lives; None for that of the process, which is the person's.
    """

    def __init__(
        self,
        statements: Statements,
        reports: MemoryReports,
        journal: Journal,
        files: MemoryFolder,
        souls: DirectiveSouls,
        *,
        zone: tzinfo | None = None,
    ) -> None:
        self._now_ms = statements.stream.now_ms
        self._journal = journal
        self._remembered = statements.remembered
        self._reports = reports
        self._files = files
        self._souls = souls
        self._scope_sync = ScopeSync(statements, reports, files, self._tell)
        self._days = Days(statements.remembered, reports, files, zone)
        self._lock = asyncio.Lock()
        self._kept: Kept | None = None
        self._saved = b""
        self._seen: Mapping[str, Stamp] | None = None
        """The files as they were after the last sync; None when every scope has to be looked at."""
        self._seq = 0
        self._scopes: Mapping[Scope, str] = {}
        """Every scope with a folder of files, and the workspace it belongs to ("" for none)."""
        self._notices: list[str] = []
        self._state = MirrorState(True, "", str(files.root), 0)

    @property
    def state(self) -> MirrorState:
        """How the files are."""
        return replace(self._state, notices=tuple(self._notices))

    @property
    def busy(self) -> bool:
        """Whether a file was left alone because it was being written, so that it is to be looked at again."""
        return self._files.busy

    def changed(self) -> bool:
        """Whether a person changed a file since the last sync; a dead folder is tried again. It blocks."""
        try:
            return self._files.busy or self._files.stamps() != self._seen
        except StorageFault:
            return self._state.alive

    async def sync(self, *, whole: bool = False) -> MirrorState:
        """Take in what was written, and write what is remembered. It never raises for a folder that is not usable.

        Args:
            whole: look at every file again. It is done anyway after something was deleted or forgotten, for as long as
                it takes until no file is left out.
        """
        async with self._lock:
            try:
                await self._sync(whole)
            except StorageFault as fault:
                self._seen = self._kept = None
                self._state = replace(self._state, alive=False, reason=str(fault))
                log.warning("the files of memory are not kept up: %s", fault)
        return self.state

    async def _sync(self, whole: bool) -> None:
        kept = self._kept if self._kept is not None else await asyncio.to_thread(self._load)
        self._kept = kept
        news = await asyncio.to_thread(self._read_news)
        stamps = await asyncio.to_thread(self._files.begin)
        seen = self._seen or {}
        edited = {path for path in stamps.keys() | seen.keys() if stamps.get(path) != seen.get(path)}
        every = self._seen is None or whole or news.gone or news.every
        if every or edited or not news.made.keys() | news.ended.keys() <= self._scopes.keys():
            self._scopes = await asyncio.to_thread(self._find_scopes, kept)
        touched = {_folder_in(path) for path in edited}
        for scope, directory in self._scopes.items():
            folder = kept.folders[_name(scope)]
            if every or scope.place in news.places or folder in touched:
                await self._scope_sync.merge(
                    scope, folder, [path for path in stamps if is_of_memories(path, folder)], kept
                )
            if (every or news.souls or f"{folder}/{SOUL}" in edited) and _has_soul(scope, directory):
                self._tell(await merge_soul(self._files, self._souls, kept, folder, directory))
        await asyncio.to_thread(self._write_days, news, kept, edited, whole or news.gone or not self._seq)
        if self._files.busy:
            self._seen = None
        else:
            self._seen, self._seq = self._files.seen, news.seq
        await asyncio.to_thread(self._save, kept)
        self._state = replace(self._state, alive=True, reason="", last_sync_ms=self._now_ms())

    def _read_news(self) -> _News:
        news = _News(self._seq)
        for event in self._journal.events(after=self._seq):
            news.seq = event.seq
            if isinstance(event, ev.Event):
                news.ts_ms = event.ts_ms
                self._note(event, news)
        return news

    def _note(self, event: ev.Event, news: _News) -> None:
        match event.body:
            case ev.SessionDeleted() | ev.ForgettingBegun() | ev.MemoryForgotten():
                news.gone = True
            case ev.ProposalSettled():
                news.every = True
            case ev.DirectiveSet() | ev.DirectiveRemoved():
                news.souls = True
            case ev.MemoryMade(memory=memory):
                news.places.add(memory.scope.place)
                news.made[memory.scope].append(self._days.made(event.ts_ms, memory.id, memory.text))
            case ev.MemoryAmended(memory=memory):
                news.places.add(memory.scope.place)
            case ev.MemoryRetired(id=id) | ev.MemoryRestored(id=id):
                row = None if news.every else row_of(self._remembered, id)
                news.places |= {row.memory.scope.place} if row else set()
                news.every = row is None
            case ev.TurnEnded() | ev.ObjectiveEnded():
                if scope := self._scope_of(event.session):
                    news.ended.setdefault(scope, event.ts_ms)
            case _:
                return

    def _scope_of(self, session: SessionId) -> Scope | None:
        """Where what a session did is written down; None for one that was deleted."""
        try:
            viewer = self._remembered.whereabouts(session).viewer
        except NotFound:
            return None
        if viewer.channel:
            return Scope("channel", viewer.channel)
        return Scope("private" if viewer.interactive else "workspace", viewer.workspace)

    def _find_scopes(self, kept: Kept) -> Mapping[Scope, str]:
        """The scope that holds everywhere, those of every place that has anything, and those that had a folder once.

        Raises:
            StorageFault: the folder is where machines could write it.
        """
        places = self._reports.places()
        if open_to := lies_open(self._files.root, (place.directory for place in places)):
            raise StorageFault(
                f"{str(self._files.root)!r} {open_to}, where machines could write it; set another memory_folder"
            )
        scopes = {Scope(): ""}
        kept.folders.setdefault(_name(Scope()), folder_of(Scope(), ""))
        for place in places:
            levels: tuple[Level, ...] = ("channel",) if place.id.startswith("c_") else ("workspace", "private")
            for scope in [Scope(level, place.id) for level in levels if place.id != GLOBAL]:
                scopes[scope] = place.directory
                kept.folders.setdefault(_name(scope), folder_of(scope, place.title))
        for name in kept.folders:
            known, _, id = name.partition(":")
            scopes.setdefault(Scope(cast("Level", known), PlaceId(id)), "")
        return scopes

    # -- days -----------------------------------------------------------------------------------------------------

    def _write_days(self, news: _News, kept: Kept, edited: Collection[str], whole: bool) -> None:
        """Add the new lines; let files say what happened where a person saved them, or where words went."""
        written_ms, since_ms = kept.days_until_ms, 0 if whole else kept.days_until_ms
        there = self._files.seen
        paths = there if whole else edited & there.keys()
        days = [found for path in paths if (found := DAY_FILE.match(path))]
        for scope in self._scopes:
            folder = kept.folders[_name(scope)]
            own = [day[2] for day in days if day[1] == folder]
            if whole or self._seen is None or not written_ms:
                self._days.follow(scope, folder, since_ms, written_ms, there=own if whole else ())
                continue
            for day in own:
                self._days.follow(scope, folder, since_ms, written_ms, day=day, there=[day])
            lines = list(news.made.get(scope, ()))
            if scope in news.ended:
                lines += self._days.ended(scope, news.ended[scope])
            self._days.add(folder, lines)
        if (news.made or news.ended or not written_ms) and not self._files.busy:
            kept.days_until_ms = news.ts_ms

    # -- what is kept ---------------------------------------------------------------------------------------------

    def _load(self) -> Kept:
        kept = self._files.load()
        self._saved = msgspec.json.encode(kept)
        self._seq = max(self._seq, kept.seen_seq)
        kept.files = {path: one for path, one in kept.files.items() if f"/{JOURNAL}/" not in path}  # older notes have
        return kept

    def _save(self, kept: Kept) -> None:
        content = msgspec.json.encode(kept)
        if content == self._saved and self._seq - kept.seen_seq <= _MOST_EVENTS:
            return
        kept.seen_seq = self._seq
        self._saved = msgspec.json.encode(kept)
        self._files.keep(self._saved)

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


def _name(scope: Scope) -> str:
    return f"{scope.level}:{scope.place}"


def _folder_in(path: str) -> str:
    """The folder of the scope to which a file belongs."""
    parts = path.split("/")
    return parts[0] if parts[0] == "global" else "/".join(parts[:2])


def _has_soul(scope: Scope, directory: str) -> bool:
    return scope.level == "global" or (scope.level == "workspace" and bool(directory))
