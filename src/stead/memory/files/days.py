"""Journals as files: what happened on each day, a line each, behind what a person wrote there themselves.

Layer: memory. Lines are added, and removed only when what they say is gone (a deleted session, words that were
forgotten). A line that a person changed or deleted stays so. A new line is appended to the text; the file is
parsed only after an edit, or after something was deleted or forgotten.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from functools import partial

import msgspec

from stead.brain.memory_files import JOURNAL, happened_in
from stead.brain.remembering import LAST_MS, clean
from stead.domain.memory import MemoryId, Scope
from stead.domain.memory_ports import MemoryReports, Remembered
from stead.memory.files.codec import FULL_BYTES, Bullet, Document, parse
from stead.memory.files.folder import MemoryFolder
from stead.memory.files.rows import EVERY, rows_of

_PAGE = 1_000
_TRIES = 5
_LAST_LINE = re.compile(r"<!-- j:[0-9a-f]{16} v:[0-9a-f]{12} -->\n\Z")
DAY_FILE = re.compile(rf"\A(.+)/{JOURNAL}/(\d{{4}}-\d\d-\d\d)\.md\Z")
"""The path of a day's file: the scope's folder, and the day."""
MORE = "More happened than has room here."


class Line(msgspec.Struct, frozen=True, order=True):
    """One line of a day: when, what distinguishes it, and its words."""

    ts_ms: int
    key: str
    text: str


class Days:
    """Writes the files of days. Every method blocks.

    Args:
        remembered: what was remembered on a day.
        reports: what happened.
        files: the folder.
        zone: where the person lives; None for that of the process, which is the person's.
    """

    def __init__(
        self, remembered: Remembered, reports: MemoryReports, files: MemoryFolder, zone: tzinfo | None
    ) -> None:
        self._remembered = remembered
        self._reports = reports
        self._files = files
        self._zone = zone

    def ended(self, scope: Scope, since_ms: int, until_ms: int = LAST_MS) -> Iterator[Line]:
        """Lines for the turns that ended in a scope."""
        while scope.level != "global":
            lines = self._reports.days(scope.place, since_ms, until_ms)
            for one in happened_in(lines, scope):
                words = f"{one.title}: {one.text}" if one.text else one.title
                yield self._line(one.ts_ms, f"{one.session} {one.ts_ms}", words)
            if len(lines) < _PAGE or lines[-1].ts_ms == since_ms:
                return
            since_ms = lines[-1].ts_ms  # only so many are given at once

    def made(self, ts_ms: int, id: MemoryId, text: str) -> Line:
        """The line for a memory that was made."""
        return self._line(ts_ms, id, f"Remembered: {text}")

    def add(self, folder: str, lines: Iterable[Line]) -> None:
        """Append new lines to the files of a scope."""
        for name, some in self._by_day(lines).items():
            self._write(_path(folder, name), partial(_added, name, some))

    def follow(
        self, scope: Scope, folder: str, since_ms: int, written_ms: int, day: str = "", there: Collection[str] = ()
    ) -> None:
        """Let the files of a scope say what happened.

        Args:
            scope: whose.
            folder: its folder.
            since_ms: the days from this moment's on.
            written_ms: up to when lines were written: one from before that is missing was deleted by the person.
            day: that day alone, whatever ``since_ms`` is.
            there: days whose files are there, and have to lose what is gone.
        """
        start = date.fromisoformat(day) if day else self._date(since_ms)
        first_ms = self._start_ms(start) if since_ms or day else 0
        until_ms = self._start_ms(start + timedelta(days=1)) if day else LAST_MS
        lines = [*self.ended(scope, first_ms, until_ms), *self._memories(scope, first_ms, until_ms)]
        days = {name: list[Line]() for name in there} | self._by_day(lines)
        for name, some in days.items():
            self._write(_path(folder, name), partial(_followed, name, some, written_ms))

    def _memories(self, scope: Scope, since_ms: int, until_ms: int) -> Iterator[Line]:
        for row in rows_of(self._remembered, scope.place, EVERY):
            if row.recorded_ms < since_ms:
                return
            if row.memory.scope == scope and row.recorded_ms < until_ms:
                yield self.made(row.recorded_ms, row.memory.id, row.memory.text)

    def _write(self, path: str, changed: Callable[[str | None], str | None]) -> None:
        """One file; one that changes all the time is left for the next sync."""
        for _ in range(_TRIES):
            read = self._files.read(path)
            if read is not None and read.why:
                return
            was = read.text if read else None
            text = changed(was)
            if text == was or self._files.write(path, text, read.stamp if read else None):
                return
        self._files.busy = True

    def _by_day(self, lines: Iterable[Line]) -> dict[str, list[Line]]:
        days = defaultdict[str, list[Line]](list)
        for line in sorted(set(lines)):
            days[self._date(line.ts_ms).isoformat()].append(line)
        return days

    def _line(self, ts_ms: int, what: str, words: str) -> Line:
        key = hashlib.sha256(what.encode()).hexdigest()[:16]
        clock = datetime.fromtimestamp(ts_ms / 1000, self._zone).strftime("%H:%M")
        return Line(ts_ms, key, clean(f"{clock} {' '.join(words.split())}"))

    def _date(self, ts_ms: int) -> date:
        return datetime.fromtimestamp(ts_ms / 1000, self._zone).date()

    def _start_ms(self, day: date) -> int:
        return int(datetime.combine(day, time.min, self._zone).timestamp() * 1000)


def _path(folder: str, name: str) -> str:
    return f"{folder}/{JOURNAL}/{name}.md"


def _begun(name: str, text: str | None) -> Document:
    return parse(text, None, "j") if text is not None else Document([f"# {name}", ""], letter="j")


def _added(name: str, lines: Sequence[Line], text: str | None) -> str | None:
    """A day's file with new lines at its end."""
    there = text or ""
    fresh = [Bullet.of(line.key, line.text) for line in lines if f" j:{line.key} " not in there]
    more = "".join(f"{line}\n" for bullet in fresh for line in bullet.written("j"))
    if fresh and _LAST_LINE.search(there[-80:]) and len((there + more).encode()) < FULL_BYTES:
        return there + more
    return _put(_begun(name, text), fresh) if fresh else text


def _followed(name: str, lines: Sequence[Line], written_ms: int, text: str | None) -> str | None:
    """A day's file as it should be: without what is gone, and with what is new."""
    document = _begun(name, text)
    now = {line.key: line for line in lines}
    there = set[str]()
    for bullet in filter(lambda bullet: bullet.id, document.bullets):
        there.add(bullet.id)
        if bullet.touched:
            continue  # the person's words by now
        if bullet.id in now:
            bullet.become(bullet.id, now[bullet.id].text)
        else:
            bullet.gone = True
    fresh = [line for line in lines if line.key not in there and line.ts_ms > written_ms]
    if text is None and not fresh:
        return None
    return _put(document, [Bullet.of(line.key, line.text) for line in fresh])


def _put(document: Document, bullets: Sequence[Bullet]) -> str:
    if document.add("", bullets) < len(bullets) and MORE not in document.parts:
        document.parts.append(MORE)
    return document.text(max(document.generation, 0))
