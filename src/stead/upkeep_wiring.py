"""Puts together what runs in the background next to heads, views, notifications and memory.

Layer: a part of the composition root, as ``memory_wiring``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from stead import __version__
from stead.config import Home, Settings
from stead.domain.mcp import Programs
from stead.domain.ports import Clock
from stead.domain.watches import FileLooks
from stead.net.dialing import Dialer
from stead.providers.models import ProviderModels
from stead.runtime.alarms import SleepWatch
from stead.runtime.calendars import CalendarEvents
from stead.runtime.cap_warnings import CapWarnings
from stead.runtime.commands import Runtime
from stead.runtime.home import HomeStream
from stead.runtime.retention import Retention
from stead.runtime.tracing import Traces
from stead.runtime.trash import Trash
from stead.storage.journal import JournalFile
from stead.storage.views import Views
from stead.tools.looking import SourceLooks
from stead.trigger_wiring import TriggerHouse

log = logging.getLogger(__name__)

RETRY_S, LONGEST_RETRY_S = 2.0, 60.0
"""Before work that a fault broke off begins again; twice as long after each that followed at once."""
Job = Callable[[], Awaitable[None]]


class Parts(Protocol):
    """What the jobs work with."""

    journal: JournalFile
    views: Views
    home: HomeStream
    runtime: Runtime
    models: ProviderModels
    clock: Clock


def look_at_sources(runtime: Runtime, dialer: Dialer, programs: Programs, files: FileLooks) -> None:
    """Have what schedules watch looked at; the arguments as of ``SourceLooks``."""
    password = runtime.arrivals.password
    runtime.schedules.watching.looks = SourceLooks(dialer, programs, files, CalendarEvents(), password)


def upkeep_jobs(parts: Parts, home: Home, settings: Settings, timer: Callable[[], int] | None) -> tuple[Job, ...]:
    """Trash and archives, warnings of caps, traces, what comes due or in, and what a sleep of the host broke off.

    Args:
        parts: of the home.
        home: its folders.
        settings: of the home.
        timer: as of ``WallAlarm``.
    """
    runtime, clock = parts.runtime, parts.clock
    return (
        Trash(parts.views, runtime, clock).keep,
        Retention(parts.views, runtime, parts.journal, clock, settings.archive_after_days).keep,
        CapWarnings(parts.home, runtime.bus, clock, partial(parts.journal.spent, settled=True)).keep,
        Traces(runtime.bus, settings.otlp_endpoint, __version__).keep,
        runtime.schedules.keep,
        TriggerHouse(home, settings, runtime, clock).keep,
        SleepWatch(clock, (parts.models.woke, runtime.schedules.turn.set), timer).keep,
    )


async def keep_on(job: Job) -> None:
    """Run a job until it ends; one that a fault of ours broke off is logged and begins again."""
    loop, wait_s = asyncio.get_running_loop(), RETRY_S / 2
    while True:
        task, began_s = asyncio.ensure_future(job()), loop.time()
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        if (fault := task.exception()) is None:
            return
        wait_s = RETRY_S if loop.time() - began_s > LONGEST_RETRY_S else min(2 * wait_s, LONGEST_RETRY_S)
        log.error("background work was broken off; it begins again in %d s", wait_s, exc_info=fault)
        await asyncio.sleep(wait_s)
