"""What sessions write to chats by their tools, on its way into the outbox.

Layer: runtime. Implements ``domain.channels.ChatMail``. The outbox has the place of the call in the record and no word
of it. A file's bytes are as they were when the call ran, which is what was judged: they are in the content store, kept
from collection until they were sent, and no machine has to run for that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.domain import events as ev
from stead.domain.attachments import media_type
from stead.domain.channel_wire import FileOut
from stead.domain.channels import Channels, Chat, Place
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ids import CallKey, SessionId
from stead.domain.notices import Notice, plain
from stead.domain.notifications import Undelivered
from stead.domain.secrets import PLACEHOLDER
from stead.runtime.chat_house import ChatHouse

if TYPE_CHECKING:
    from stead.storage.chat_box import ChatBox

KIND = "call"
"""Of notices: their ``seq`` is that of the call's start, and ``of`` names its file's content, "" for none."""
_RECENT = 10_000
"""Events of the journal among which the start of a call that runs now is found."""


@dataclass(eq=False, repr=False)
class ChatMessages:
    """Of all chats.

    Args:
        house: what it works with.
        box: opens the outbox.
        wake: has the outbox looked at.
    """

    _house: ChatHouse
    _box: Callable[[], ChatBox]
    _wake: Callable[[], None]

    @property
    def _known(self) -> Channels:
        return self._house.home.state.channels

    def where(self, name: str) -> str:
        """See ``ChatMail``. What strangers may choose, the title, comes last and quoted."""
        chat = self._named(name)
        kind = self._known.channels[chat.channel].channel.kind
        who = "a chat with one person" if chat.private else "a group, in which others read along"
        return f"{who}, on the channel {chat.channel} ({kind}), called {json.dumps(plain(chat.title, 60))} there"

    async def post(
        self, session: SessionId, call: CallKey, to: str, words: Sequence[str], file: bytes | None = None
    ) -> None:
        """See ``ChatMail``."""
        chat = self._named(to)
        if not self._known.channels[chat.channel].on:
            raise InvalidRequest(f"the channel {chat.channel} is off; the person switches it on")
        await asyncio.to_thread(self._require_no_secret, words, file)
        content = await self._house.attachments.keep(file) if file is not None else ""
        await asyncio.to_thread(self._put, chat, session, call, content)
        self._wake()

    def _named(self, name: str) -> Chat:
        chat = self._known.named(name)
        if chat is None:
            raise InvalidRequest(f"there is no chat {name[:40]!r}; the person knows what theirs are called")
        return chat

    def _require_no_secret(self, words: Sequence[str], file: bytes | None) -> None:
        for text in words:
            if PLACEHOLDER.search(text) or self._house.book.redactor().clean(text) != text:
                raise InvalidRequest("it holds a secret, or what looks like one, and none goes to a chat")
        if file is None:
            return
        try:  # of bytes that are no text a form says nothing
            text, detect = file.decode("utf-8"), True
        except UnicodeDecodeError:
            text, detect = file.decode("latin-1"), False
        if self._house.book.redactor(detect=detect).clean(text) != text:
            raise InvalidRequest("the file holds a secret, or what looks like one, and none goes to a chat")

    def _put(self, chat: Chat, session: SessionId, call: CallKey, content: str) -> None:
        started = [
            event.seq
            for event in self._house.journal.events(after=max(0, self._house.journal.head() - _RECENT), session=session)
            if isinstance(event, ev.Event) and isinstance(event.body, ev.ToolStarted) and event.body.key == call
        ]
        notice = Notice(started[-1], session, KIND, content, self._house.clock.now_ms())
        self._box().say(Place(chat.channel, chat.id).key, f"{session}:{call}", notice)

    # -- for the outbox --------------------------------------------------------------------------------------------

    def hold(self, contents: Sequence[str]) -> None:
        """Keep the files of messages that wait since before a restart."""
        self._house.attachments.hold(contents)

    def release(self, content: str) -> None:
        """Keep a file no longer for a message's sake."""
        self._house.attachments.release(content)

    def parts(self, started: ev.ToolStarted, content: str) -> tuple[str, tuple[FileOut, ...]]:
        """What is sent of a call. In a thread.

        Raises:
            Undelivered: its file is not kept any more.
            StorageFault: it cannot be read.
        """
        said: dict[str, str] = json.loads(started.arguments)
        if not content:
            return said["text"], ()
        try:
            data = self._house.attachments.load(content)
        except NotFound as gone:
            raise Undelivered(f"its file is gone: {gone}", final=True) from gone
        name = said["path"].rpartition("/")[2][:100] or "file"
        return said["caption"], (FileOut(name, media_type(data) or "application/octet-stream", data),)
