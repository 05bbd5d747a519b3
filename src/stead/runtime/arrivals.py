"""What comes in from outside: kept, recorded before its sender is answered, refused where there is no room.

Layer: runtime. The one way in for webhooks, files and mail. Who sent it was found out by then; what it says is nobody's
word.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from stead.domain import triggers
from stead.domain.channel_wire import Request, Response
from stead.domain.due_times import words
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import CommandId
from stead.domain.ports import Clock, Journal
from stead.domain.schedules import ScheduleSkipped, Skip, Standing
from stead.domain.webhook_signatures import sign
from stead.runtime.attachments import GivenAttachments

if TYPE_CHECKING:
    from stead.runtime.home import HomeState
    from stead.runtime.schedules import Schedules
    from stead.runtime.secrets import SecretBook

RECORD_EVERY_MS = 60_000
"""How often at most a refusal is recorded; those in between are counted with the next."""
Outcome = Skip | Literal["taken", "off"]


_OPEN_S = 5.0
"""How long is waited for the listener to open."""


class Listener(Protocol):
    """Where webhooks come in."""

    @property
    def url(self) -> str:
        """Before a trigger's name; "" while it is closed."""

    @property
    def channels_url(self) -> str:
        """Before a channel's name; "" while it is closed."""

    async def keep(self, *, wanted: bool) -> None:
        """Have it open, or closed. Raises ``Conflict`` where its port is in use."""

    async def post(self, name: str, headers: dict[str, str], body: bytes) -> int:
        """Send a request to it as others would; gives the status of the answer. Raises ``OSError``."""


class ChannelRequests(Protocol):
    """Who has the channels, and hands them what their platforms send."""

    @property
    def wanted(self) -> bool:
        """Whether a channel that is on is sent requests; ``Arrivals.listen_again`` is called when this changes."""

    async def request(self, name: str, request: Request) -> Response:
        """Have a channel's process check and answer a request; ``n`` of both is the caller's no concern.

        Raises:
            NotFound: no channel of that name is on and is sent requests.
            SteadError, OSError: its process does not answer now.
        """


@dataclass(eq=False, repr=False)
class Arrivals:
    """Takes in what comes.

    Args:
        state: of the home.
        schedules: record and run it.
        kept: keeps its bytes.
        book: has the secrets.
        journal: knows what came before.
        clock: says what time it is.
    """

    _state: Callable[[], HomeState]
    _schedules: Schedules
    _kept: GivenAttachments
    _book: SecretBook
    _journal: Journal
    _clock: Clock

    def __post_init__(self) -> None:
        self._refused: dict[str, triggers.Refusals] = {}
        self._unrecorded: dict[tuple[str, Skip], tuple[int, int]] = {}
        """By trigger and reason: when a refusal was recorded last, and how many came since."""
        self.faults: dict[str, str] = {}
        """Why a trigger cannot listen now, by its name; "" for a webhook's that does, nothing before it was tried."""
        self.listened = asyncio.Event()
        """Set whenever what is to be listened for was opened or closed."""
        self.listener: Listener | None = None
        self.channels: ChannelRequests | None = None
        self.listen_again: Callable[[], None] = lambda: None
        """Looks again at what is to be listened for; set by who listens."""

    def source(self, name: str) -> triggers.Source | None:
        """What a trigger waits for; None where there is none of that name."""
        one = self._state().schedules.get(name)
        return one.schedule.when.source if one and isinstance(one.schedule.when, triggers.Arrival) else None

    def sources(self) -> dict[str, triggers.Source]:
        """Those of the triggers that are on, by name."""
        known = self._state().schedules.items()
        return {
            name: one.schedule.when.source
            for name, one in known
            if one.on and isinstance(one.schedule.when, triggers.Arrival)
        }

    def secret(self, name: str) -> str:
        """The value by which a trigger knows its sender; "" where there is none."""
        return self._book.of_trigger(name)

    def password(self, mailbox: triggers.Mailbox) -> str:
        """Of a mailbox; "" where there is none."""
        return self._book.of_trigger(mailbox.secret, mailbox.host)

    async def take(self, name: str, delivery: str, data: bytes) -> Outcome:
        """Keep what came in and record it, once for its delivery.

        Args:
            name: of the trigger.
            delivery: by what the sender tells it from others.
            data: up to ``MOST_BYTES`` of it.

        Raises:
            StorageFault: it was not recorded, so its sender must not get a 200.
        """
        assert len(data) <= triggers.MOST_BYTES
        id = CommandId(f"arrival:{name}:{hashlib.sha256(delivery.encode('utf-8', 'replace')).hexdigest()[:40]}")
        if self._journal.claimed(id):
            return "taken"
        content = await self._kept.keep(data)
        shown = "".join(letter if letter.isprintable() else " " for letter in delivery)[:200]
        arrived = triggers.Arrived(self._book.redactor().clean(shown), content, len(data))
        try:
            return await self._schedules.arrive(name, arrived, id)
        finally:
            self._kept.release(content)

    async def refused(self, name: str, why: str, *, skip: Skip | None = None) -> None:
        """Say where the owner looks that something was not taken; ``skip``: what to record of it, if anything."""
        now_ms = self._clock.now_ms()
        if self.source(name) is None:
            return  # strangers' guesses are not counted
        self._refused[name] = triggers.Refusals(self._refused.get(name, triggers.Refusals()).times + 1, now_ms, why)
        if skip is None:
            return
        last_ms, times = self._unrecorded.get((name, skip), (0, 0))
        times += 1
        if now_ms - last_ms >= RECORD_EVERY_MS:
            await self._schedules.note(ScheduleSkipped(name, now_ms, now_ms, times, skip))
            last_ms, times = now_ms, 0
        self._unrecorded[name, skip] = last_ms, times

    def read_up_to(self, name: str) -> triggers.MailboxRead | None:
        """How far a trigger's mailbox was read; ``valid`` is 0 where it never was. None where there is no trigger."""
        one = self._state().schedules.get(name)
        return (one.read or triggers.MailboxRead(name, 0, 0, self._clock.now_ms())) if one else None

    async def note_read(self, fact: triggers.MailboxRead) -> None:
        """Record it; raises ``StorageFault``."""
        await self._schedules.note(fact)

    # -- for people -------------------------------------------------------------------------------------------------

    async def rows(self) -> tuple[triggers.TriggerRow, ...]:
        """See ``service.TriggerQueries``."""
        await self._opened()
        known = sorted(self._state().schedules.items())
        return tuple(self._row(name, one) for name, one in known if isinstance(one.schedule.when, triggers.Arrival))

    async def test(self, name: str) -> triggers.TriggerTest:
        """See ``service.TriggerQueries``."""
        source = self.source(name)
        if source is None:
            raise NotFound(f"there is no trigger {name[:80]!r}; see: stead trigger list")
        if not isinstance(source, triggers.Webhook):
            raise InvalidRequest(f"{name} waits until {words(triggers.Arrival(source))[5:]}; put one there to test it")
        await self._opened()
        if not (key := self.secret(source.secret)):
            raise Conflict(f"the secret {source.secret!r} is gone: stead secret add {source.secret}")
        if name not in self.sources():
            raise Conflict(f"the trigger {name} is off: stead schedule enable {name}")
        if self.listener is None or not self.listener.url:
            raise Conflict(self.faults.get(name) or "the listener is not open yet; try it again")
        now_ms = self._clock.now_ms()
        body = b'{"type":"stead.test","id":"test-%d","event_id":"test-%d"}' % (now_ms, now_ms)
        try:
            status = await self.listener.post(name, sign(source.form, key, f"test-{now_ms}", body, now_ms), body)
        except OSError as error:
            raise Conflict(f"the listener does not answer: {error}") from error
        return triggers.TriggerTest(status, f"{self.listener.url}{name}")

    async def _opened(self) -> None:
        """Wait until the listener was opened, or could not be, for the triggers that there are."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_OPEN_S):
                while any(
                    isinstance(one, triggers.Webhook) and name not in self.faults
                    for name, one in self.sources().items()
                ):
                    self.listened.clear()
                    await self.listened.wait()

    def _row(self, name: str, one: Standing) -> triggers.TriggerRow:
        source, base = self.source(name), self.listener.url if self.listener else ""
        return triggers.TriggerRow(
            name=name,
            words=words(one.schedule.when),
            url=f"{base}{name}" if isinstance(source, triggers.Webhook) and base else "",
            fault=self.faults.get(name, "") if one.on else "",
            refused=self._refused.get(name, triggers.Refusals()),
        )
