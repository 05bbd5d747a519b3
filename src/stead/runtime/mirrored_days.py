"""Journals as files: what happened on each day, a line each, behind what a person wrote there themselves.

Layer: runtime. Lines are added, and taken away only when what they tell of is gone (a deleted session, words that were
forgotten). A line that a person changed or deleted stays so.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import tzinfo

import msgspec

from stead.brain.memory_files import JOURNAL
from stead.brain.memory_markdown import Bullet, Document, mark_of, parse
from stead.brain.memory_merging import FULL_BYTES, that_fit
from stead.brain.remembering import clean
from stead.domain.memory import Scope, Standing
from stead.domain.memory_ports import JournalLine, MemoryReports, Remembered, RowsWanted
from stead.domain.mirroring import FileRead, Kept, Written
from stead.runtime.loading import day_of, happened_in, local
from stead.runtime.settled_files import Settled

_PAGE = 1_000
_EVERY: tuple[Standing, ...] = ("live", "superseded", "expired", "retired")
_TRIES = 5
_DAY_FILE = re.compile(rf"/{JOURNAL}/(\d{{4}}-\d\d-\d\d)\.md$")
MORE = "More happened than has room here."


class Line(msgspec.Struct, frozen=True, order=True):
    """One line of a day: when, what it is told apart by, and its words."""

    ts_ms: int
    key: str
    text: str


class Journals:
    """Writes them. Every method blocks.

    Args:
        remembered: what was remembered on a day.
        reports: what happened.
        files: the folder.
        zone: where the person lives; none for this computer's zone.
    """

    def __init__(self, remembered: Remembered, reports: MemoryReports, files: Settled, zone: tzinfo | None) -> None:
        self._remembered = remembered
        self._reports = reports
        self._files = files
        self._zone = zone

    def write(
        self, scopes: Sequence[tuple[Scope, str]], kept: Kept, now_ms: int, edited: Collection[str], whole: bool
    ) -> None:
        """Bring the files of the days since the last time up to date, or all of them.

        Args:
            scopes: each with its folder.
            kept: what was written before; noted down in it.
            now_ms: see there.
            edited: files that a person saved since then; an old day among them may have what is gone by now.
            whole: every day.
        """
        today = day_of(now_ms, self._zone)
        last = day_of(max(0, kept.days_until_ms - 1), self._zone)
        days_edited = (found[1] for path in edited if (found := _DAY_FILE.search(path)))
        whole = whole or not kept.days_until_ms or any(name < last.name for name in days_edited)
        since = 0 if whole else last.since_ms
        there = self._files.stamps() if whole else {}
        for scope, folder in scopes:
            days: dict[str, list[Line]] = defaultdict(list)
            for line in self._lines(scope, since, today.until_ms):
                days[day_of(line.ts_ms, self._zone).name].append(line)
            for path in there:
                found = _DAY_FILE.search(path)
                if found and path.startswith(f"{folder}/"):
                    days.setdefault(found[1], [])
            for name, lines in sorted(days.items()):
                self._day(f"{folder}/{JOURNAL}/{name}.md", name, sorted(set(lines)), kept)
        kept.days_until_ms = today.since_ms

    def _day(self, path: str, name: str, lines: Sequence[Line], kept: Kept) -> None:
        """One file; one that changes all the time is left for the next sync."""
        for _ in range(_TRIES):
            read = self._files.read(path)
            if read is not None and read.why:
                return
            known = kept.files.get(path, Written())
            document = parse(read.text) if read else Document([f"# {name}", ""])
            _follow(document, lines, known)
            if self._put(path, document, read, known):
                ids = dict.fromkeys((*known.ids, *(line.key for line in lines)), 1)
                left = {line.key for line in lines}
                kept.files[path] = Written(known.generation, {key: 1 for key in ids if key in left})
                return
        self._files.busy = True

    def _put(self, path: str, document: Document, read: FileRead | None, known: Written) -> bool:
        if read is None and not document.bullets:
            return True
        text = document.text(max(document.generation, 0), "j")
        if read is not None and text == read.text:
            return True
        return self._files.write(path, text, read.stamp if read else None) is not None

    def _lines(self, scope: Scope, since_ms: int, until_ms: int) -> Iterator[Line]:
        for happened in self._happened(scope, since_ms, until_ms):
            words = f"{happened.title}: {happened.text}" if happened.text else happened.title
            yield self._line(happened.ts_ms, f"{happened.session} {happened.ts_ms}", words)
        after = ""
        while True:
            wanted = RowsWanted(place=scope.place, status=_EVERY, after=after, limit=_PAGE)
            rows, after = self._remembered.rows(wanted)
            for row in rows:
                if row.memory.scope == scope and since_ms <= row.recorded_ms < until_ms:
                    yield self._line(row.recorded_ms, row.memory.id, f"Remembered: {row.memory.text}")
            if not after or rows[-1].recorded_ms < since_ms:
                return

    def _happened(self, scope: Scope, since_ms: int, until_ms: int) -> Iterator[JournalLine]:
        """In pieces, since only so much is told at once."""
        while True:
            lines = self._reports.days(scope.place, since_ms, until_ms) if scope.level != "global" else ()
            own = happened_in(lines, scope)
            yield from own
            if len(lines) < _PAGE or lines[-1].ts_ms == since_ms:
                return
            since_ms = lines[-1].ts_ms

    def _line(self, ts_ms: int, what: str, words: str) -> Line:
        key = hashlib.sha256(what.encode()).hexdigest()[:16]
        return Line(ts_ms, key, clean(f"{local(ts_ms, self._zone):%H:%M} {' '.join(words.split())}"))


def _follow(document: Document, lines: Sequence[Line], known: Written) -> None:
    """Let a day's file tell what happened."""
    now = {line.key: line for line in lines}
    there = set[str]()
    for bullet in document.bullets:
        if not bullet.id:
            continue
        there.add(bullet.id)
        if bullet.mark != mark_of(bullet.text):
            continue  # the person's words by now
        if bullet.id in now:
            bullet.become(bullet.id, now[bullet.id].text)
        else:
            bullet.gone = True
    fresh = []
    for line in lines:
        if line.key not in there and line.key not in known.ids:
            bullet = Bullet("")
            bullet.become(line.key, line.text)
            fresh.append(bullet)
    room = FULL_BYTES - len(document.text(0, "j").encode())
    fit = that_fit(room, fresh, "j")
    document.add("", fit)
    if len(fit) < len(fresh) and MORE not in document.parts:
        document.parts.append(MORE)
