"""Looking at what schedules watch: addresses, feeds, ports, commands in a machine, files, calendars, mailboxes.

Layer: tools. Implements ``domain.watches.Looks``. A look has no permit: the person set the watch, and no model can. It
reaches what ``fetch`` reaches, by the same rules, and a command runs in a machine like a server over stdio, never on
the host. Every look is bounded in time and size; nothing that a source says is obeyed or followed.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from stead.domain import watches
from stead.domain.errors import AddressRefused, FetchFault, SteadError, ToolFault
from stead.domain.ids import HOME
from stead.domain.mcp import McpServer, Programs
from stead.domain.triggers import Mailbox
from stead.guardian.reach import Target, Unreachable
from stead.net.dialing import Dialer
from stead.net.exchange import Request, follow
from stead.tools.feeds import read_feed
from stead.tools.fetching import BODY_LIMIT_BYTES, REDIRECT_LIMIT, TIME_LIMIT_S

COMMAND_LIMIT_S = 60.0
COMMAND_LIMIT_BYTES = 4 << 20
_KEPT_BYTES = 4_000
_SHELL = '/bin/bash -c "$0"; printf "\\nexit code %d\\n" $?'
_ENDED = re.compile(rb"\nexit code \d+\n\Z")
"""What stands at the end of what was printed, unless the machine itself has gone."""
_MOST_ANSWERS = 200
_MOST_MAILS, _MAIL_BYTES = 100, 16 << 10
"""Of a mailbox that is looked at first; of a mail, for what its head says."""
_VALIDATORS = (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since"))


@dataclass(eq=False, repr=False)
class SourceLooks:
    """Looks at every kind of source.

    Args:
        dialer: how hosts are reached, and which may be.
        programs: runs commands in machines.
        files: looks at files.
        calendars: reads calendars.
        password: of a mailbox; "" for none.
    """

    _dialer: Dialer
    _programs: Programs
    _files: watches.FileLooks
    _calendars: watches.CalendarLooks
    _password: Callable[[Mailbox], str]

    def __post_init__(self) -> None:
        self._mailboxes: dict[Mailbox, tuple[tuple[int, int], watches.Look]] = {}
        """What was found last, and the numbers that tell whether anything has come since."""
        self._answers: dict[watches.Watch, tuple[tuple[tuple[str, str], ...], watches.Look]] = {}
        """What was answered last, and the fields that ask whether it is still so."""

    async def look(self, watch: watches.Watch, place: watches.Place) -> watches.Look:
        """See ``Looks``."""
        match watch:
            case watches.PathWatch(path=path):
                return await self._files.look(place, path)
            case watches.CalendarWatch(source=source) if not watches.is_address(source):
                return await self._calendars.look(place.directory, source, None)
            case watches.HttpWatch(url=url) | watches.FeedWatch(url=url) | watches.CalendarWatch(source=url):
                try:
                    async with asyncio.timeout(TIME_LIMIT_S):
                        return await self._answered(watch, self._target(url))
                except TimeoutError as error:
                    raise FetchFault("{!r} did not answer within {:g} s", url, TIME_LIMIT_S) from error
            case Mailbox():
                return await asyncio.to_thread(self._mail, watch)
            case watches.PortWatch(host=host, port=port):
                shown = f"[{host}]" if ":" in host else host
                return await self._port(self._target(f"http://{shown}:{port}/"))
            case watches.CommandWatch(command=command):
                return await self._command(command, place)
            case _:
                assert_never(watch)

    def _target(self, url: str) -> Target:
        target = self._dialer.reach.check_url(url)
        if isinstance(target, Unreachable):
            raise FetchFault("{}", target.text)
        return target

    async def _answered(
        self, watch: watches.HttpWatch | watches.FeedWatch | watches.CalendarWatch, target: Target
    ) -> watches.Look:
        asked, known = self._answers.get(watch, ((), None))
        async with follow(self._dialer, Request(target, headers=asked), REDIRECT_LIMIT) as answer:
            if answer.status == 304 and known is not None:
                return known
            if not 200 <= answer.status < 300:
                raise FetchFault("{!r} answered {}", target.url, answer.status)
            body, _ = await answer.body(BODY_LIMIT_BYTES)
            fields = tuple((ask, answer.fields[name]) for name, ask in _VALIDATORS if name in answer.fields)
        look = watches.Look(watches.digest(body))
        if isinstance(watch, watches.FeedWatch):
            entries = await asyncio.to_thread(read_feed, body, target.url)
            look = watches.Look(items=dict.fromkeys(entries, ""), words=entries)
        elif isinstance(watch, watches.CalendarWatch):
            look = await self._calendars.look("", watch.source, body)
        if len(self._answers) >= _MOST_ANSWERS:
            self._answers.clear()
        self._answers[watch] = (fields, look)
        return look

    def _mail(self, watch: Mailbox) -> watches.Look:
        """The newest mail. One is known by its first bytes, so that a server that renumbers makes no news."""
        from stead.domain.mail import read_mail
        from stead.net.imap import ImapMailbox  # few homes have one

        if not (password := self._password(watch)):
            raise ToolFault("there is no secret {!r} for the mailbox; add it: stead secret add", watch.secret)
        opened = ImapMailbox(watch.host, watch.port, watch.user, password, watch.folder)
        try:
            valid, following = opened.look()
            (was_valid, was_following), known = self._mailboxes.get(watch, ((0, 0), watches.Look()))
            found = dict(known.words) if was_valid == valid else {}
            after = max(was_following if found else 0, following - _MOST_MAILS) - 1
            until = time.monotonic() + COMMAND_LIMIT_S
            for uid in opened.uids(max(0, after)):
                if time.monotonic() > until:
                    raise FetchFault("{!r} takes more than {:g} s for its mail", watch.host, COMMAND_LIMIT_S)
                if (raw := opened.mail(uid, _MAIL_BYTES)) is not None:
                    mail = read_mail(raw[0], watch.proof)
                    if not watch.senders or mail.proven in watch.senders:
                        found[watches.digest(mail.delivery.encode())] = mail.text.partition("\n\n")[0]
        finally:
            opened.close()
        look = watches.Look(items=dict.fromkeys(found, ""), words=found)
        if len(self._mailboxes) >= _MOST_ANSWERS:
            self._mailboxes.clear()
        self._mailboxes[watch] = ((valid, following), look)
        return look

    async def _port(self, target: Target) -> watches.Look:
        try:
            (_, writer), _ = await self._dialer.dial(target, secure=False)
        except AddressRefused:
            raise
        except FetchFault as fault:
            if fault.__cause__ is not None:  # there is no such host, so nothing is known of its port
                raise
            return watches.Look("closed")
        writer.transport.abort()
        return watches.Look("open")

    async def _command(self, command: str, place: watches.Place) -> watches.Look:
        server = McpServer("watch", command=("/bin/bash", "-c", _SHELL, command), hosts=place.hosts, folder=True)
        hashing, kept, last, size = hashlib.sha256(), b"", b"", 0
        program = await self._programs.start(HOME, server, {}, place.directory)
        try:
            async with asyncio.timeout(COMMAND_LIMIT_S):
                while data := await program.read():
                    size += len(data)
                    if size > COMMAND_LIMIT_BYTES:
                        raise ToolFault("it printed more than {} MB", COMMAND_LIMIT_BYTES >> 20)
                    hashing.update(data)
                    kept, last = (kept + data)[:_KEPT_BYTES], (last + data)[-20:]
        except TimeoutError as error:
            raise ToolFault("it did not end within {:g} s", COMMAND_LIMIT_S) from error
        finally:
            with suppress(SteadError):
                await program.end()
        if not _ENDED.search(last):
            raise ToolFault("it did not come to its end: {}", program.last_words[:200])
        return watches.Look(hashing.hexdigest()[:32], words={"": kept.decode("utf-8", "replace").strip()})
