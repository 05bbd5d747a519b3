"""Puts the parts of channels together: their processes, what is written in chats, what goes there.

Layer: a part of the composition root, as ``memory_wiring``. A home without channels has none of their files opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol

from stead.config import Home
from stead.domain import commands as cmd
from stead.domain.channel_wire import Manifest, Pressed
from stead.domain.channels import ChannelPrograms, Place
from stead.domain.ids import CommandId
from stead.domain.notices import Notice
from stead.domain.notifications import ChatTarget
from stead.domain.ports import Clock
from stead.runtime.arrivals import Arrivals
from stead.runtime.attachments import GivenAttachments
from stead.runtime.bus import Bus
from stead.runtime.channels import ChannelRoom
from stead.runtime.chat_finding import ChatFinder
from stead.runtime.chat_messages import ChatMessages
from stead.runtime.chat_pairing import Pairing
from stead.runtime.chat_post import ChatPost
from stead.runtime.chat_progress import ChatProgress
from stead.runtime.chat_questions import SAID, Presses
from stead.runtime.chat_rates import Rates
from stead.runtime.chat_writing import ChatWriter
from stead.runtime.chats import Chats
from stead.runtime.commands import Runtime
from stead.runtime.deps import Deps
from stead.runtime.home import HomeStream
from stead.runtime.notifications import Notifications
from stead.runtime.registry import Sessions
from stead.runtime.secrets import SecretBook
from stead.storage.channel_positions import ChannelPositions
from stead.storage.chat_box import ChatBox
from stead.storage.journal import JournalFile
from stead.storage.keys import Keys
from stead.storage.views import Views


class Parts(Protocol):
    """What channels are made of; some of it is made after them, and is there before anything is asked."""

    journal: JournalFile
    views: Views
    home: HomeStream
    book: SecretBook
    clock: Clock
    runtime: Runtime
    sessions: Sessions
    attachments: GivenAttachments
    deps: Deps
    notifications: Notifications


def channels_of(home: Home, keys: Keys, programs: ChannelPrograms, bus: Bus, parts: Callable[[], Parts]) -> ChannelRoom:
    """All of it.

    Args:
        home: where the outbox and the positions are.
        keys: the home's.
        programs: starts the processes.
        bus: what happens.
        parts: the house.
    """
    house = parts()

    box = cache(lambda: ChatBox(home.data / "chats.db", keys, house.journal.head()))
    positions = cache(lambda: ChannelPositions(home.data / "positions.db", keys))

    room = ChannelRoom(lambda: parts().home, house.book, programs, _manifests, box, positions, house.clock)
    messages = ChatMessages(
        lambda: parts().home,
        lambda: parts().book,
        house.journal,
        box,
        house.attachments,
        house.clock,
        lambda: post.turn.set(),
    )

    def elsewhere(via: ChatTarget, notice: Notice) -> str:
        if not any(one.target.via == via and one.hears_of(notice.seq) for one in parts().home.state.targets.values()):
            return ""
        message = parts().notifications.message("", (notice,))
        return f"{message.title}\n{message.link}" if message else ""

    writer = ChatWriter(
        house.journal,
        house.views,
        lambda: parts().sessions,
        messages,
        lambda text: parts().book.redactor().clean(text),
    )
    writer.page = lambda: parts().notifications.page
    writer.manifest = room.manifest
    writer.elsewhere = elsewhere
    writer.tools = lambda: [spec.name for spec in parts().deps.gate.specs(())]
    finder = ChatFinder(lambda: parts().home.state, house.journal.tagged, house.views)
    post = ChatPost(lambda: parts().home, finder, writer, messages, box, room.processes, house.clock)

    async def handle(command: cmd.Command, id: CommandId, door: str) -> cmd.Answer:
        return await parts().runtime.handle(command, id=id, door=door)

    chats = Chats(lambda: parts().home, handle, house.journal, house.views, house.attachments, room.fetch, post.say)
    chats.page, chats.kinds = writer.page, room.kinds
    chats.rates = Rates(house.clock)
    chats.pairing = Pairing(lambda: parts().home, house.journal, house.clock)

    async def show(place: Place, id: CommandId, line: Pressed) -> None:
        manifest, process = room.manifest(place.channel), room.processes.get(place.channel)
        if manifest and not manifest.shows_presses and not (manifest.edits and line.text in SAID.values()):
            await post.say(place, id, line.text)
        elif process:
            process.tell(line)

    chats.presses = Presses(house.views, box, handle, show, post.whole, post.say)
    room.chats, room.post = chats, post
    progress = ChatProgress(bus, lambda: parts().home.state.channels, room.processes, room.manifest)
    room.jobs = (progress.keep,)
    return room


def serve_requests(room: ChannelRoom, arrivals: Arrivals) -> None:
    """Let requests of platforms, which come in at the listener for webhooks, go to their channels."""
    arrivals.channels = room
    room.listen_again = lambda: arrivals.listen_again()
    room.address = lambda: arrivals.listener.channels_url if arrivals.listener else ""


def _manifests() -> Mapping[str, Manifest]:
    """Loaded when they are asked for first: most homes have no channel."""
    from stead.channels.manifests import MANIFESTS

    return MANIFESTS
