"""Background requests give way to people's work where one server answers both.

Layer: runtime. A model that runs on this computer often serves one request at a time: what Stead asks of it for itself
must not keep an objective waiting, so it is broken off as soon as a session asks a model, and made again another time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from stead.domain import events as ev
from stead.domain.errors import ModelFault
from stead.domain.ids import SessionId
from stead.runtime.bus import Subscription

_T = TypeVar("_T")


async def unless_needed(work: Coroutine[object, object, _T], watch: Subscription, own: SessionId) -> _T:
    """The result of ``work``, unless a session asks a model meanwhile.

    Args:
        work: a request; it is cancelled.
        watch: what happens; closed at the end.
        own: the stream whose requests are the background's own.

    Raises:
        ModelFault: of kind "stopped", not charged; otherwise what ``work`` raises.
    """
    working, needed = asyncio.create_task(work), asyncio.create_task(_asked(watch, own))
    try:
        await asyncio.wait((working, needed), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ModelFault("it gave way to a session's request; it is made again later", kind="stopped", charged=False)
    finally:
        watch.close()
        for task in (working, needed):
            task.cancel()
        await asyncio.gather(working, needed, return_exceptions=True)


async def _asked(watch: Subscription, own: SessionId) -> None:
    """Wait until a session has asked a model, or so much happened that nobody can say."""
    while items := await watch.next():
        events = (item for item in items if isinstance(item, ev.Event) and item.session != own)
        if any(isinstance(event.body, ev.ModelRequested | ev.ReadingRequested) for event in events):
            return
