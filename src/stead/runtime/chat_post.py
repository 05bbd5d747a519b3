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
from stead.domain.errors import StorageFault
from stead.domain.ids import CommandId, SessionId
from stead.domain.notices import Notice
from stead.domain.notifications import ChatTarget, Message, NotificationTarget, Undelivered
from stead.domain.rows import ApprovalRow
from stead.runtime.channel_process import ChannelProcess
from stead.runtime.chat_finding import ChatFinder
from stead.runtime.chat_house import ChatHouse
from stead.runtime.chat_messages import KIND, ChatMessages
from stead.runtime.chat_questions import Buttons
from stead.runtime.chat_rates import Pace
from stead.runtime.chat_writing import ELSEWHERE, ChatWriter, is_question
from stead.runtime.sending import OutboxSender

if TYPE_CHECKING:
    from stead.storage.chat_box import ChatBox
    from stead.storage.outbox import Outbox, Outgoing

log = logging.getLogger(__name__)
_SET_BACK_MS = 5_000
"""A clock that goes back by more was set."""


class ChatPost(OutboxSender):
    """See ``OutboxSender``; a target is a place.

    Args:
        house: what it works with.
        finder: finds what is to be sent.
        writer: knows what is said of it.
        messages: what calls of tools send.
        box: opens the outbox.
        processes: the channels that run, by name.
    """

    def __init__(
        self,
        house: ChatHouse,
        finder: ChatFinder,
        writer: ChatWriter,
        messages: ChatMessages,
        box: Callable[[], ChatBox],
        processes: Mapping[str, ChannelProcess],
    ) -> None:
        super().__init__(
            "what goes to chats waits",
            lambda key: f"a message to a chat of {Place.of(key).channel}",
            house.clock,
            writer.clean,
        )
        self._house = house
        self._finder = finder
        self._writer = writer
        self.messages = messages
        self._open = box
        self._processes = processes
        self._held = False
        self._seen_ms = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pace = Pace()

    def noticed(self) -> None:
        """Something happened. Called on the loop."""
        if self._house.home.state.channels.chats:
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
        await super().keep()

    async def _round(self, now_ms: int) -> int | None:
        known = self._house.home.state.channels
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
        keys = await asyncio.to_thread(box.targets)
        return await self._begin(box, (key for key in keys if self._is_connected(Place.of(key))), now_ms, _grouped)

    def _is_connected(self, place: Place) -> bool:
        """Whether its channel is; when that changes, it is looked again."""
        process = self._processes.get(place.channel)
        return process is not None and process.state == "connected"

    def _process(self, place: Place) -> ChannelProcess:
        if (process := self._processes.get(place.channel)) is None:
            raise Undelivered(f"the channel {place.channel} is off")
        return process

    def _chat(self, place: Place) -> Chat | None:
        return self._house.home.state.channels.chats.get((place.channel, place.chat))

    # -- sending ---------------------------------------------------------------------------------------------------

    async def _sent(self, box: Outbox, target: str, outgoing: Outgoing) -> bool:
        place = Place.of(target)
        await self._paced(place)
        if len(outgoing.notices) == 1:
            return await self._said(place, outgoing.id, outgoing.notices[0])
        text = await self._writer.digest(self._chat(place), outgoing.notices)
        return bool(text and await self._delivered(place, outgoing.id, text))

    async def _settled(self, outgoing: Outgoing, target: str, fault: Undelivered | None, *, over: bool) -> None:
        """Keep a file no longer that no other message is to take along."""
        notice = outgoing.notices[0]
        if over and notice.kind == KIND and notice.of and notice.of not in await asyncio.to_thread(self._open().files):
            self.messages.release(notice.of)

    async def _paced(self, place: Place) -> None:
        """Keep to the platform's pace for one chat."""
        now_s, manifest = asyncio.get_running_loop().time(), self._writer.manifest(place.channel)
        wait_s = self._pace.wait_s((place.channel, place.chat), now_s, manifest) if manifest else 0
        if wait_s > 0 and self._is_connected(place):
            await asyncio.sleep(wait_s)

    async def _said(self, place: Place, id: str, notice: Notice) -> bool:
        """Whether something was sent; false where there is nothing to say any more."""
        chat = self._chat(place)
        if notice.kind == "settled":
            return chat is not None and await self._edited(place, chat, notice)
        text, buttons, files = await self._writer.said(chat, notice)
        if not text and not files:
            return False
        about = {"question": notice.of, "whole": f"whole:{notice.of}"}.get(notice.kind.removeprefix(ELSEWHERE), "")
        if about:
            await self._asked(place, id, about, text, buttons)
        else:
            await self._delivered(place, id, text, buttons, files)
        return True

    async def _asked(self, place: Place, id: str, about: str, text: str, buttons: Buttons) -> None:
        """Send a question. That it is here is known before it is: a press may come before the platform's answer."""
        box = self._open()
        if not about.startswith("whole:"):  # all of it counts as shown once it was
            await asyncio.to_thread(box.post, place.key, about, "")
        name = await self._delivered(place, id, text, buttons)
        await asyncio.to_thread(box.post, place.key, about, name)

    async def _delivered(
        self, place: Place, id: str, text: str, buttons: Buttons = (), files: tuple[wire.FileOut, ...] = ()
    ) -> str:
        manifest = self._writer.manifest(place.channel)
        if buttons and manifest and not manifest.buttons:
            codes = "\n".join(f"{one.data}   {one.text}" for row in buttons for one in row)
            text, buttons = f"{text}\n\nReply with a code:\n{codes}", ()
        return await self._process(place).send(wire.Send(0, id, place.chat, place.thread, text, buttons, files))

    async def _edited(self, place: Place, chat: Chat, notice: Notice) -> bool:
        """Put how a question was answered in place of it; where no message can be changed, say so by another."""
        row = await self._writer.row(notice.of)
        message = (await asyncio.to_thread(self._open().posted, notice.of)).get(place.key)
        text, manifest = self._writer.settled(row), self._writer.manifest(place.channel)
        if message and manifest and manifest.edits:
            await self._process(place).edit(wire.Edit(0, place.chat, message, text))
        elif row.door != chat.door:
            await self._delivered(place, f"{notice.of}:settled", text.split("\n")[0])
        return True

    # -- notifications ---------------------------------------------------------------------------------------------

    def tells(self, target: NotificationTarget, session: SessionId) -> bool:
        """Whether a session talks in the very chat that is to be notified, so that it is said there anyhow."""
        place = self._finder.place(session)
        return place is not None and target.via == ChatTarget(place.channel, place.chat)

    async def deliver(self, via: ChatTarget, message: Message) -> None:
        """Send a notification to a chat; raises ``Undelivered``."""
        place = Place(via.channel, via.chat)
        chat = self._chat(place)
        if chat is None:
            raise Undelivered("the chat is paired no more", gone=True)
        if not self._is_connected(place):
            raise Undelivered(f"the channel {via.channel} is not connected")
        if message.about:
            row = await self._writer.row(message.about)
            await self._asked(place, message.id, row.id, *self._writer.question(chat, row))
            return
        lines = (message.title, *message.lines, message.link)
        await self._delivered(place, message.id, self._writer.clean("\n".join(lines)))


def _grouped(due: Sequence[tuple[Notice, bool]], _made: Sequence[int]) -> Sequence[Sequence[Notice]]:
    """What waited together, but each question by itself, as it has buttons of its own; the rest one by one."""
    digest = [notice for notice, waited in due if waited and not is_question(notice)]
    return [*([digest] if digest else []), *([notice] for notice, _ in due if notice not in digest)]
