"""Facts about the whole home: providers, the default chain, the daily cap, what is granted for a project.

Layer: runtime. The stream ``home`` is folded like a session's; it is small, so it is kept whole in memory.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Protocol, assert_never

import msgspec

from stead.domain import events as ev
from stead.domain.commands import ConfigureProvider, RemoveProvider, SetCap, SetChain, SetProviderKey
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ids import HOME, CommandId
from stead.domain.ports import Claimed, Clock, Journal, Secrets
from stead.domain.sessions import Grant
from stead.runtime.bus import Bus
from stead.runtime.service import ProviderCheck, ProviderRow

_KEY_CHARS = 10_000
_MOST = 10**15
NO_CAP = ev.Budget(tokens="unlimited", usd_micros="unlimited")

HomeCommand = ConfigureProvider | SetProviderKey | RemoveProvider | SetChain | SetCap


@dataclass(frozen=True)
class HomeState:
    """What the home's stream adds up to. ``grants`` are pairs of folder and grant."""

    seq: int = 0
    providers: dict[str, ev.ProviderConfigured] = field(default_factory=dict)
    chain: tuple[ev.ModelRef, ...] = ()
    cap: ev.Budget = NO_CAP
    grants: tuple[tuple[str, Grant], ...] = ()


def fold(state: HomeState, event: ev.Event) -> HomeState:
    """The state after one more event of the home's stream."""
    state = replace(state, seq=event.session_seq)
    match event.body:
        case ev.ProviderConfigured() as configured:
            return replace(state, providers={**state.providers, configured.name: configured})
        case ev.ProviderRemoved(name=name):
            left = {key: value for key, value in state.providers.items() if key != name}
            chain = tuple(ref for ref in state.chain if ref.provider != name)
            return replace(state, providers=left, chain=chain)
        case ev.ChainSet(chain=chain):
            return replace(state, chain=chain)
        case ev.CapSet(daily=daily):
            return replace(state, cap=daily)
        case ev.GrantMade(tool=tool, shape=shape, directory=directory, expires_at_ms=expires_at_ms):
            return replace(state, grants=(*state.grants, (directory, Grant(tool, shape, expires_at_ms))))
        case ev.GrantRevoked(tool=tool, directory=directory):
            kept = tuple(pair for pair in state.grants if pair[0] != directory or pair[1].tool != tool)
            return replace(state, grants=kept)
        case _:
            return state


class HomeStream:
    """The home's end of the journal. ``lock``: whoever holds it alone may append to the stream."""

    def __init__(self, *, journal: Journal, bus: Bus, clock: Clock) -> None:
        self._journal = journal
        self._bus = bus
        self._clock = clock
        self._lock = asyncio.Lock()
        self.state = HomeState()

    def load(self) -> None:
        """Fold what the journal has."""
        for event in self._journal.events(session=HOME):
            if isinstance(event, ev.Event):
                self.state = fold(self.state, event)

    async def record(self, *bodies: ev.Body, cause: CommandId, claim: Claimed | None = None) -> tuple[ev.Event, ...]:
        """Append facts about the home.

        Raises:
            Fenced, Conflict, StorageFault: nothing was written.
        """
        async with self._lock:
            drafts = [
                ev.Draft(
                    HOME, self.state.seq + index, self._clock.now_ms(), "person" if cause else "stead", cause, body
                )
                for index, body in enumerate(bodies, start=1)
            ]
            events = await self._journal.append(drafts, claim=claim)
            for event in events:
                self.state = fold(self.state, event)
        self._bus.publish(events)
        return events


class ProviderDesk(Protocol):
    """What can be asked about providers beside their use; ``daemon.py`` puts the real ones behind it."""

    def require_valid(self, configured: ev.ProviderConfigured) -> None:
        """Refuse a configuration that cannot work.

        Raises:
            InvalidRequest: names the field and what it may be.
        """
        ...

    def secret_name(self, provider: str) -> str:
        """Under which name the vault holds a provider's key."""
        ...

    def configure(self, state: HomeState) -> None:
        """Use these providers and this chain from now on."""
        ...

    def rows(self) -> tuple[ProviderRow, ...]:
        """All providers, as shown to people."""
        ...

    async def check(self, name: str) -> ProviderCheck:
        """A live test, within 15 s."""
        ...


async def change(command: HomeCommand, state: HomeState, secrets: Secrets, desk: ProviderDesk) -> ev.Body:
    """The fact that a command about the home makes; a key goes into the vault on the way.

    Raises:
        InvalidRequest: a name, preset, place of a key or figure that cannot be.
        NotFound: no such provider.
    """
    match command:
        case ConfigureProvider():
            fact = ev.ProviderConfigured(**msgspec.structs.asdict(command))
            desk.require_valid(fact)
            return fact
        case SetProviderKey(name=name, key=key):
            if not key.strip() or len(key) > _KEY_CHARS or "\n" in key.strip():
                raise InvalidRequest("a key is one line of text, not empty")
            provider = _known(state, name)
            await secrets.put(desk.secret_name(name), key.strip())
            return msgspec.structs.replace(provider, key="vault")
        case RemoveProvider(name=name):
            _known(state, name)
            await secrets.remove(desk.secret_name(name))
            return ev.ProviderRemoved(name=name)
        case SetChain(chain=chain):
            return ev.ChainSet(chain=chain)
        case SetCap(daily=daily):
            check_budget(daily)
            return ev.CapSet(daily=daily)
        case _:
            assert_never(command)


def check_budget(budget: ev.Budget) -> None:
    """Refuse a budget that is not positive, or too large to be meant.

    Raises:
        InvalidRequest: a figure of 0 or less, or past ``_MOST``.
    """
    for name, value in (("tokens", budget.tokens), ("millionths of a dollar", budget.usd_micros)):
        if value != "unlimited" and not 0 < value <= _MOST:
            raise InvalidRequest(f'a budget of {value} {name} cannot be; give 1 to {_MOST}, or "unlimited"')


def _known(state: HomeState, name: str) -> ev.ProviderConfigured:
    provider = state.providers.get(name)
    if provider is None:
        raise NotFound(f"no provider {name!r} is configured; add it with `stead providers add {name} --preset …`")
    return provider
