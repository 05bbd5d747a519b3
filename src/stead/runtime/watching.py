"""Comparing what schedules watch, at their times: a look without a model, and a run only where something has changed.

Layer: runtime. A change is recorded together with the run that is due for it, in one transaction, before that starts.
A look that finds nothing new leaves nothing in the record: that it was made is known in memory alone, and after a start
the last time that has come counts once. Looks hold no lock, so that a slow source keeps no other schedule waiting.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from stead.domain import due_times, watches
from stead.domain.errors import InvalidRequest, SteadError, ToolFault
from stead.domain.ids import NO_COMMAND
from stead.domain.opening import OpenSession
from stead.domain.ports import Clock
from stead.domain.schedules import (
    Schedule,
    ScheduleCompared,
    ScheduleDue,
    ScheduleFact,
    ScheduleRun,
    ScheduleSwitched,
    Standing,
    watched,
)
from stead.domain.sessions import Session
from stead.domain.triggers import Mailbox
from stead.runtime.home import HomeStream
from stead.runtime.schedule_changes import known_of

log = logging.getLogger(__name__)
LASTS = 3
"""Looks in a row that fail before the person is notified."""
_RETRY_MS, _LONGEST_MS = 60_000, 6 * 3_600_000
_AT_ONCE = 4
_TEXT_CHARS = 500
_LISTED = 500
"""Paths at most in what a call says of its changes."""
_WINDOWS_MS = (3_600_000, 86_400_000, 32 * 86_400_000)
"""How far back a time is looked for that has come: only the last one counts."""


class _Nowhere:
    """Where nothing can be looked at. Implements ``Looks``."""

    async def look(self, watch: watches.Watch, place: watches.Place) -> watches.Look:
        raise ToolFault("nothing can be watched here")


@dataclass
class _Seen:
    """What is known of a schedule's looks since Stead was started. ``since_ms``: up to then none is due."""

    since_ms: int = 0
    checked_ms: int = 0
    quiet: int = 0
    failures: int = 0


class Watching:
    """Of all schedules.

    Args:
        home: has them, and records what has changed.
        clock: says what time it is.
        lock: of what is decided about schedules.
        start: starts the run of a schedule that waits; the lock is held.
    """

    def __init__(
        self, home: HomeStream, clock: Clock, lock: asyncio.Lock, start: Callable[[str], Awaitable[None]]
    ) -> None:
        self._home = home
        self._clock = clock
        self._lock = lock
        self._start = start
        self._seen: dict[str, _Seen] = {}
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._lanes = asyncio.Semaphore(_AT_ONCE)
        self.looks: watches.Looks = _Nowhere()
        self.clean: Callable[[str], str] = str
        """Words of a source as they may be recorded."""

    # -- what people ask -------------------------------------------------------------------------------------------

    def counts(self, name: str) -> tuple[int, int]:
        """When a schedule's watches were compared last, and how often nothing had changed, since the start."""
        seen = self._seen.get(name, _Seen())
        return seen.checked_ms, seen.quiet

    def quiet_run(self, name: str) -> tuple[ScheduleRun, ...]:
        """The looks that found nothing, as one line of the history; none where there were none."""
        at_ms, times = self.counts(name)
        run = ScheduleRun(
            at_ms, "clock", at_ms, ended_ms=at_ms, end="skipped", text="unchanged", times=times, last_ms=at_ms
        )
        return (run,) if times else ()

    async def check(self, name: str) -> tuple[watches.WatchCheck, ...]:
        """See ``service.ScheduleQueries``."""
        one, checks = known_of(self._home.state.schedules, name), list[watches.WatchCheck]()
        for number, watch in enumerate(watched(one.schedule)):
            was = watches.part_of(one.mark, number)
            try:
                look, now = await self._look(number, watch, one)
            except SteadError as fault:
                checks.append(watches.WatchCheck(watches.words(watch), "unreachable", self.clean(str(fault))))
                continue
            state: watches.State = "new" if not was else "unchanged" if was == now else "changed"
            text = (
                watches.summary(watch, was, now, look)
                if state == "changed"
                else look.value or f"{len(look.items)} items"
            )
            checks.append(watches.WatchCheck(watches.words(watch), state, self.clean(text)))
        return tuple(checks)

    # -- what happens by itself ------------------------------------------------------------------------------------

    def next_ms(self, one: Standing) -> int | None:
        """When a schedule comes due next, watched or not; None while a look of it is under way."""
        if one.schedule.name in self._under_way:
            return None
        return due_times.next_due(self._later(one))

    def begin(self, over: Callable[[], None]) -> None:
        """Begin the looks that are due; ``over`` is called after each."""

        def ended(task: asyncio.Task[None]) -> None:
            del self._under_way[task.get_name()]
            over()

        for name in self._due():
            if name not in self._under_way:
                task = self._under_way[name] = asyncio.create_task(self._try(name), name=name)
                task.add_done_callback(ended)

    async def settle(self) -> None:
        """Make the looks that are due, and wait for them."""
        await asyncio.gather(*map(self._try, self._due()))

    def close(self) -> None:
        """End the looks under way; nothing of them is recorded."""
        for task in tuple(self._under_way.values()):
            task.cancel()

    def _due(self) -> list[str]:
        found, now_ms = [], self._clock.now_ms()
        for name, one in self._home.state.schedules.items():
            with suppress(InvalidRequest):  # a zone that the host has no more; ``Schedules`` says so
                if one.on and watched(one.schedule):
                    at = due_times.next_due(self._later(one))
                    found += [name] if at is None or at <= now_ms else []
        return found

    def _later(self, one: Standing) -> Standing:
        seen = self._seen.get(one.schedule.name)
        return replace(one, since_ms=max(one.since_ms, seen.since_ms)) if seen else one

    async def _try(self, name: str) -> None:
        """Compare one. A fault puts it off."""
        seen = self._seen.setdefault(name, _Seen())
        try:
            async with self._lanes:
                await self._compare(name, seen)
        except SteadError as fault:
            log.warning("schedule %s: %s", name, fault)
            seen.since_ms = self._clock.now_ms() + _RETRY_MS

    async def _compare(self, name: str, seen: _Seen) -> None:
        one, now_ms = self._home.state.schedules[name], self._clock.now_ms()
        dues, over = await asyncio.to_thread(_times, self._later(one), now_ms)
        compared, changed, faults = None, "", list[str]()
        if dues:
            compared, changed, faults = await self._compared(one, seen)
        async with self._lock:
            if self._home.state.schedules.get(name) != one:
                return  # it was changed meanwhile: what was found is of another mark
            facts: list[ScheduleFact] = [*((compared,) if compared else ())]
            facts += [replace(dues[-1], given="\n\n".join(filter(None, (dues[-1].given, changed))))] if changed else []
            if facts or over:
                await self._home.record(*facts, *over, cause=NO_COMMAND)
            seen.failures = seen.failures + 1 if faults else 0
            wait_ms = min(_RETRY_MS << min(seen.failures, 10), _LONGEST_MS) if faults else 0
            seen.since_ms = now_ms + wait_ms
            if dues and not faults:
                seen.checked_ms, seen.quiet = now_ms, seen.quiet + (not changed)
            if changed:
                await self._start(name)

    async def _compared(self, one: Standing, seen: _Seen) -> tuple[ScheduleCompared | None, str, list[str]]:
        """The fact to be recorded, if there is any; what has changed since the last mark; what could not be seen."""
        before, after, texts, faults = dict[str, str](), dict[str, str](), list[str](), list[str]()
        for number, watch in enumerate(watched(one.schedule)):
            was = watches.part_of(one.mark, number)
            try:
                look, now = await self._look(number, watch, one)
            except SteadError as fault:
                faults.append(f"{watches.words(watch)}: {fault}")
                continue
            gone, come = watches.difference(_numbered(number, was), _numbered(number, now))
            before, after = {**before, **gone}, {**after, **come}
            if was and come:
                texts.append(watches.summary(watch, was, now, look))
        said = self.clean("; ".join(faults))[:_TEXT_CHARS]
        # It is said once: what is said again each time would be no news.
        trouble = "" if not faults else one.trouble or (said if seen.failures + 1 >= LASTS else "")
        fact = ScheduleCompared(one.schedule.name, before, after, trouble)
        news = before or after or trouble != one.trouble
        return fact if news else None, self.clean("\n\n".join(texts)), faults

    async def _look(self, number: int, watch: watches.Watch, one: Standing) -> tuple[watches.Look, watches.Mark]:
        """A look, and the part of the mark that it makes."""
        look = await self.looks.look(watch, _place(one.schedule))
        if isinstance(watch, watches.FeedWatch | Mailbox):
            look = watches.with_old_entries(look, watches.part_of(one.mark, number))
        return look, watches.part_of(watches.mark_of(number, look), number)

    async def own(self, one: Standing, paths: frozenset[str] | None) -> tuple[ScheduleCompared, ...]:
        """The fact that what a run changed itself is no news to the next one.

        Args:
            one: whose run has ended.
            paths: as of ``changed_by``.
        """
        before, after = dict[str, str](), dict[str, str]()
        for number, watch in enumerate(watched(one.schedule)):
            was = watches.part_of(one.mark, number)
            if paths == frozenset() or not was or not isinstance(watch, watches.PathWatch):
                continue
            try:
                look, _ = await self._look(number, watch, one)
            except SteadError as fault:
                log.warning("schedule %s: what its run changed will count as news: %s", one.schedule.name, fault)
                continue
            items = {name: value for name, value in was.items() if name and not _is_of(name, paths)}
            items |= {name: value for name, value in look.items.items() if _is_of(name, paths)}
            gone, come = watches.difference(_numbered(number, was), watches.mark_of(number, watches.Look(items=items)))
            before, after = {**before, **gone}, {**after, **come}
        return (ScheduleCompared(one.schedule.name, before, after, one.trouble),) if after else ()


def _times(one: Standing, now_ms: int) -> tuple[list[ScheduleDue], list[ScheduleSwitched]]:
    """What its times that have come make by its policies; of those long past the last one counts."""
    facts: tuple[due_times.DueFact, ...] = ()
    for back_ms in (*_WINDOWS_MS, now_ms):
        facts = due_times.settle(replace(one, since_ms=max(one.since_ms, now_ms - back_ms)), now_ms)
        if any(not isinstance(fact, ScheduleSwitched) for fact in facts):
            break
    dues = [fact for fact in facts if isinstance(fact, ScheduleDue)]
    return dues, [fact for fact in facts if isinstance(fact, ScheduleSwitched)]


def _place(schedule: Schedule) -> watches.Place:
    job = schedule.job
    return watches.Place(job.directory, job.hosts, job.ignore) if isinstance(job, OpenSession) else watches.Place("")


def _numbered(number: int, part: watches.Mark) -> watches.Mark:
    return {f"{number}:{name}": value for name, value in part.items()}


def changed_by(session: Session) -> frozenset[str] | None:
    """What a run changed of its folder; None where not all of that is known.

    A call that changed more than is listed leaves it open, and so do subagents.
    """
    if session.agents or any(len(action.changed) + len(action.removed) >= _LISTED for action in session.actions):
        return None
    paths = (path.rstrip("/") for action in session.actions for path in (*action.changed, *action.removed))
    return frozenset(paths)


def _is_of(name: str, paths: frozenset[str] | None) -> bool:
    """Whether a file is one of these, or lies in one."""
    return paths is None or name in paths or any(name.startswith(f"{path}/") for path in paths)
