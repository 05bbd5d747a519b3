"""Shows in a chat that its session works: that something is being written, and how far it is, by one edited message.

Layer: runtime. For the eye alone: it is not recorded, not tried again, and missing from nothing. It says how many steps
were made and for how long, in Stead's own words; what a model says and which tools it uses is not in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from stead.domain import channel_wire as wire
from stead.domain import events as ev
from stead.domain.channels import Channels, Place
from stead.domain.ids import SessionId
from stead.domain.notifications import Undelivered
from stead.runtime.bus import Bus
from stead.runtime.channel_process import ChannelProcess

log = logging.getLogger(__name__)
TYPING_S, FIRST_S, EDIT_S = 4.0, 8.0, 5.0
"""How often typing is shown; how long a turn works before it is said how far it is; how often that is changed."""


@dataclass
class _Turn:
    began_s: float
    typed_s: float = 0.0
    edited_s: float = 0.0
    steps: int = 0
    message: str = ""
    doing: asyncio.Task[None] | None = None


@dataclass(eq=False, repr=False)
class ChatProgress:
    """The caller of ``keep`` owns the work.

    Args:
        bus: what happens.
        known: channels and chats, as they are now.
        processes: the channels that run, by name.
        manifest: what a channel's platform can do.
    """

    _bus: Bus
    _known: Callable[[], Channels]
    _processes: Mapping[str, ChannelProcess]
    _manifest: Callable[[str], wire.Manifest | None]

    def __post_init__(self) -> None:
        self._turns: dict[SessionId, _Turn] = {}

    async def keep(self) -> None:
        """Show it, until cancelled."""
        subscription = self._bus.subscribe(own=True)
        try:
            while True:
                items = await subscription.next()
                if subscription.overrun:
                    subscription.close()
                    subscription = self._bus.subscribe(own=True)
                    self._turns.clear()
                for item in items:
                    if isinstance(item, ev.Event) and (place := self._known().places.get(item.session)):
                        self._shown(item, place)
        finally:
            subscription.close()

    def _shown(self, event: ev.Event, place: Place) -> None:
        process, now_s = self._processes.get(place.channel), asyncio.get_running_loop().time()
        match event.body:
            case ev.TurnEnded() | ev.ObjectiveEnded() | ev.SessionPaused():
                turn = self._turns.pop(event.session, None)
                if process and turn and turn.doing:
                    self._edit(process, place, turn, f"Worked {_for(now_s - turn.began_s, turn.steps)}.")
                return
            case ev.ApprovalRequested():
                return  # it waits
            case ev.MessageReceived() | ev.ModelRequested() | ev.ToolStarted():
                turn = self._turns.setdefault(event.session, _Turn(now_s))
            case _:
                return
        turn.steps += isinstance(event.body, ev.ToolStarted)
        if process is None or process.state != "connected":
            return
        if now_s - turn.typed_s >= TYPING_S:
            turn.typed_s = now_s
            process.tell(wire.Typing(place.chat, place.thread))
        if now_s - turn.began_s >= FIRST_S and now_s - turn.edited_s >= EDIT_S:
            turn.edited_s = now_s
            self._edit(process, place, turn, f"Working: {_for(now_s - turn.began_s, turn.steps)}")

    def _edit(self, process: ChannelProcess, place: Place, turn: _Turn, text: str) -> None:
        """Change the message after the change before it; it is waited for by nothing."""
        manifest = self._manifest(place.channel)
        if manifest is not None and manifest.edits:
            turn.doing = asyncio.create_task(_edited(process, place, turn, text, turn.doing), name="progress in a chat")


async def _edited(
    process: ChannelProcess, place: Place, turn: _Turn, text: str, before: asyncio.Task[None] | None
) -> None:
    if before is not None:
        await asyncio.wait([before])
    with suppress(Undelivered):
        if turn.message:
            await process.edit(wire.Edit(0, place.chat, turn.message, text))
        else:
            turn.message = await process.send(wire.Send(0, "", place.chat, place.thread, text))


def _for(seconds: float, steps: int) -> str:
    lasted = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{steps} step{'' if steps == 1 else 's'}, {lasted}"
