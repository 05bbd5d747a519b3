"""Channels of a home whose platforms all answer: the real rules of what can be, without processes and machines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn

from stead.domain.channel_wire import Field, Manifest
from stead.domain.channels import (
    CODE_LIVES_MS,
    ChannelCheck,
    ChannelCommand,
    ChannelFact,
    ChannelRow,
    Channels,
    ChatRow,
    PairingCode,
    WantedPairing,
)
from stead.domain.ports import Clock
from stead.runtime.channel_changes import channel_fact, known_channel

MANIFEST = Manifest("semaphore", "Semaphore", (Field("token", "The token", secret=True), Field("mast", "Its mast")))


class SimulatedChannels:
    """See ``deps.ChannelService``."""

    turn = asyncio.Event()

    def __init__(self, known: Channels, has_secret: Callable[[str], bool], clock: Clock) -> None:
        self._known = known
        self._has_secret = has_secret
        self._clock = clock

    def fact(self, command: ChannelCommand, door: str) -> ChannelFact:
        """What a command makes."""
        return channel_fact(command, self._known, {MANIFEST.kind: MANIFEST}, str, self._has_secret, door)

    def kinds(self) -> tuple[Manifest, ...]:
        return (MANIFEST,)

    async def rows(self) -> tuple[ChannelRow, ...]:
        return tuple(
            ChannelRow(
                channel=one.channel,
                title=MANIFEST.title,
                on=one.on,
                why=one.why,
                state="connected" if one.on else "off",
                account="@quill",
                in_ms=0,
                probed_ms=0,
                error="",
                refused=0,
                url="",
                chats=tuple(ChatRow(chat, 0, 0, "") for key, chat in self._known.chats.items() if key[0] == name),
            )
            for name, one in self._known.channels.items()
        )

    async def test(self, name: str) -> ChannelCheck:
        known_channel(self._known, name)
        return ChannelCheck(name, ok=True, text="it answered")

    async def pair(self, name: str, wanted: WantedPairing) -> PairingCode:
        known_channel(self._known, name)
        return PairingCode("ABCD-2345", self._clock.now_ms() + CODE_LIVES_MS, "")

    async def carry_out(self, *_: object) -> NoReturn:
        raise AssertionError("the home here carries out what ``fact`` makes")
