"""Channels: keeps their processes, and is what people ask and tell about them.

Layer: runtime. With no channel nothing runs and nothing is loaded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from stead.domain import channels
from stead.domain import commands as cmd
from stead.domain.channel_wire import Begin, Manifest, Request, Response, Update
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.domain.ids import HOME, NO_COMMAND
from stead.domain.notifications import Undelivered
from stead.domain.ports import Claimed
from stead.runtime.answers import answer, of
from stead.runtime.channel_changes import (
    channel_fact,
    hosts_of,
    known_channel,
    possible_rights,
    read_ca,
    require_chat_name,
)
from stead.runtime.channel_process import STEADY_MS, ChannelProcess
from stead.runtime.chat_house import ChatHouse
from stead.runtime.chat_post import ChatPost
from stead.runtime.chats import Chats
from stead.runtime.folder import folder

if TYPE_CHECKING:
    from stead.storage.channel_positions import ChannelPositions
    from stead.storage.chat_box import ChatBox

log = logging.getLogger(__name__)
LOOK_S, LOST_MS = 30.0, 600_000
"""How often is looked whether channels are connected, and how long one may not be until it is said."""


@dataclass(eq=False, repr=False)
class ChannelRoom:
    """Implements ``service.ChannelService``; the caller of ``keep`` owns the work.

    Args:
        house: what it works with.
        programs: starts their processes.
        manifests: of the platforms, by kind.
        box: opens the outbox of chats.
        positions: opens what says how far channels were read.
    """

    _house: ChatHouse
    _programs: channels.ChannelPrograms
    _manifests: Callable[[], Mapping[str, Manifest]]
    _box: Callable[[], ChatBox]
    _positions: Callable[[], ChannelPositions]

    def __post_init__(self) -> None:
        self.chats: Chats
        self.post: ChatPost
        self.listen_again: Callable[[], None]
        """Called when other requests than before may be wanted."""
        self.address: Callable[[], str]
        """Where platforms send requests to, before a channel's name; "" while nothing listens."""
        self.jobs: Sequence[Callable[[], Coroutine[None, None, None]]] = ()
        """What else runs while there is a channel."""
        self.processes: dict[str, ChannelProcess] = {}
        self._lock = asyncio.Lock()
        self.turn = asyncio.Event()
        self._running: dict[str, tuple[tuple[channels.Channel, tuple[int, ...]], asyncio.Task[None]]] = {}
        """By name: what it was begun with, the versions of its secrets too, and its work."""
        self._again: set[str] = set()
        """Set once more: their processes begin again, as the person may have set something right elsewhere."""
        self._said: set[str] = set()
        """Channels of which it was said that they are down."""
        self._twins: dict[str, str] = {}
        """Channels that are not served, by the one that is and has the same bot."""

    @property
    def _known(self) -> channels.Channels:
        return self._house.home.state.channels

    def manifest(self, channel: str) -> Manifest | None:
        """What a channel's platform can do; None where there is no such channel."""
        one = self._known.channels.get(channel)
        return self._manifests().get(one.channel.kind) if one else None

    # -- what people ask and say -----------------------------------------------------------------------------------

    def kinds(self) -> tuple[Manifest, ...]:
        """The platforms."""
        return tuple(one for _, one in sorted(self._manifests().items()))

    async def rows(self) -> tuple[channels.ChannelRow, ...]:
        """The channels by name."""
        return tuple([await asyncio.to_thread(self._row, one) for _, one in sorted(self._known.channels.items())])

    def _row(self, one: channels.ChannelState) -> channels.ChannelRow:
        name, process = one.channel.name, self.processes.get(one.channel.name)
        manifest = self._manifests().get(one.channel.kind)
        wrong = process.error or process.waits or self.post.waits if process else ""
        chats = [chat for key, chat in sorted(self._known.chats.items()) if key[0] == name]
        rows: list[channels.ChatRow] = []
        for chat in chats:
            try:
                rows.append(channels.ChatRow(chat, *self._box().of_chat(channels.Place(name, chat.id).key)))
            except StorageFault as fault:
                wrong = wrong or str(fault)
                rows.append(channels.ChatRow(chat, 0, 0, str(fault)))
        return channels.ChannelRow(
            channel=one.channel,
            title=manifest.title if manifest else one.channel.kind,
            on=one.on,
            why=one.why,
            state=(process.state if process else "starting") if one.on else "off",
            account=process.account if process else "",
            in_ms=process.in_ms if process else 0,
            probed_ms=process.probed_ms if process else 0,
            error=self._house.book.redactor().clean(wrong) if one.on else "",
            refused=self.chats.rates.refused[name],
            url=f"{address}{name}" if self._is_sent(name) and (address := self.address()) else "",
            chats=tuple(rows),
        )

    async def test(self, name: str) -> channels.ChannelCheck:
        """Ask the platform whether the token holds, now; raises ``NotFound``."""
        known_channel(self._known, name)
        process = self.processes.get(name)
        if process is None:
            return channels.ChannelCheck(name, ok=False, text=f"it is off: stead channel enable {name}")
        try:
            account = await process.probe()
        except Undelivered as fault:
            return channels.ChannelCheck(name, ok=False, text=self._house.book.redactor().clean(str(fault)))
        return channels.ChannelCheck(name, ok=True, text=f"the platform knows it as {account}")

    async def pair(self, name: str, wanted: channels.WantedPairing) -> channels.PairingCode:
        """A code for one chat; raises ``NotFound``, ``InvalidRequest``, ``Conflict``."""
        if not known_channel(self._known, name).on:
            raise Conflict(f"{name} is off; switch it on first: stead channel enable {name}")
        if wanted.name:
            require_chat_name(wanted.name, self._known)
        rights = await asyncio.to_thread(possible_rights, wanted.rights, folder)
        code, expires_ms = self.chats.pairing.offer(name, replace(wanted, rights=rights))
        process = self.processes.get(name)
        link = process.link.replace("{}", code.replace("-", "")) if process and process.link else ""
        return channels.PairingCode(code, expires_ms, link)

    async def carry_out(self, command: channels.ChannelCommand, claim: Claimed, door: str) -> cmd.Answer:
        """Carry a command out.

        Raises:
            InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
            StorageFault: nothing was written.
        """
        secrets = self._house.home.state.secrets
        async with self._lock:
            fact = await asyncio.to_thread(
                channel_fact, command, self._known, self._manifests(), folder, secrets.__contains__, door
            )
            events = await self._house.home.record(fact, cause=claim.id, claim=of(claim, HOME))
            if isinstance(fact, channels.ChannelSet):
                self._again.add(fact.channel.name)
            self.turn.set()
            self.listen_again()
            if isinstance(fact, channels.ChannelRemoved | channels.ChatRemoved):
                name, chat = (fact.name, "") if isinstance(fact, channels.ChannelRemoved) else (fact.channel, fact.chat)
                await asyncio.to_thread(self._drop, name, chat)
        return answer(of(claim, HOME), events)

    def _drop(self, name: str, chat: str) -> None:
        self._box().drop(name, chat)
        if not chat:
            self._positions().drop(name)

    async def request(self, name: str, request: Request) -> Response:
        """See ``arrivals.ChannelRequests``."""
        process, manifest = self.processes.get(name), self.manifest(name)
        if process is None or manifest is None or not self._is_sent(name):
            raise NotFound(f"no channel {name!r} is sent requests")
        response = await process.request(request)
        if response.status == 401:
            self.chats.rates.refuse(name)
        return response

    @property
    def wanted(self) -> bool:
        """See ``arrivals.ChannelRequests``."""
        known = self._known.channels.values()
        return any(one.on and self._is_sent(one.channel.name) for one in known)

    def _is_sent(self, name: str) -> bool:
        """Whether a channel's platform sends it requests."""
        one, manifest = self._known.channels.get(name), self.manifest(name)
        return bool(
            one and manifest and manifest.inbound and (not manifest.signs or manifest.signs in one.channel.secrets)
        )

    # -- what runs -------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Have the process of every channel that is on, now and whenever that changes; until cancelled."""
        jobs: list[asyncio.Task[None]] = []
        try:
            while True:
                self.turn.clear()
                if self._known.channels and not jobs:
                    jobs += [asyncio.create_task(work(), name="chats") for work in (self.post.keep, *self.jobs)]
                    for job in jobs:
                        job.add_done_callback(_ended)
                self._adjust()
                await self._look()
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S if self._known.channels else None):
                        await self.turn.wait()
        finally:
            tasks = [*jobs, *(task for _, task in self._running.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _adjust(self) -> None:
        secrets = self._house.home.state.secrets
        versions = {name: secret.version for name, secret in secrets.items()}
        wanted = {
            name: (one.channel, tuple(versions.get(secret, 0) for secret in one.channel.secrets.values()))
            for name, one in self._known.channels.items()
            if one.on
        }
        over = {name for name, (of, _) in self._running.items() if wanted.get(name) != of or name in self._again}
        over |= {name for name, first in self._twins.items() if first in over}
        for name in over:
            self._running.pop(name)[1].cancel()
            self._twins.pop(name, None)
            del self.processes[name]
        self._again.clear()
        for name, (channel, _) in wanted.items():
            if name not in self._running and (manifest := self._manifests().get(channel.kind)):
                process = ChannelProcess(
                    name,
                    hosts_of(channel, manifest),
                    partial(self._begin, channel),
                    self._programs,
                    self._take,
                    self._changed,
                    self._house.clock,
                )
                process.secrets = tuple(channel.secrets.values())
                task = asyncio.create_task(process.keep(), name=f"channel {name}")
                task.add_done_callback(_ended)
                self._running[name], self.processes[name] = (wanted[name], task), process

    async def _begin(self, channel: channels.Channel) -> Begin:
        manifest, tokens = self._manifests()[channel.kind], dict[str, str]()
        for field, secret in channel.secrets.items():
            known = self._house.home.state.secrets.get(secret)
            value = self._house.book.let_out(known, f"channel/{channel.name}") if known else None
            if value is None:
                raise InvalidRequest(f"the secret {secret!r} is gone: stead secret add {secret}")
            tokens[field] = value
        defaults = {field.name: field.default for field in manifest.fields if not field.secret}
        ca = await asyncio.to_thread(read_ca, channel.ca_file) if channel.ca_file else ""
        await asyncio.to_thread(lambda: self._box().check())
        cursor, account = await asyncio.to_thread(lambda: self._positions().of(channel.name))
        return Begin(channel.kind, {**defaults, **channel.settings}, tokens, cursor, ca, account)

    async def _take(self, name: str, update: Update) -> None:
        process = self.processes.get(name)
        if self.post.waits:
            raise StorageFault(self.post.waits)  # what came of it could not be said there
        await asyncio.to_thread(lambda: self._box().check())
        await self.chats.take(name, process.account_id if process else "", update)
        if update.cursor:
            account = process.account_id if process else ""
            await asyncio.to_thread(lambda: self._positions().move(name, update.cursor, account))

    def _changed(self) -> None:
        """A process is up or down: a bot that is here twice answers once, by the channel that was first."""
        firsts: dict[tuple[str, str], str] = {}
        for name in self._known.channels:
            process = self.processes.get(name)
            if process is None or not process.account_id or process.over:
                continue  # one that is down for a while stays the first
            key = (self._known.channels[name].channel.kind, process.account_id)
            if (first := firsts.setdefault(key, name)) != name:
                self._running[name][1].cancel()
                self._twins[name] = first
                process.state, process.error = "down", f"it is the same bot as the channel {first}"
        if freed := {name for name, first in self._twins.items() if self.processes[first].over}:
            self._again |= freed
            self.turn.set()
        self.post.turn.set()

    async def _look(self) -> None:
        """Say of a channel that it has been down for a while, once each time, also where it comes and goes."""
        now_ms = self._house.clock.now_ms()
        for name, process in tuple(self.processes.items()):
            if process.state == "connected":
                if now_ms - process.up_since_ms >= STEADY_MS:
                    self._said.discard(name)
            elif name not in self._said and now_ms - process.down_since_ms >= LOST_MS:
                why = self._house.book.redactor().clean(process.error)
                try:
                    await self._house.home.record(channels.ChannelLost(name, why), cause=NO_COMMAND)
                except StorageFault as fault:
                    log.error("it is said later that the channel %s is down: %s", name, fault)
                else:
                    self._said.add(name)

    # -- for chats -------------------------------------------------------------------------------------------------

    async def fetch(self, channel: str, file: str) -> bytes:
        """The bytes of a file that came with an update; raises ``Undelivered``."""
        process = self.processes.get(channel)
        if process is None:
            raise Undelivered("the channel is off")
        return await process.fetch(file)


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("%s failed", task.get_name(), exc_info=error)
