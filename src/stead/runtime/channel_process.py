"""One channel's process: started in a machine, kept running, asked, and heard as a stranger is.

Layer: runtime. Every line that it prints is checked by type before it is looked at. An update is acknowledged once
``on_update`` has returned, which is when it is recorded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from stead.domain import channel_wire as wire
from stead.domain.channels import ChannelPrograms
from stead.domain.errors import InvalidRequest, SteadError, StorageFault
from stead.domain.notifications import Undelivered
from stead.domain.ports import Clock
from stead.net.json_lines import JsonLines

log = logging.getLogger(__name__)
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 300.0
"""Before a process that ended is started again."""
ASK_LIMIT_S = 90.0
RESPOND_LIMIT_S = 9.0
"""Less than the listener waits, so that it is known here."""
PROBE_S = 300.0
"""How often a channel that says it is connected is asked whether the token still holds."""
PROBE_AGAIN_S = 30.0
"""The same after it did not answer such a question, while its connection says nothing else."""
RECORD_AGAIN_S = 5.0
NEXT = "It is tried again once the channel is changed or its secret is replaced (stead secret add NAME --replace)"
_STEADY_S, STEADY_MS = 60.0, 60_000
State = Literal["off", "starting", "connected", "down"]
_IDS = ("id", "chat", "thread", "person", "message")


@dataclass(eq=False, repr=False)
class ChannelProcess:
    """One channel.

    Args:
        name: the channel's.
        hosts: what it may reach.
        begin: gives its first line; raises ``SteadError`` where a token is gone.
        programs: starts it.
        on_update: records an update; raises ``StorageFault`` where it could not.
        on_change: called when its state changed.
        clock: says what time it is.
    """

    name: str
    _hosts: tuple[str, ...]
    _begin: Callable[[], Awaitable[wire.Begin]]
    _programs: ChannelPrograms
    _on_update: Callable[[str, wire.Update], Awaitable[None]]
    _on_change: Callable[[], None]
    _clock: Clock

    def __post_init__(self) -> None:
        self.state: State = "starting"
        self.account = self.link = self.error = self.account_id = ""
        self.waits = ""
        """Why what comes in cannot be recorded, and so waits at the platform; "" where it can."""
        self.over = False
        """It ended for good, and holds its bot no more."""
        self.in_ms = self.probed_ms = 0
        self.down_since_ms = self._clock.now_ms()
        """Since when it was not connected for ``STEADY_MS`` on end; before it last was, while it is."""
        self.up_since_ms = 0
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[wire.Done]] = {}
        self._requests: dict[int, asyncio.Future[wire.Response]] = {}
        self._chats: dict[str, asyncio.Lock] = {}
        self._taking: set[asyncio.Task[None]] = set()
        self._known = asyncio.Event()
        """Set once it is known which bot it is, which is part of what an update is known by."""
        self._lines: JsonLines | None = None
        self._ended_as: str = ""  # or "broken", or "final"
        self._turn = asyncio.Event()
        """Set once it is over, or a message could not be sent: whether the platform is there is asked at once."""
        self._unproven = False
        """It is down for no more than a question that was not answered."""

    # -- running ---------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Run it until cancelled, or until it says that there is no use in it."""
        wait_s, loop = FIRST_WAIT_S, asyncio.get_running_loop()
        try:
            while True:
                began_s = loop.time()
                try:
                    final = await self._run()
                except SteadError as fault:
                    final = isinstance(fault, InvalidRequest)
                    self._fell(str(fault))
                if final:
                    self.over = True
                    self._on_change()
                    return
                if loop.time() - began_s > _STEADY_S:
                    wait_s = FIRST_WAIT_S
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)
        finally:
            self.state = "off" if self.state != "down" else "down"

    async def _run(self) -> bool:
        """One process from its start to its end; whether it said that there is no use in another."""
        begin = await self._begin()
        program = await self._programs.start_channel(self.name, self._hosts)
        self._ended_as, self._unproven = "", False
        lines = self._lines = JsonLines(program, self._heard, self._ended, "channel's process")
        try:
            await lines.write(msgspec.to_builtins(begin))
            while not self._ended_as:
                with suppress(TimeoutError):
                    async with asyncio.timeout(PROBE_AGAIN_S if self._unproven else PROBE_S):
                        await self._turn.wait()
                self._turn.clear()
                if not self._ended_as and (self._unproven or self.state == "connected"):
                    await self._probe()
            return self._ended_as == "final"
        finally:
            self._lines = None
            await lines.close()
            self._end("broken")
            for task in self._taking:
                task.cancel()

    async def _probe(self) -> None:
        try:
            await self.probe()
        except Undelivered as fault:
            if fault.final:
                self._end("final", f"{fault}. {NEXT}")
            elif not fault.after_s and not self._ended_as:
                self._unproven = self._unproven or self.state == "connected"
                self._fell(f"it does not answer a probe: {fault}")

    def _ended(self, fault: SteadError) -> None:
        self._end("broken", str(fault))

    def _end(self, how: str, why: str = "") -> None:
        """It is over: nothing that it was asked will be answered."""
        if why:
            self._fell(why)
        self._ended_as = self._ended_as or how
        self._turn.set()
        waiting: tuple[asyncio.Future[Any], ...] = (*self._asked.values(), *self._requests.values())
        for one in waiting:
            if not one.done():
                one.set_exception(Undelivered(self.error or "the channel's process ended"))

    def _fell(self, why: str) -> None:
        now_ms = self._clock.now_ms()
        if self.state != "down" and now_ms - self.up_since_ms >= STEADY_MS:
            self.down_since_ms = now_ms
        if (self.state, self.error) != ("down", why):
            log.warning("the channel %s is down: %s", self.name, why)
        self.state, self.error = "down", why
        self._on_change()

    def _rose(self) -> None:
        self.probed_ms = self._clock.now_ms()
        if self.state != "connected":
            self.up_since_ms = self.probed_ms
        self.state, self.error, self._unproven = "connected", "", False
        self._on_change()

    # -- hearing ---------------------------------------------------------------------------------------------------

    def _heard(self, line: dict[str, Any]) -> None:
        if self._ended_as:
            return  # what it still brings comes again to the next one
        try:
            said = msgspec.convert(line, type=wire.FromChannel)
        except msgspec.ValidationError as error:
            self._nonsense(line, error)
            return
        match said:
            case wire.Up(account=account, name=name, link=link):
                self.account_id, self.account, self.link = account, name, link
                self._known.set()
                self._rose()
            case wire.Down(text=text, final=True):
                self._end("final", f"{text}. {NEXT}")
            case wire.Down(text=text):
                self._unproven = False  # it connects again by itself
                self._fell(text)
            case wire.Update():
                self.in_ms = self._clock.now_ms()
                task = asyncio.create_task(self._take(said), name=f"update of {self.name}")
                self._taking.add(task)
                task.add_done_callback(self._taken)
            case wire.Done(n=n) if (asked := self._asked.get(n)) and not asked.done():
                asked.set_result(said)
            case wire.Response(n=n) if (request := self._requests.get(n)) and not request.done():
                request.set_result(said)

    def _taken(self, task: asyncio.Task[None]) -> None:
        """After a fault of ours the process begins again, and with it the update that it still has."""
        self._taking.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("%s failed", task.get_name(), exc_info=error)
            self._fell("a message could not be taken in; see: stead logs")
            self._end("broken")

    def _nonsense(self, line: Mapping[str, Any], error: Exception) -> None:
        """A line that is none. An update that cannot be is acknowledged, or it would come again for ever."""
        log.warning("the channel %s said what cannot be: %s", self.name, str(error)[:200])
        if line.get("type") == "update" and isinstance(n := line.get("n"), int):
            self.tell(wire.Ack(n))

    async def _take(self, update: wire.Update) -> None:
        if any("\n" in getattr(update, name) for name in _IDS):
            self.tell(wire.Ack(update.n))
            return
        await self._known.wait()
        async with self._chats.setdefault(update.chat, asyncio.Lock()):
            while True:
                try:
                    await self._on_update(self.name, update)
                    self.waits = ""
                    break
                except StorageFault as fault:
                    self.waits = f"what comes in waits at the platform, as it cannot be recorded: {fault}"
                    log.error("%s: %s", self.name, self.waits)
                    await asyncio.sleep(RECORD_AGAIN_S)
                except SteadError as fault:  # it would come out so again; those behind it are not to wait for it
                    log.error("a message of %s was not carried out: %s", self.name, fault)
                    break
            self.tell(wire.Ack(update.n))

    # -- asking ----------------------------------------------------------------------------------------------------

    async def send(self, message: wire.Send) -> str:
        """Send a message; gives the platform's name of it. Raises ``Undelivered``."""
        return (await self._ask(message)).value

    async def edit(self, edit: wire.Edit) -> None:
        """Put another text in place; raises ``Undelivered``."""
        await self._ask(edit)

    async def fetch(self, file: str) -> bytes:
        """Bring a file; raises ``Undelivered``."""
        return (await self._ask(wire.Fetch(0, file))).data

    async def probe(self) -> str:
        """Ask whether the token holds; gives what the bot is called. Raises ``Undelivered``."""
        name = (await self._ask(wire.Probe(0))).value
        self.probed_ms = self._clock.now_ms()
        if self._unproven:
            self._rose()
        return name

    async def request(self, request: wire.Request) -> wire.Response:
        """Have it answer a request of its platform; 503 where it does not in time. The last failure stays ``error``."""
        n = next(self._numbers)
        waiting: asyncio.Future[wire.Response] = asyncio.get_running_loop().create_future()
        self._requests[n] = waiting
        try:
            await self._write(replace(request, n=n))
            async with asyncio.timeout(RESPOND_LIMIT_S):
                response = await waiting
        except (TimeoutError, Undelivered) as fault:
            response = wire.Response(n, 503, error=str(fault) or f"no answer within {RESPOND_LIMIT_S:g} s")
        finally:
            del self._requests[n]
        if self.state == "connected":
            why = f"the last request of the platform was not taken in: {response.error}" if response.error else ""
            if why and why != self.error:
                log.warning("%s: %s", self.name, why)
            self.error = why
        return response

    async def _ask(self, line: wire.Send | wire.Edit | wire.Fetch | wire.Probe) -> wire.Done:
        n = next(self._numbers)
        waiting: asyncio.Future[wire.Done] = asyncio.get_running_loop().create_future()
        self._asked[n] = waiting
        try:
            await self._write(replace(line, n=n))
            async with asyncio.timeout(ASK_LIMIT_S):
                done = await waiting
        except TimeoutError as error:
            raise Undelivered(f"no answer within {ASK_LIMIT_S:g} s") from error
        finally:
            del self._asked[n]
        if done.error:
            if not done.final and not done.after_s and isinstance(line, wire.Send | wire.Edit):
                self._turn.set()
            raise Undelivered(done.error, after_s=done.after_s, final=done.final)
        return done

    async def _write(self, line: wire.ToChannel) -> None:
        if self._lines is None:
            raise Undelivered(self.error or "the channel is not connected yet")
        try:
            await self._lines.write(msgspec.to_builtins(line))
        except SteadError as fault:
            raise Undelivered(str(fault)) from fault

    def tell(self, line: wire.ToChannel) -> None:
        """Write without being waited for; what cannot be written is said by the process' end."""

        async def write() -> None:
            try:
                await self._write(line)
            except Undelivered as fault:
                log.debug("the channel %s was not reached: %s", self.name, fault)

        task = asyncio.create_task(write(), name=f"word to {self.name}")
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)
