"""Channels: bots on messaging platforms, the chats that were paired with them, and what each person may do there.

Layer: domain. All of it is events of the home. A token is a secret that is named and never in it. What a message may do
follows from who sent it, by the platform's own id, and from the chat that it came through: both are typed here, and
what is not known grants nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, Protocol

import msgspec
from msgspec.structs import replace

from stead.domain.bounds import Folder, Name, bounds
from stead.domain.ids import CallKey, SessionId
from stead.domain.mcp import Program
from stead.domain.objectives import Budget, ModelRef
from stead.domain.policies import Profile

DOOR = "chat:"
"""Begins the name of a door that is a chat: ``chat:CHANNEL/CHAT``. No door of the page or the terminal is called so."""
MOST_CHANNELS, MOST_CHATS, MOST_PEOPLE = 20, 200, 200
CODE_LIVES_MS = 600_000
Role = Literal["owner", "member", "guest"]
"""The owner decides and sets; a member gives work; what a guest says is read as anything that others wrote."""
_Short = Annotated[str, bounds(maxLength=500)]


class Channel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One bot on one platform.

    Args:
        name: the person's own choice.
        kind: of the platform.
        settings: as the platform's manifest names them.
        secrets: names of secrets, by the manifest's names of tokens.
        ca_file: a file of further certificates to trust, for a server of one's own; "" for none.
    """

    name: Name
    kind: Annotated[str, bounds(pattern="^[a-z]{1,20}$")]
    settings: dict[str, _Short] = {}
    secrets: dict[str, Annotated[str, bounds(pattern="^[a-z][a-z0-9_-]{0,63}$")]] = {}
    ca_file: Annotated[str, bounds(pattern="^(/.*)?$")] = ""


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Someone in a chat, by the platform's id of them. ``name`` is for people and decides nothing."""

    id: _Short
    role: Role
    name: _Short = ""


class ChatRights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a chat may do, set at pairing and changed by its owner.

    Args:
        directory: the folder that its sessions work in.
        profile: their strictness.
        chain: their models; empty for the home's.
        budget: of each session; None for the usual one.
        others: what those are who are not named, in a group; "" for people who are not heard.
    """

    directory: Folder
    profile: Profile = Profile.WORK
    chain: tuple[ModelRef, ...] = ()
    budget: Budget | None = None
    others: Literal["", "member", "guest"] = ""


class Chat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chat that was paired.

    Args:
        channel: the name of the channel.
        id: the platform's.
        name: by which it is written to: of all chats the only one called so.
        title: what it is called on the platform, when it was paired.
        private: whether it has one person and nobody reads along.
        people: those with a role of their own.
        rights: what it may do.
    """

    channel: Name
    id: _Short
    name: Name
    title: _Short
    private: bool
    people: tuple[Person, ...]
    rights: ChatRights

    @property
    def door(self) -> str:
        """What the journal calls it."""
        return door_of(self.channel, self.id)

    def role(self, person: str) -> Role | Literal[""]:
        """What someone may do; "" for one who is not heard."""
        return next((one.role for one in self.people if one.id == person), "" if self.private else self.rights.others)


def door_of(channel: str, chat: str) -> str:
    """The name of a chat's door."""
    return f"{DOOR}{channel}/{chat}"


def channel_of(door: str) -> str:
    """The channel of a door; "" for one that is no chat's."""
    return door.removeprefix(DOOR).partition("/")[0] if door.startswith(DOOR) else ""


class Place(msgspec.Struct, frozen=True):
    """Where a session talks: a thread of a chat, or with ``thread`` "" the chat itself."""

    channel: str
    chat: str
    thread: str = ""

    @property
    def key(self) -> str:
        """What the outbox calls it; what is sent there goes in order. No id of a platform has a line feed."""
        return f"{self.channel}\n{self.chat}\n{self.thread}"

    @classmethod
    def of(cls, key: str) -> Place:
        """The place of a key."""
        return cls(*key.split("\n"))


# -- events of the home ------------------------------------------------------------------------------------------------


class ChannelSet(msgspec.Struct, frozen=True, tag="channel.set"):
    """A channel was added or changed."""

    channel: Channel
    door: str


class ChannelSwitched(msgspec.Struct, frozen=True, tag="channel.switched"):
    """It listens and sends from now on, or no more. ``why`` is "" where the person said so."""

    name: str
    on: bool
    door: str
    why: str = ""


class ChannelRemoved(msgspec.Struct, frozen=True, tag="channel.removed"):
    """It is no more, nor are its chats, and what waited for them is dropped."""

    name: str
    door: str


class ChatSet(msgspec.Struct, frozen=True, tag="chat.set"):
    """A chat was paired, or what it may do was changed."""

    chat: Chat
    door: str


class ChatRemoved(msgspec.Struct, frozen=True, tag="chat.removed"):
    """A chat is heard no more."""

    channel: str
    chat: str
    door: str


class ChatTalks(msgspec.Struct, frozen=True, tag="chat.talks"):
    """A session was begun in a chat: what it says goes there. ``current``: and what is written there goes to it."""

    channel: str
    chat: str
    thread: str
    session: SessionId
    current: bool


class ChannelLost(msgspec.Struct, frozen=True, tag="channel.lost"):
    """A channel has not been connected for ten minutes; ``why`` as it was said last."""

    name: str
    why: str


ChannelFact = ChannelSet | ChannelSwitched | ChannelRemoved | ChatSet | ChatRemoved | ChatTalks | ChannelLost


class ChannelState(msgspec.Struct, frozen=True):
    """What is known of a channel; ``why`` it is off."""

    channel: Channel
    on: bool = True
    why: str = ""


class Channels(msgspec.Struct, frozen=True):
    """All of it: channels by name, chats by channel and id, sessions by place and places by session."""

    channels: Mapping[str, ChannelState] = {}
    chats: Mapping[tuple[str, str], Chat] = {}
    current: Mapping[Place, SessionId] = {}
    places: Mapping[SessionId, Place] = {}

    def named(self, name: str) -> Chat | None:
        """The chat of a name."""
        return next((chat for chat in self.chats.values() if chat.name == name), None)


def read_along(known: Channels, door: str) -> str:
    """What a door is called as a channel in which others read along; "" where nobody does.

    A door that begins as a chat's and is none that is known is taken for one in which others do; so is a private chat
    with someone who is not the owner.
    """
    if not door.startswith(DOOR):
        return ""
    chat = next((one for one in known.chats.values() if one.door == door), None)
    own = chat is not None and chat.private and all(one.role == "owner" for one in chat.people)
    return "" if own else door.removeprefix(DOOR)


def fold_channels(known: Channels, fact: ChannelFact) -> Channels:
    """Everything after one more fact."""
    match fact:
        case ChannelSet(channel=channel):
            state = known.channels.get(channel.name, ChannelState(channel))
            return replace(known, channels={**known.channels, channel.name: replace(state, channel=channel)})
        case ChannelSwitched(name=name, on=on, why=why):
            if name not in known.channels:
                return known
            return replace(known, channels={**known.channels, name: replace(known.channels[name], on=on, why=why)})
        case ChannelRemoved(name=name):
            left = {one: state for one, state in known.channels.items() if one != name}
            return _without(replace(known, channels=left), lambda of, _: of == name)
        case ChatSet(chat=chat):
            return replace(known, chats={**known.chats, (chat.channel, chat.id): chat})
        case ChatRemoved(channel=channel, chat=chat):
            return _without(known, lambda *of: of == (channel, chat))
        case ChannelLost():
            return known
        case ChatTalks(channel=channel, chat=chat, thread=thread, session=session, current=current):
            place = Place(channel, chat, thread)
            now = {**known.current, place: session} if current else known.current
            return replace(known, current=now, places={**known.places, session: place})


def _without(known: Channels, gone: Callable[[str, str], bool]) -> Channels:
    """Without the chats of which ``gone`` says, by channel and id, that they are no more."""
    return replace(
        known,
        chats={key: one for key, one in known.chats.items() if not gone(*key)},
        current={place: one for place, one in known.current.items() if not gone(place.channel, place.chat)},
        places={one: place for one, place in known.places.items() if not gone(place.channel, place.chat)},
    )


# -- commands ----------------------------------------------------------------------------------------------------------


class SetChannel(msgspec.Struct, frozen=True, tag="channel.set", forbid_unknown_fields=True):
    """Add or change a channel."""

    channel: Channel


class SwitchChannel(msgspec.Struct, frozen=True, tag="channel.switch", forbid_unknown_fields=True):
    """Have it listen and send, or no more. What its platform keeps meanwhile is read later."""

    name: Name
    on: bool


class RemoveChannel(msgspec.Struct, frozen=True, tag="channel.remove", forbid_unknown_fields=True):
    """Forget a channel, its chats, and what waits for them. Their sessions stay."""

    name: Name


class SetChat(msgspec.Struct, frozen=True, tag="chat.set", forbid_unknown_fields=True):
    """Change what a chat may do, what it is called, and who is what in it.

    Args:
        channel: the channel's name.
        chat: the platform's id of it; it was paired before.
        name: see ``Chat``.
        people: in place of those before; an owner stays where there was one.
        rights: see ``ChatRights``.
    """

    channel: Name
    chat: _Short
    name: Name
    people: Annotated[tuple[Person, ...], bounds(minItems=1, maxItems=MOST_PEOPLE)]
    rights: ChatRights


class RemoveChat(msgspec.Struct, frozen=True, tag="chat.remove", forbid_unknown_fields=True):
    """Hear a chat no more."""

    channel: Name
    chat: _Short


ChannelCommand = SetChannel | SwitchChannel | RemoveChannel | SetChat | RemoveChat

# -- for people --------------------------------------------------------------------------------------------------------


class WantedPairing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a chat is to be once the code was sent in it, by the person who sends it.

    Args:
        rights: see ``ChatRights``.
        role: of who sends it.
        name: of the chat; "" takes one from its title.
    """

    rights: ChatRights
    role: Role = "owner"
    name: Annotated[str, bounds(pattern="^([a-z][a-z0-9-]{0,30})?$")] = ""


class PairingCode(msgspec.Struct, frozen=True):
    """A code that pairs one chat, once. ``link``: opens the bot with it; "" where the platform has no such thing."""

    code: str
    expires_ms: int
    link: str


class ChatRow(msgspec.Struct, frozen=True):
    """A chat for people. ``waiting``: messages that are to be sent there; ``lost``: given up within the last week."""

    chat: Chat
    waiting: int
    lost: int
    error: str


class ChannelRow(msgspec.Struct, frozen=True):
    """A channel for people.

    Args:
        title: the platform's own name.
        state: "connected" once its process says so, until it says otherwise or a probe fails.
        account: what the bot is called on the platform; "" before it was connected.
        in_ms: when something came in last; 0 for never since the start.
        probed_ms: when the platform last said that the token holds; 0 for never since the start.
        error: why it is not connected, or why its last request was not taken in; "" where nothing is wrong.
        refused: what was not taken since the start: of strangers, of people without the right, of too many.
        url: where its platform is to send requests; "" where it sends none, or nothing listens yet.
    """

    channel: Channel
    title: str
    on: bool
    why: str
    state: Literal["off", "starting", "connected", "down"]
    account: str
    in_ms: int
    probed_ms: int
    error: str
    refused: int
    url: str
    chats: tuple[ChatRow, ...]


class ChannelCheck(msgspec.Struct, frozen=True):
    """What came of a test: whether the platform took the token, and what went wrong."""

    name: str
    ok: bool
    text: str


class ChatMail(Protocol):
    """What a session may do with the chats that were paired: write to one, by its name."""

    def where(self, name: str) -> str:
        """Which chat has a name and who reads it there, for a question; raises ``InvalidRequest`` for none."""

    async def post(
        self, session: SessionId, call: CallKey, to: str, words: Sequence[str], file: bytes | None = None
    ) -> None:
        """Have what a call says sent, once for the call.

        Args:
            session: whose call it is.
            call: its key; it was recorded as started, and what is sent is read from there.
            to: the chat's name.
            words: all that is to be read there, names included.
            file: to be sent along.

        Raises:
            InvalidRequest: the chat is gone, its channel is off, or what is to be sent holds a secret.
            StorageFault: it was not taken.
        """


class ChannelPrograms(Protocol):
    """Starts the processes of channels."""

    async def start_channel(self, name: str, hosts: Sequence[str]) -> Program:
        """Start one in a machine of its own that shows no folder and reaches these hosts and no others.

        Args:
            name: the channel's.
            hosts: patterns, as of ``domain.hosts``; local ones, which the person named, included.

        Raises:
            MachineUnavailable, MachineDied: no machine could be made.
        """
