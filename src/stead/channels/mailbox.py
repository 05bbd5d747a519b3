"""A mailbox over IMAP as a channel reads it: never changed, waited at with IDLE where the server has it.

Layer: channels. Imported where it is used: it loads the vendor's library. The library's own errors hold the command
that failed, and so the password; none of their texts leaves here. It tells nobody when a connection is lost.

Source: RFC 3501 (EXAMINE §6.3.2, BODY.PEEK with a bound §6.4.5), RFC 2177 (IDLE), RFC 5530 (why a login failed).
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from aioimaplib import IMAP4, AioImapException
from aioimaplib.aioimaplib import SELECTED, IMAP4ClientProtocol, quoted

from stead.channels.base import ChannelFault
from stead.channels.dialing import dial

STEP_S, WHOLE_S = 20.0, 120.0
"""For each piece that comes; for a whole exchange."""
IDLE_S = 240.0
"""After which a server that seems silent is asked, so that a connection that died unseen is noticed."""
POLL_S = 20.0
_NUMBER = re.compile(rb"\[(UIDVALIDITY|UIDNEXT) (\d{1,10})\]")
_FETCHED = re.compile(rb'\d+ FETCH .*INTERNALDATE "([^"]{20,40})"')
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PASSING = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]", "[CONTACTADMIN]", "[ALERT]")
"""Of refusals of a login: those that say nothing of the password."""
Value = TypeVar("Value")


class Stored(NamedTuple):
    """The first bytes of a mail, or of its headers, and when it came in, in milliseconds."""

    raw: bytes
    came_ms: int


class Mailbox(IMAP4):  # type: ignore[misc]  # it has no types
    """A connection to one folder. Every method raises ``ChannelFault``, and lets ``OSError`` pass.

    Args:
        host, port: of the server, for TLS.
    """

    def __init__(self, host: str, port: int) -> None:
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        super().__init__(host, port, timeout=STEP_S)

    def create_client(self, host: str, port: int, *_: object) -> None:
        """See the library: here the connection goes through the proxy, and it is heard when it is lost."""
        loop = asyncio.get_running_loop()
        self.protocol = IMAP4ClientProtocol(loop, self._losing)

        async def connect() -> None:
            sock = await dial(host, port)
            trust = ssl.create_default_context()
            await loop.create_connection(lambda: self.protocol, sock=sock, ssl=trust, server_hostname=host)

        self._client_task = loop.create_task(connect())

    def _losing(self, _: Exception | None) -> None:
        if not self._lost.done():
            self._lost.set_result(None)

    async def enter(self, user: str, password: str, folder: str) -> None:
        """Sign in; and look into a folder, which is not changed thereby."""
        await self._whole(self.wait_hello_from_server())
        said = await self._whole(self.protocol.login(quoted(user), password))
        if said.result != "OK":
            words = " ".join(b" ".join(said.lines).decode("utf-8", "replace").split()).replace(password, "...")
            refused = not any(code in words.upper() for code in _PASSING)
            raise ChannelFault(f"the mailbox's server did not let {user} in: {words[:200]}", refused=refused)
        if not self.has_capability("IDLE"):
            await self._whole(self.protocol.capability())
        self._folder = folder
        try:
            await self.look()
        except ChannelFault as fault:
            raise ChannelFault(f"the folder {folder}: {fault}") from None

    async def look(self) -> tuple[int, int]:
        """Look again: the number that UIDs are valid under, and the UID that the next mail gets; 0 for unknown."""
        lines = await self._asked(self.examine(quoted(self._folder)))
        self.protocol.state = SELECTED  # as EXAMINE did, which the library does not follow
        found = {match[1]: int(match[2]) for line in lines for match in _NUMBER.finditer(bytes(line))}
        return found.get(b"UIDVALIDITY", 0), found.get(b"UIDNEXT", 0)

    async def uids(self, after: int, since_ms: int = 0) -> list[int]:
        """The UIDs past one, in order; with ``since_ms`` of what came since that day alone."""
        day = datetime.fromtimestamp(since_ms / 1000, UTC) - timedelta(days=1)  # days are the server's
        since = ("SINCE", f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}") if since_ms else ()
        return await self._search(f"UID {after + 1}:*", *since, after=after)

    async def named(self, message_id: str) -> list[int]:
        """The UIDs of mails with a Message-ID."""
        return await self._search("HEADER", "Message-ID", quoted(message_id))

    async def _search(self, *criteria: str, after: int = 0) -> list[int]:
        lines = await self._asked(self.uid_search(*criteria, charset=None))
        numbers = {int(word) for line in lines if re.fullmatch(rb"[\d ]+", line) for word in line.split()}
        return sorted(uid for uid in numbers if uid > after)  # a range with * has the last one always

    async def mail(self, uid: int, most_bytes: int, section: str = "") -> Stored | None:
        """The first bytes of a mail or of a section of it; None where it is gone."""
        lines = await self._asked(self.uid("fetch", str(uid), f"(INTERNALDATE BODY.PEEK[{section}]<0.{most_bytes}>)"))
        raw = next((bytes(line) for line in lines if isinstance(line, bytearray)), None)
        header = next((match for line in lines if (match := _FETCHED.match(bytes(line[:500])))), None)
        if raw is None or header is None:
            return None
        came = datetime.strptime(header[1].decode("ascii", "replace").strip(), "%d-%b-%Y %H:%M:%S %z")
        return Stored(raw[:most_bytes], int(came.timestamp() * 1000))

    async def wait_for_mail(self) -> None:
        """Return once something may have come."""
        if not self.has_capability("IDLE"):
            await self._or_lost(asyncio.sleep(POLL_S))
            return
        idling = await self._whole(self.idle_start(timeout=IDLE_S))
        await self._or_lost(self.protocol.idle_queue.get())
        self.idle_done()
        await self._whole(idling)

    async def _asked(self, work: Awaitable[Any]) -> list[Any]:
        said = await self._whole(work)
        if said.result != "OK":
            words = b" ".join(line for line in said.lines[-1:] if isinstance(line, bytes))
            raise ChannelFault(f"the mailbox's server refuses: {words.decode('utf-8', 'replace')[:200]}")
        return list(said.lines)

    async def _whole(self, work: Awaitable[Value]) -> Value:
        try:
            async with asyncio.timeout(WHOLE_S):
                return await self._or_lost(work)
        except TimeoutError:
            raise ChannelFault("the mailbox's server does not answer") from None
        except (AioImapException, ValueError, IndexError, AttributeError) as error:
            raise ChannelFault(f"the mailbox's server: {type(error).__name__}") from None

    async def _or_lost(self, work: Awaitable[Value]) -> Value:
        doing = asyncio.ensure_future(work)
        try:
            await asyncio.wait((doing, self._lost), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise ConnectionError("the mailbox's server ended the connection")
            return doing.result()
        finally:
            doing.cancel()

    async def leave(self) -> None:
        """Let go of it, without a farewell that a server could have us wait for."""
        left = [*self.tasks, *self.protocol.tasks, self._client_task]
        if self._idle_waiter is not None:
            self._idle_waiter.cancel()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self.protocol.transport is not None:
            self.protocol.transport.abort()
