"""The engine that searches the web: how a person sets it up, and what they are shown of it.

Layer: runtime. Knows no wire of an engine; ``SearchDesk`` asks it. The key comes in with a command, goes into the vault
and is read from there by the desk alone.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from stead.domain import events as ev
from stead.domain.commands import RemoveSearch, SetSearch
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.ports import Secrets
from stead.domain.search import KEY_NAME, KEYED, require_valid

_KEY_CHARS = 10_000


class SearchSetup(msgspec.Struct, frozen=True):
    """How the web is searched, as shown to people. ``engine`` is "" when it is not; ``key``: "none" or "vault"."""

    engine: str
    url: str
    key: str


class SearchCheck(msgspec.Struct, frozen=True):
    """The result of a live test: one real search, with a query that says nothing of anybody."""

    ok: bool
    text: str
    duration_ms: int
    results: int


class SearchDesk(Protocol):
    """Asks the engine; ``daemon.py`` puts the real one behind it."""

    def configure(self, configured: ev.SearchConfigured | None) -> None:
        """Use this engine from now on, or none."""
        ...

    def setup(self) -> SearchSetup:
        """What is set up."""
        ...

    async def check(self) -> SearchCheck:
        """A live test, within 15 s."""
        ...


async def changed(
    command: SetSearch | RemoveSearch, configured: ev.SearchConfigured | None, secrets: Secrets
) -> ev.SearchConfigured | ev.SearchRemoved:
    """The fact that a command about the engine makes; a key goes into the vault, or out of it, on the way.

    Raises:
        InvalidRequest: an engine, address or key that cannot be.
        NotFound: there is no engine to remove.
        StorageFault: nothing was changed.
    """
    match command:
        case SetSearch(engine=engine, url=url, key=key):
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
