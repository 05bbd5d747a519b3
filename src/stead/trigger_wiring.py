"""Puts what listens for arrivals together: the listener for webhooks, watched folders, mailboxes; each while wanted.

Layer: a part of the composition root, as ``memory_wiring``. A home without triggers has none of it loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any

from stead.config import Home, Settings
from stead.domain.errors import SteadError
from stead.domain.ports import Clock
from stead.domain.triggers import Drop, Mailbox, Source, Webhook
from stead.runtime.commands import Runtime

log = logging.getLogger("stead")
RETRY_S = 30.0


class TriggerHouse:
    """All of it.

    Args:
        home: its folders.
        settings: the port of the listener and how senders reach it.
        runtime: has the triggers, and takes in what comes.
        clock: says what time it is.
    """

    def __init__(self, home: Home, settings: Settings, runtime: Runtime, clock: Clock) -> None:
        self._home = home
        self._settings = settings
        self._arrivals = runtime.arrivals
        self._clock = clock
        self._turn = asyncio.Event()
        self._watching: dict[str, tuple[Source, asyncio.Task[None]]] = {}
        runtime.schedules.on_turn = runtime.arrivals.listen_again = self._turn.set

    async def keep(self) -> None:
        """Listen for what is wanted now, and again whenever that changes; until cancelled."""
        try:
            while True:
                self._turn.clear()
                again = await self._listen()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._turn.wait(), RETRY_S if again else None)
        finally:
            for _, task in self._watching.values():
                task.cancel()
            if listener := self._arrivals.listener:
                await listener.keep(wanted=False)

    async def _listen(self) -> bool:
        """Open and close what has to be; whether something could not be opened."""
        wanted = self._arrivals.sources()
        hooks = [name for name, source in wanted.items() if isinstance(source, Webhook)]
        channels = self._arrivals.channels
        for name in self._arrivals.faults.keys() - wanted.keys():  # one that comes back meanwhile was not tried yet
            del self._arrivals.faults[name]
        fault = await self._keep_listener(wanted=bool(hooks) or (channels is not None and channels.wanted))
        for name in hooks:
            self._arrivals.faults[name] = fault
        for name, (source, task) in list(self._watching.items()):
            if wanted.get(name) != source or task.done():
                task.cancel()
                self._arrivals.faults.pop(self._watching.pop(name) and name, None)
        for name, source in wanted.items():
            if not isinstance(source, Webhook) and name not in self._watching:
                watching = asyncio.create_task(self._watch(name, source), name=f"trigger {name}")
                watching.add_done_callback(self._ended)
                self._watching[name] = source, watching
        self._arrivals.listened.set()
        return bool(fault)

    async def _keep_listener(self, *, wanted: bool) -> str:
        if wanted and self._arrivals.listener is None:
            from stead.web.webhooks import WebhookListener

            kept, s = self._home.root / "webhooks.json", self._settings
            self._arrivals.listener = WebhookListener(self._arrivals, self._clock, kept, s.webhook_port, s.webhook_url)
        try:
            if self._arrivals.listener is not None:
                await self._arrivals.listener.keep(wanted=wanted)
        except (SteadError, OSError) as error:
            log.error("webhooks: %s", error)
            return str(error)
        return ""

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("%s failed, and is begun again in %d s", task.get_name(), RETRY_S, exc_info=error)
            self._arrivals.faults[task.get_name().removeprefix("trigger ")] = "it failed; see: stead logs"
            task.get_loop().call_later(RETRY_S, self._turn.set)

    def _watch(self, name: str, source: Drop | Mailbox) -> Coroutine[Any, Any, None]:
        from stead.runtime.dropped_files import DroppedFiles
        from stead.runtime.incoming_mail import IncomingMail

        if isinstance(source, Drop):
            return DroppedFiles(self._arrivals, name, source, self._home.root).keep()
        return IncomingMail(self._arrivals, name, source).keep()
