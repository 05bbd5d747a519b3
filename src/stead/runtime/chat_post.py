"""What goes to chats: found in the journal, kept in the outbox, sent in order to each chat until it arrived.

Layer: runtime. A reply, a question, an end is found once, and sent under the same id however often it has to be tried.
The outbox has no words of a session: they are read from the journal when they are sent, and cleaned as for anybody
who is not at the page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from stead.domain import channel_wire as wire
from stead.domain.channels import Chat, Place
from stead.domain.errors import SteadError, StorageFault
from stead.domain.ids import CommandId, SessionId
from stead.domain.notices import Notice, plain
from stead.domain.notifications import ChatTarget, Message, NotificationTarget, Undelivered
from stead.domain.ports import Clock
from stead.domain.rows import ApprovalRow
from stead.runtime.alarms import WallAlarm
from stead.runtime.channel_process import ChannelProcess
from stead.runtime.chat_finding import ChatFinder
from stead.runtime.chat_messages import KIND, ChatMessages
from stead.runtime.chat_questions import Buttons
from stead.runtime.chat_rates import Pace
from stead.runtime.chat_writing import ELSEWHERE, ChatWriter, is_question
from stead.runtime.home import HomeStream
from stead.runtime.notifications import FIRST_RETRY_S, GIVEN_UP_MS, LONGEST_RETRY_S

if TYPE_CHECKING:
    from stead.storage.chat_box import ChatBox
    from stead.storage.outbox import Outgoing

log = logging.getLogger(__name__)
_LOOK_AGAIN_MS, _WHY_CHARS = 30_000, 300
_SET_BACK_MS = 5_000
"""A clock that goes back by more was set."""


class ChatPost:
    """The caller of ``keep`` owns the work.

    Args:
        home: has the chats; asked for when needed.
        finder: finds what is to be sent.
        writer: knows what is said of it.
        messages: what calls of tools send.
        box: opens the outbox.
        processes: the channels that run, by name.
        clock: says what time it is.
    """

    def __init__(
        self,
        home: Callable[[], HomeStream],
        finder: ChatFinder,
        writer: ChatWriter,
        messages: ChatMessages,
        box: Callable[[], ChatBox],
        processes: Mapping[str, ChannelProcess],
        clock: Clock,
    ) -> None:
        self.turn = asyncio.Event()
        self.waits = ""
        """Why nothing can be sent to any chat for now; "" where it can."""
        self._home = home
        self._finder = finder
        self._writer = writer
        self.messages = messages
        self._open = box
        self._processes = processes
        self._clock = clock
        self._held = False
        self._seen_ms = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._pace = Pace()

    def noticed(self) -> None:
        """Something happened. Called on the loop."""
        if self._home().state.channels.chats:
            self.turn.set()

    async def say(self, place: Place, id: str, text: str) -> None:
        """Have Stead's own words sent to a place, once for an id."""
        notice = Notice(0, "", "said", text, self._clock.now_ms())
        await asyncio.to_thread(self._open().say, place.key, f"{id}:said", notice)
        self.turn.set()

    def later(self, via: ChatTarget, notice: Notice, due_ms: int, waits: bool) -> bool:
        """Have a notification to a chat, unless it is due at once, come with what waits there. In a thread.

        Whether it does; or it did before, and a crash had the notification found once more.
        """
        key, box = Place(via.channel, via.chat).key, self._open
        try:
            if box().knows(key, notice):
                return True
            if not waits:
                return False
            box().add([(key, replace(notice, kind=f"{ELSEWHERE}{notice.kind}"), due_ms, True)], 0)
        except StorageFault as fault:
            log.error("a notification is not put with what else goes to a chat: %s", fault)
            return False
        self._wake()
        return True

    def whole(self, place: Place, id: CommandId, row: ApprovalRow) -> None:
        """Have all arguments of a question sent. In a thread."""
        self._open().say(place.key, f"{id}:whole", Notice(0, row.session, "whole", row.id, self._clock.now_ms()))
        self._wake()

    def _wake(self) -> None:
        """In a thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.turn.set)

    # -- what happens by itself ------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Find what is to be sent and send it, now and whenever something happens or a time comes."""
        self._loop = asyncio.get_running_loop()
        alarm = WallAlarm(self.turn.set)
        try:
            while True:
                self.turn.clear()
                now_ms = self._clock.now_ms()
                try:
                    alarm.set(await self._round(now_ms), now_ms)
                    self.waits = ""
                except SteadError as fault:
                    log.error("what goes to chats waits: %s", fault)
                    if isinstance(fault, StorageFault):  # any other stops nothing that comes in
                        self.waits = f"what goes to chats waits: {fault}"
                    alarm.set(now_ms + _LOOK_AGAIN_MS, now_ms)
                await self.turn.wait()
        finally:
            alarm.close()
            tasks = list(self._sending.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _round(self, now_ms: int) -> int | None:
        known = self._home().state.channels
        if not known.channels:
            return None
        box = await asyncio.to_thread(self._open)
        if not self._held:
            self._held = True
            self.messages.hold(await asyncio.to_thread(box.files))
        if now_ms < self._seen_ms - _SET_BACK_MS:  # what waits for a time would wait for as much longer
            await asyncio.to_thread(box.retry)
        self._seen_ms = now_ms
        await asyncio.to_thread(self._finder.find, box, now_ms)
        times: list[int] = []
        for key in await asyncio.to_thread(box.targets):
            process = self._processes.get(Place.of(key).channel)
            if key in self._sending or process is None or process.state != "connected":
                continue  # it is looked again when one of these changes
            outgoing = await asyncio.to_thread(box.head, key, now_ms, _grouped)
            if outgoing and outgoing.next_ms <= now_ms:
                self._sending[key] = asyncio.create_task(self._send(box, key, process, outgoing), name="to a chat")
            elif due := await asyncio.to_thread(box.due_ms, key):
                times.append(due if due > now_ms else now_ms + _LOOK_AGAIN_MS)
        return min(times, default=None)

    def _chat(self, place: Place) -> Chat | None:
        return self._home().state.channels.chats.get((place.channel, place.chat))

    # -- sending ---------------------------------------------------------------------------------------------------

    async def _send(self, box: ChatBox, key: str, process: ChannelProcess, outgoing: Outgoing) -> None:
        """Send one message, and record how that went."""
        place, notice = Place.of(key), outgoing.notices[0]
        try:
            await self._paced(place, process)
            if len(outgoing.notices) > 1:
                text = await self._writer.digest(self._chat(place), outgoing.notices)
                done = bool(text and await self._delivered(place, process, outgoing.id, text))
            else:
                done = await self._sent(box, place, process, outgoing.id, notice)
            await asyncio.to_thread(box.settle, outgoing, "sent" if done else "void", self._clock.now_ms())
            await self._let_go(box, notice)
        except StorageFault as fault:
            log.error("a message to a chat of %s waits: %s", place.channel, fault)
        except SteadError as fault:
            await self._failed(box, outgoing, fault if isinstance(fault, Undelivered) else Undelivered(str(fault)))
        finally:
            del self._sending[key]
        self.turn.set()

    async def _paced(self, place: Place, process: ChannelProcess) -> None:
        """Keep to the platform's pace for one chat."""
        now_s, manifest = asyncio.get_running_loop().time(), self._writer.manifest(place.channel)
        wait_s = self._pace.wait_s((place.channel, place.chat), now_s, manifest) if manifest else 0
        if wait_s > 0 and process.state == "connected":
            await asyncio.sleep(wait_s)

    async def _failed(self, box: ChatBox, outgoing: Outgoing, fault: Undelivered) -> None:
        now_ms, why = self._clock.now_ms(), plain(self._writer.clean(str(fault)), _WHY_CHARS)
        wait_s = max(fault.after_s, min(FIRST_RETRY_S * 2**outgoing.tries, LONGEST_RETRY_S))
        next_ms = now_ms + round(wait_s * 1000)
        over = fault.final or next_ms > outgoing.made_ms + GIVEN_UP_MS
        log.warning("a message to a chat %s: %s", "is given up" if over else "waits", why)
        await asyncio.to_thread(box.settle, outgoing, "lost" if over else "open", now_ms, next_ms, why)
        if over:
            await self._let_go(box, outgoing.notices[0])

    async def _let_go(self, box: ChatBox, notice: Notice) -> None:
        """Keep a file no longer that no other message is to take along."""
        if notice.kind == KIND and notice.of and notice.of not in await asyncio.to_thread(box.files):
            self.messages.release(notice.of)

    async def _sent(self, box: ChatBox, place: Place, process: ChannelProcess, id: str, notice: Notice) -> bool:
        """Whether something was sent; false where there is nothing to say any more."""
        chat = self._chat(place)
        if notice.kind == "settled":
            return chat is not None and await self._edited(box, place, process, notice)
        text, buttons, files = await self._writer.said(chat, notice)
        if not text and not files:
            return False
        about = {"question": notice.of, "whole": f"whole:{notice.of}"}.get(notice.kind.removeprefix(ELSEWHERE), "")
        if about:
            await self._asked(box, place, process, id, about, text, buttons)
        else:
            await self._delivered(place, process, id, text, buttons, files)
        return True

    async def _asked(
        self, box: ChatBox, place: Place, process: ChannelProcess, id: str, about: str, text: str, buttons: Buttons
    ) -> None:
        """Send a question. That it is here is known before it is: a press may come before the platform's answer."""
        if not about.startswith("whole:"):  # all of it counts as shown once it was
            await asyncio.to_thread(box.post, place.key, about, "")
        name = await self._delivered(place, process, id, text, buttons)
        await asyncio.to_thread(box.post, place.key, about, name)

    async def _delivered(
        self,
        place: Place,
        process: ChannelProcess,
        id: str,
        text: str,
        buttons: Buttons = (),
        files: tuple[wire.FileOut, ...] = (),
    ) -> str:
        manifest = self._writer.manifest(place.channel)
        if buttons and manifest and not manifest.buttons:
            codes = "\n".join(f"{one.data}   {one.text}" for row in buttons for one in row)
            text, buttons = f"{text}\n\nReply with a code:\n{codes}", ()
        return await process.send(wire.Send(0, id, place.chat, place.thread, text, buttons, files))

    async def _edited(self, box: ChatBox, place: Place, process: ChannelProcess, notice: Notice) -> bool:
        """Put how a question was answered in place of it; where no message can be changed, say so by another."""
        row = await self._writer.row(notice.of)
        message = (await asyncio.to_thread(box.posted, notice.of)).get(place.key)
        text, manifest = self._writer.settled(row), self._writer.manifest(place.channel)
        if message and manifest and manifest.edits:
            await process.edit(wire.Edit(0, place.chat, message, text))
        elif row.door != getattr(self._chat(place), "door", ""):
            await process.send(wire.Send(0, f"{notice.of}:settled", place.chat, place.thread, text.split("\n")[0]))
        return True

    # -- notifications ---------------------------------------------------------------------------------------------

    def tells(self, target: NotificationTarget, session: SessionId) -> bool:
        """Whether a session talks in the very chat that is to be notified, so that it is said there anyhow."""
        via = target.via
        place = self._finder.place(session) if isinstance(via, ChatTarget) else None
        return (
            place is not None and isinstance(via, ChatTarget) and (place.channel, place.chat) == (via.channel, via.chat)
        )

    async def deliver(self, via: ChatTarget, message: Message) -> None:
        """Send a notification to a chat; raises ``Undelivered``."""
        place, process = Place(via.channel, via.chat), self._processes.get(via.channel)
        chat = self._chat(place)
        if chat is None:
            raise Undelivered("the chat is paired no more", gone=True)
        if process is None or process.state != "connected":
            raise Undelivered(f"the channel {via.channel} is not connected")
        if message.about:
            row = await self._writer.row(message.about)
            text, buttons = self._writer.question(chat, row)
            await self._asked(self._open(), place, process, message.id, row.id, text, buttons)
            return
        lines = (message.title, *message.lines, message.link)
        await self._delivered(place, process, message.id, self._writer.clean("\n".join(lines)))


def _grouped(due: Sequence[tuple[Notice, bool]], _made: Sequence[int]) -> Sequence[Sequence[Notice]]:
    """What waited together, but each question by itself, as it has buttons of its own; the rest one by one."""
    digest = [notice for notice, waited in due if waited and not is_question(notice)]
    return [*([digest] if digest else []), *([notice] for notice, _ in due if notice not in digest)]
