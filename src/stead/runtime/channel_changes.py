"""What a person's word about a channel makes of it. Every refusal comes before anything is recorded.

Layer: runtime.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never
from urllib.parse import urlsplit

from msgspec.structs import replace

from stead.config import missing_extra
from stead.domain import channels
from stead.domain.bounds import NAME, require_name, require_room
from stead.domain.channel_wire import Manifest
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.hosts import parse_allowed
from stead.domain.objectives import require_budget

_MOST_CA_BYTES = 1_000_000
_PORTS = {"https": 443, "http": 80, "wss": 443, "imaps": 993, "smtps": 465}


def channel_fact(
    command: channels.ChannelCommand,
    known: channels.Channels,
    manifests: Mapping[str, Manifest],
    folder: Callable[[str], str],
    has_secret: Callable[[str], bool],
    door: str,
) -> channels.ChannelFact:
    """The fact that a command makes.

    Args:
        command: the word.
        known: channels and chats as they are.
        manifests: of the platforms, by kind.
        folder: the real path of a folder that may be worked in; raises ``InvalidRequest``.
        has_secret: whether there is a secret of a name.
        door: where it was said.

    Raises:
        InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
    """
    match command:
        case channels.SetChannel(channel=channel):
            return channels.ChannelSet(_possible(channel, known, manifests, has_secret), door)
        case channels.SwitchChannel(name=name, on=on):
            if known_channel(known, name).on == on:
                raise Conflict(f"{name} is {'on' if on else 'off'} already; see: stead channel list")
            return channels.ChannelSwitched(name, on, door)
        case channels.RemoveChannel(name=name):
            known_channel(known, name)
            return channels.ChannelRemoved(name, door)
        case channels.SetChat(channel=channel_name, chat=id):
            chat = known_chat(known, channel_name, id)
            if loses_owner(chat, command.people):
                raise InvalidRequest("its last owner stays; remove the chat instead: stead channel chat remove")
            require_chat_name(command.name, known, chat)
            rights = possible_rights(command.rights, folder)
            return channels.ChatSet(replace(chat, name=command.name, people=command.people, rights=rights), door)
        case channels.RemoveChat(channel=channel_name, chat=id):
            known_chat(known, channel_name, id)
            return channels.ChatRemoved(channel_name, id, door)
        case _:
            assert_never(command)


def known_channel(known: channels.Channels, name: str) -> channels.ChannelState:
    """The channel of a name; raises ``NotFound``."""
    if name not in known.channels:
        raise NotFound(f"there is no channel {name[:80]!r}; see: stead channel list")
    return known.channels[name]


def loses_owner(chat: channels.Chat, people: Sequence[channels.Person]) -> bool:
    """Whether a chat that has an owner has none any more with these people."""
    was, stays = (any(one.role == "owner" for one in who) for who in (chat.people, people))
    return was and not stays


def require_chat_name(name: str, known: channels.Channels, chat: channels.Chat | None = None) -> None:
    """Refuse a name that no chat can have, or that another one has."""
    if not re.fullmatch(NAME, name):
        raise InvalidRequest(f"no chat can be called {name[:40]!r}; take a small letter, then up to 30 of a-z, 0-9, -")
    if known.named(name) not in (None, chat):
        raise InvalidRequest(f"there is a chat {name!r} already; give another name")


def possible_rights(rights: channels.ChatRights, folder: Callable[[str], str]) -> channels.ChatRights:
    """Rights as a chat may have them; raises ``InvalidRequest``."""
    if rights.budget is not None:
        require_budget(rights.budget)
    return replace(rights, directory=folder(rights.directory))


def known_chat(known: channels.Channels, channel: str, id: str) -> channels.Chat:
    """The chat of an id; raises ``NotFound``."""
    if (chat := known.chats.get((channel, id))) is None:
        raise NotFound(f"there is no chat {id[:80]!r} of {channel[:80]!r}; see: stead channel chats")
    return chat


def _possible(
    channel: channels.Channel,
    known: channels.Channels,
    manifests: Mapping[str, Manifest],
    has_secret: Callable[[str], bool],
) -> channels.Channel:
    require_name(channel.name)
    if (manifest := manifests.get(channel.kind)) is None:
        raise InvalidRequest(f"there is no kind {channel.kind[:40]!r}; there are: {', '.join(sorted(manifests))}")
    old = known.channels.get(channel.name)
    require_room(known.channels, channel.name, channels.MOST_CHANNELS, "channels", "channel")
    if old is not None and old.channel.kind != channel.kind:
        raise Conflict(f"{channel.name} is a channel of kind {old.channel.kind}; remove it first, or give another name")
    if missing := missing_extra(manifest.extra, "it needs"):
        raise InvalidRequest(missing)
    fields = {field.name: field for field in manifest.fields}
    for name in (*channel.settings, *channel.secrets):
        field = fields.get(name)
        if field is None or field.secret != (name in channel.secrets):
            raise InvalidRequest(
                f"{manifest.title} has no {'secret' if name in channel.secrets else 'setting'} {name!r}"
            )
    for field in manifest.fields:
        given = (channel.secrets if field.secret else channel.settings).get(field.name, field.default)
        if not given and field.needed:
            raise InvalidRequest(f"{field.name} is missing: {field.title}")
        if given and not field.secret and field.pattern and not re.fullmatch(field.pattern, given):
            raise InvalidRequest(f"{field.name} cannot be {given[:80]!r}; give: {field.title}")
    for name in channel.secrets.values():
        if not has_secret(name):
            raise InvalidRequest(f"there is no secret {name[:64]!r}; add it first: stead secret add {name[:64]}")
    hosts_of(channel, manifest)
    if channel.ca_file:
        read_ca(channel.ca_file)
    return channel


def hosts_of(channel: channels.Channel, manifest: Manifest) -> tuple[str, ...]:
    """What a channel's process reaches: the platform's hosts, and those of the addresses among its settings.

    Raises:
        InvalidRequest: one of them is none.
    """
    hosts = list(manifest.hosts)
    for field in manifest.fields:
        value = channel.settings.get(field.name, field.default) if field.url else ""
        if not value:
            continue
        try:
            url = urlsplit(value)
            port = url.port or _PORTS.get(url.scheme, 0)
        except ValueError:
            port, url = 0, urlsplit("")
        if not port or not url.hostname or url.username:
            raise InvalidRequest(f"{field.name} cannot be {value[:80]!r}; give: {field.title}")
        named = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
        hosts.append(str(parse_allowed(named if port in (80, 443) and "." in named.strip("[]") else f"{named}:{port}")))
    return tuple(dict.fromkeys(hosts))


def read_ca(path: str) -> str:
    """The certificates in a file; raises ``InvalidRequest``."""
    try:
        if os.path.getsize(path) > _MOST_CA_BYTES:
            raise InvalidRequest(f"{path} has more than {_MOST_CA_BYTES // 1_000_000} MB")
        with open(path, encoding="ascii") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if "-----BEGIN CERTIFICATE-----" not in text:
        raise InvalidRequest(f"{path} has no certificate in PEM; give a file that has")
    return text
