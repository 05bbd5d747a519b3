"""The engine that searches the web: how a person sets it up, and what they are shown of it.

Layer: runtime. Knows no wire of an engine. The key comes in with a command, goes into the vault
and is read from there by whoever asks the engine alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import msgspec

from stead.domain import events as ev
from stead.domain.commands import RemoveSearch, SetSearch
from stead.domain.errors import FetchFault, InvalidRequest, NotFound
from stead.domain.ports import Secrets
from stead.domain.search import KEY_NAME, KEYED, Engine, require_valid

_KEY_CHARS = 10_000
_PROBE = "weather"


class SearchSetup(msgspec.Struct, frozen=True):
    """How the web is searched, for people. ``engine`` is "" when it is not; ``key``: "none", "vault" or "missing"."""

    engine: str
    url: str
    key: str


class SearchCheck(msgspec.Struct, frozen=True):
    """The result of a live test: one real search, with a query that says nothing of anybody."""

    ok: bool
    text: str
    duration_ms: int
    results: int


class Found(Protocol):
    """What a search brought."""

    @property
    def results(self) -> Sequence[object]:
        """The hits."""


class Asks(Protocol):
    """Asks an engine over its wire; ``daemon.py`` puts the real one behind it."""

    def configure(self, chosen: tuple[Engine, str] | None) -> None:
        """Ask this engine from now on, at this URL or, for "", at its own; or none."""

    @property
    def url(self) -> str:
        """Where it is asked."""

    @property
    def keyed(self) -> bool:
        """Whether the engine wants a key, and it is in the vault."""

    async def search(self, query: str, count: int) -> Found:
        """Search.

        Raises:
            FetchFault: there is no engine, or it gave no results.
        """


class SearchService:
    """Setting up and testing the search engine."""

    def __init__(self, asks: Asks) -> None:
        self._asks = asks
        self._configured: ev.SearchConfigured | None = None

    def configure(self, configured: ev.SearchConfigured | None) -> None:
        """Use this engine from now on, or none."""
        self._configured = configured
        self._asks.configure((configured.engine, configured.url) if configured else None)

    def setup(self) -> SearchSetup:
        """What is set up."""
        if self._configured is None:
            return SearchSetup("", "", "none")
        engine = self._configured.engine
        key = "none" if engine not in KEYED else "vault" if self._asks.keyed else "missing"
        return SearchSetup(engine, self._asks.url, key)

    async def check(self) -> SearchCheck:
        """A live test, within 15 s."""
        started = time.monotonic()
        try:
            found = await self._asks.search(_PROBE, 1)
        except FetchFault as fault:
            return SearchCheck(False, str(fault), _ms_since(started), 0)
        said = "it answered" if found.results else "it answered, and found nothing"
        return SearchCheck(True, said, _ms_since(started), len(found.results))


async def search_change(
    command: SetSearch | RemoveSearch, configured: ev.SearchConfigured | None, secrets: Secrets
) -> ev.SearchConfigured | ev.SearchRemoved:
    """The fact that a command about the engine makes; a key goes into the vault, or out of it, on the way.

    Raises:
        InvalidRequest: an engine, address or key that cannot be.
        NotFound: there is no engine to remove.
        StorageFault: nothing was changed.
    """
    match command:
        case SetSearch(engine=engine, url=url):
            require_valid(engine, url)
            await _keep(command, configured, secrets)
            return ev.SearchConfigured(engine=engine, url=url)
        case RemoveSearch():
            if configured is None:
                raise NotFound("no search engine is set up; there is nothing to remove")
            await secrets.remove(KEY_NAME)
            return ev.SearchRemoved()


async def _keep(command: SetSearch, configured: ev.SearchConfigured | None, secrets: Secrets) -> None:
    key = command.key.strip()
    if len(key) > _KEY_CHARS or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidRequest("a key is one word of ASCII; give the key alone")
    if command.engine not in KEYED:
        if key:
            raise InvalidRequest(f"{command.engine!r} takes no key; leave it out")
        await secrets.remove(KEY_NAME)
        return
    same = configured is not None and (configured.engine, configured.url) == (command.engine, command.url)
    if key:
        await secrets.put(KEY_NAME, key)
    elif not same or not secrets.get(KEY_NAME):
        # A key that was given for one address is not sent to another.
        raise InvalidRequest(f"{command.engine!r} wants a key; run `stead search set {command.engine}` and give it")


def _ms_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
