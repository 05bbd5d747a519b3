"""How providers stand: which ones failed or are out of quota, and when a failed one is taken back.

Layer: providers. A provider whose server does not answer is left out of chains that have another one, and asked in the
background for its list of models, which costs nothing, at growing intervals; its first answer takes it back. One that
is out of quota is left out until the time that it named, and not probed: only a paid request would show that it serves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec

from stead.domain.providers import ProviderHealth
from stead.providers.failures import Broken, Failure

PROBED = ("connection", "timeout", "server", "overloaded")
"""Kinds of failure that say that a server is away."""
SPENT = ("rate_limit", "quota")
"""Those that say that an account has used up what it may."""
REST_S = {"rate_limit": 30.0, "quota": 600.0}
"""How long an account rests that did not say."""
MOST_WAIT_S = 300.0
"""Between two probes."""
PROBES = 100
"""After so many in vain a provider is asked by the next request again."""


class _Down(msgspec.Struct, frozen=True):
    state: str
    text: str
    until_s: float
    """By ``time.time``; 0 while only an answer takes it back."""
    next_ms: int


class Health:
    """Keeps track of the providers of a home. Close it.

    Args:
        probe: asks a provider for something free of cost; raises ``Broken`` when it does not answer.
        first_s: seconds until the first probe; each later one waits twice as long, up to five minutes.
    """

    def __init__(self, probe: Callable[[str], Awaitable[object]], first_s: float) -> None:
        self._probe = probe
        self._first_s = first_s
        self._down: dict[str, _Down] = {}
        self._well: set[str] = set()
        self._probes: dict[str, asyncio.Task[None]] = {}

    def of(self, name: str) -> ProviderHealth:
        """How a provider stands now."""
        down = self._current(name)
        if down is None:
            return ProviderHealth("ok" if name in self._well else "unknown")
        return ProviderHealth("failed" if down.state == "failed" else "resting", down.text, down.next_ms)

    def why_left_out(self, name: str) -> str:
        """Why a chain with another model leaves it out; "" when it does not."""
        down = self._current(name)
        return f"left out: {down.text}" if down else ""

    def answered(self, name: str) -> None:
        """It gave a reply, or the list of its models."""
        self._well.add(name)
        self._down.pop(name, None)
        if (task := self._probes.pop(name, None)) and task is not asyncio.current_task():
            task.cancel()

    def failed(self, name: str, failure: Failure) -> None:
        """A request to it failed."""
        now_s = time.time()
        if failure.kind in SPENT:
            until_s = now_s + (failure.retry_after_s or REST_S[failure.kind])
            self._down[name] = _Down("resting", failure.said, until_s, round(until_s * 1000))
        elif failure.kind in PROBED and name not in self._probes:
            self._down[name] = _Down("failed", failure.said, 0.0, round((now_s + self._first_s) * 1000))
            self._probes[name] = asyncio.create_task(self._take_back(name), name=f"probing {name}")

    def forget(self) -> None:
        """Providers were changed: nothing that was known holds."""
        self._down.clear()
        self._well.clear()
        for task in self._probes.values():
            task.cancel()
        self._probes.clear()

    async def close(self) -> None:
        """End every probe."""
        tasks = tuple(self._probes.values())
        self.forget()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _current(self, name: str) -> _Down | None:
        down = self._down.get(name)
        if down is not None and down.until_s and down.until_s <= time.time():
            del self._down[name]
            return None
        return down

    async def _take_back(self, name: str) -> None:
        wait_s = self._first_s
        for _ in range(PROBES):
            await asyncio.sleep(wait_s)
            try:
                await self._probe(name)
            except Broken as broken:
                wait_s = min(2 * wait_s, MOST_WAIT_S)
                next_ms = round((time.time() + wait_s) * 1000)
                self._down[name] = _Down("failed", broken.failure.said, 0.0, next_ms)
            else:
                self.answered(name)
                return
        self._probes.pop(name, None)
        self._down.pop(name, None)
