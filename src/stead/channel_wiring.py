"""Puts the parts of channels together: their processes, what is written in chats, what goes there.

Layer: a part of the composition root, as ``memory_wiring``. A home without channels has none of their files opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from stead.config import Home
from stead.domain import commands as cmd
from stead.domain.channel_wire import Manifest, Pressed
from stead.domain.channels import ChannelPrograms, Place
from stead.domain.ids import CommandId
from stead.runtime.arrivals import Arrivals
from stead.runtime.bus import Bus
from stead.runtime.channels import ChannelRoom
from stead.runtime.chat_finding import ChatFinder
from stead.runtime.chat_house import ChatHouse
from stead.runtime.chat_messages import ChatMessages
from stead.runtime.chat_pairing import Pairing
from stead.runtime.chat_post import ChatPost
from stead.runtime.chat_progress import ChatProgress
from stead.runtime.chat_questions import SAID, Presses
from stead.runtime.chat_rates import Rates
from stead.runtime.chat_writing import ChatWriter
from stead.runtime.chats import Chats
from stead.storage.channel_positions import ChannelPositions
from stead.storage.chat_box import ChatBox
from stead.storage.keys import Keys


def channels_of(home: Home, keys: Keys, programs: ChannelPrograms, bus: Bus, house: ChatHouse) -> ChannelRoom:
    """All of it.

    Args:
        home: where the outbox and the positions are.
        keys: the home's.
        programs: starts the processes.
        bus: what happens.
        house: the other parts.
    """
    box = cache(lambda: ChatBox(home.data / "chats.db", keys, house.journal.head()))
    positions = cache(lambda: ChannelPositions(home.data / "positions.db", keys))

    room = ChannelRoom(house, programs, _manifests, box, positions)
    messages = ChatMessages(house, box, lambda: post.turn.set())
    writer = ChatWriter(house, messages, room.manifest)
    post = ChatPost(house, ChatFinder(house), writer, messages, box, room.processes)

    async def handle(command: cmd.Command, id: CommandId, door: str) -> cmd.Answer:
        return await house.runtime.handle(command, id=id, door=door)

    chats = Chats(house, handle, room.fetch, post.say)
    chats.kinds = room.kinds
    chats.rates = Rates(house.clock)
    chats.pairing = Pairing(house)

    async def show(place: Place, id: CommandId, line: Pressed) -> None:
        manifest, process = room.manifest(place.channel), room.processes.get(place.channel)
        if manifest and not manifest.shows_presses and not (manifest.edits and line.text in SAID.values()):
            await post.say(place, id, line.text)
        elif process:
            process.tell(line)

    chats.presses = Presses(house.views, box, handle, show, post.whole, post.say)
    room.chats, room.post = chats, post
    progress = ChatProgress(bus, lambda: house.home.state.channels, room.processes, room.manifest)
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
