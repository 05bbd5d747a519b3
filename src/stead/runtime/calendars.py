"""Calendar files as schedules have them: read when they change, in a process of its own, and recorded as a fact.

Layer: runtime. Knows files and the reader's process; what is due is decided by ``domain.due_times``.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from stead.config import missing_extra
from stead.domain.calendars import Calendar, CalendarTimes
from stead.domain.errors import ToolFault
from stead.domain.schedules import ScheduleCalendarRead, Standing
from stead.domain.watches import Look

if TYPE_CHECKING:  # which imports what reads files; only a home with calendars needs it
    from stead.runtime.calendar_worker import Ask

WORKER = (sys.executable, "-I", "-m", "stead.runtime.calendar_worker")
LOOK_MS = 60_000
"""How long a change of a file may wait until it is seen."""
_MOST_BYTES = 5_000_000
_DEADLINE_S = 300.0
_AGAIN_MS = 3_600_000
"""When a file that could not be read is read again though it is the same: memory may have been short."""
Signature = tuple[str, int, int, int]


class CalendarReader:
    """Reads the files of calendars, and remembers which it has seen."""

    def __init__(self) -> None:
        self.clean: Callable[[str], str] = str
        """Others' words as they may be recorded."""
        self._seen: dict[str, tuple[Signature, int]] = {}
        """What the files were like when they were read last, and until when that is enough."""
        self._settled_ms: dict[str, int] = {}

    async def news(self, one: Standing, directory: str, now_ms: int) -> ScheduleCalendarRead | None:
        """What is new in the file of a schedule's calendar; None for nothing, or where it has none.

        Args:
            one: the schedule.
            directory: the folder that the file is in.
            now_ms: what time it is.
        """
        name, when, known = one.schedule.name, one.schedule.when, one.calendar
        if not isinstance(when, Calendar) or not one.on:
            return None
        signature = await asyncio.to_thread(_signature, directory, when.file)
        seen, again_ms = self._seen.get(name, (None, 0))
        if seen == signature and now_ms < again_ms and known.sha256:
            return None
        settled_ms = min(self._settled_ms.get(name, 0), now_ms)
        after_ms = max(one.since_ms, settled_ms)
        fresh = known.sha256 and now_ms < known.again_ms and not known.problem
        found = await self.read(when, directory, after_ms, now_ms, known.sha256 if fresh else "")
        if found is None:
            self._seen[name] = (signature, known.again_ms)
            return None
        self._seen[name] = (signature, found.again_ms or now_ms + _AGAIN_MS)
        if not found.sha256:  # what was known holds
            return (
                None
                if found.problem == known.problem
                else ScheduleCalendarRead(name, 0, replace(known, problem=found.problem))
            )
        same = fresh and found.problem == known.problem and _said(found, after_ms) == _said(known, after_ms)
        # A file may be written again with nothing new in it.
        return None if same else ScheduleCalendarRead(name, settled_ms, found)

    def settled(self, name: str, now_ms: int) -> None:
        """Everything that a schedule's calendar had for the time until now is recorded."""
        self._settled_ms[name] = now_ms

    async def read(
        self, when: Calendar, directory: str, after_ms: int, now_ms: int, known_sha256: str = ""
    ) -> CalendarTimes | None:
        """What a file has after a moment; None where it is known already. No ``sha256`` says that it can't be read."""
        from stead.runtime.calendar_worker import Ask

        if missing := lacking():
            return CalendarTimes(problem=missing)
        ask = Ask(after_ms, now_ms, when.before_min, when.matching, when.zone)
        found = await asyncio.to_thread(_read, directory, when.file, ask, known_sha256)
        if found is None:
            return None
        return replace(found, texts=tuple(map(self.clean, found.texts)), problem=self.clean(found.problem))


class CalendarEvents:
    """Implements ``watches.CalendarLooks``."""

    async def look(self, directory: str, source: str, data: bytes | None) -> Look:
        """See ``watches.CalendarLooks``."""
        if missing := lacking():
            raise ToolFault("{}", missing)
        try:
            content = await asyncio.to_thread(_content, directory, source) if data is None else data
        except (OSError, ValueError) as error:
            raise ToolFault("{} can't be read: {}", source, getattr(error, "strerror", None) or str(error)) from None
        answer = await asyncio.to_thread(_worked, b"null", content)
        try:
            found = msgspec.json.decode(answer, type=dict[str, tuple[str, str]] | str)
        except msgspec.MsgspecError:
            raise ToolFault("{} can't be read: it takes too much time or memory", source) from None
        if isinstance(found, str):
            raise ToolFault("{} can't be read: {}", source, found)
        items = {name: mark for name, (mark, _) in found.items()}
        return Look(items=items, words={name: text for name, (_, text) in found.items()})


def lacking() -> str:
    """What to install first; "" for nothing."""
    return missing_extra("calendar", "calendars need")


def _said(found: CalendarTimes, after_ms: int) -> list[tuple[int, str]]:
    return [(due_ms, found.texts[at]) for due_ms, at in found.times if due_ms > after_ms]


def _path(directory: str, file: str) -> str:
    """The real path of a file in a folder; "" where it leads out of it."""
    folder = os.path.realpath(directory)
    path = os.path.realpath(os.path.join(folder, file))
    return path if path.startswith(folder.rstrip("/") + "/") else ""


def _signature(directory: str, file: str) -> Signature:
    path = _path(directory, file)
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return (path, 0, 0, 0)
    return (path, info.st_ino, info.st_size, info.st_mtime_ns)


def _read(directory: str, file: str, ask: Ask, known_sha256: str) -> CalendarTimes | None:
    try:
        data = _content(directory, file)
    except (OSError, ValueError) as error:
        return CalendarTimes(problem=f"{file} can't be read: {getattr(error, 'strerror', None) or error}")
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 == known_sha256:
        return None
    try:
        found = msgspec.json.decode(_worked(msgspec.json.encode(ask), data), type=CalendarTimes)
    except msgspec.MsgspecError:
        return CalendarTimes(problem=f"{file} can't be read: it takes too much time or memory")
    if found.problem and not found.left_out:
        return CalendarTimes(problem=f"{file} can't be read: {found.problem}")
    return replace(found, sha256=sha256)


def _worked(ask: bytes, data: bytes) -> bytes:
    """What the reader's process answers; nothing where it did not come to its end."""
    try:
        done = subprocess.run(
            WORKER,
            input=ask + b"\n" + data,
            capture_output=True,
            timeout=_DEADLINE_S,
            env={"LANG": "C.UTF-8"},
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout


def _content(directory: str, file: str) -> bytes:
    """The bytes of a regular file in a folder; a pipe or a device would have the daemon wait."""
    path = _path(directory, file)
    if not path:
        raise ValueError(f"it is not in {directory}")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no file")
        data = opened.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES // 1_000_000} MB")
    return data
