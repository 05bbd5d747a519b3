"""The process of a channel: ``python -m stead.channels.worker``; lines of ``domain.channel_wire`` in and out.

Layer: channels. Keeps a platform connected, numbers its updates and holds each until the daemon has recorded it. No
token is in anything that it prints.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, TextIO
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from stead.channels.base import ChannelFault, Platform, parts
from stead.channels.platforms import UNUSED, platform
from stead.domain import channel_wire as wire

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
"""Before a connection that failed is tried again."""
STEADY_S = 60.0
"""A connection that lasted so long begins to wait from the first again."""
MOST_UNRECORDED = 50
"""Updates that wait for the daemon; more are not asked of the platform."""
_PARTS = 3
"""Messages that a long text becomes; a longer one is sent as a file."""
_NAME_CHARS, _FILE_NAME_CHARS, _MEDIA_CHARS, _FILES = 500, 200, 100, 20
"""As the wire has them; what strangers choose is cut to them."""
_UNREACHED = re.compile(r"(?:502 )?Refused by Stead \(egress-unreachable\)")
"""What the proxy of this machine answers where a host is not there."""
Line = Callable[[wire.FromChannel], None]


class Worker:
    """One channel.

    Args:
        begin: what it is.
        write: gives the daemon a line.
    """

    def __init__(self, begin: wire.Begin, write: Line) -> None:
        self._secrets = [value for value in begin.tokens.values() if value]
        self._write = write
        self._numbers = count(1)
        self._unrecorded: dict[int, asyncio.Future[None]] = {}
        self._room = asyncio.Semaphore(MOST_UNRECORDED)
        self._doing: set[asyncio.Task[None]] = set()
        self._up_s = 0.0
        sys.modules.update(dict.fromkeys(UNUSED))  # type: ignore[arg-type]  # as where it is not installed
        self._account = begin.account
        self._took = False  # since it was last down: a connection that brings something is made again soon
        self.platform: Platform = platform(begin.kind)(begin, self._take, self._up)

    async def keep(self) -> None:
        """Stay connected, until cancelled or until there is no use in it."""
        wait_s = FIRST_WAIT_S
        loop = asyncio.get_running_loop()
        while True:
            self._up_s = 0.0
            try:
                await self.platform.attempted(self.platform.run())
                fault = ChannelFault("the connection ended")
            except ChannelFault as error:
                fault = error
            self._write(wire.Down(self._clean(str(fault)), fault.final))
            if fault.final:
                return
            if self._took or (self._up_s and loop.time() - self._up_s > STEADY_S):
                self._took, wait_s = False, FIRST_WAIT_S
            await asyncio.sleep(max(wait_s, fault.after_s))
            wait_s = min(wait_s * 2, LONGEST_WAIT_S)

    def hear(self, line: wire.ToChannel) -> None:
        """Do what the daemon says."""
        match line:
            case wire.Ack(n=n):
                if (waiting := self._unrecorded.get(n)) and not waiting.done():
                    waiting.set_result(None)
            case wire.Send():
                self._begin(self._answered(line.n, self._send(line)))
            case wire.Edit():
                self._begin(self._answered(line.n, self.platform.edit(line)))
            case wire.Fetch():
                self._begin(self._answered(line.n, self.platform.fetch(line.file)))
            case wire.Probe():
                self._begin(self._answered(line.n, self.platform.probe()))
            case wire.Request():
                self._begin(self._responded(line))
            case wire.Typing(chat=chat, thread=thread):
                self._begin(self._tried(self.platform.typing(chat, thread)))
            case wire.Pressed(press=press, text=text):
                self._begin(self._tried(self.platform.pressed(press, text)))

    def _up(self, account: str, name: str, link: str) -> None:
        self._up_s = asyncio.get_running_loop().time()
        if self._account not in ("", account):
            self.platform.cursor = ""
        self._account = account
        self._write(wire.Up(account, name, link))
        _trim()

    async def _take(self, update: wire.Update) -> None:
        update = _fitting(update)
        try:
            msgspec.json.decode(msgspec.json.encode(update), type=wire.Update)
        except (msgspec.ValidationError, UnicodeEncodeError):
            return  # an id that is none; whatever sent it is not the platform as it is known
        async with self._room:
            n = next(self._numbers)
            recorded = self._unrecorded[n] = asyncio.get_running_loop().create_future()
            try:
                self._write(replace(update, n=n))
                await recorded
                self._took = True
            finally:
                del self._unrecorded[n]

    async def _send(self, message: wire.Send) -> str:
        """Send a text as one message, as a few, or as a file with its beginning."""
        most = self.platform.manifest.text_chars
        pieces = list(parts(message.text, most))
        if len(pieces) > _PARTS:
            whole = wire.FileOut("answer.txt", "text/plain", message.text.encode())
            pieces = [f"{next(parts(message.text, most - 40))}\n… the whole is attached"]
            message = replace(message, files=(*message.files, whole))
        for number, piece in enumerate(pieces[:-1]):
            await self.platform.send(replace(message, key=f"{message.key}.{number}", text=piece, buttons=(), files=()))
            await asyncio.sleep(self.platform.manifest.chat_s)
        return await self.platform.send(replace(message, text=pieces[-1]))

    async def _answered(self, n: int, work: Awaitable[str | bytes | None]) -> None:
        try:
            value = await self.platform.attempted(work)
        except ChannelFault as fault:
            final = fault.final and not fault.refused
            self._write(wire.Done(n, error=self._failed(fault), after_s=fault.after_s, final=final))
        else:
            self._write(wire.Done(n, data=value) if isinstance(value, bytes) else wire.Done(n, value or ""))

    async def _responded(self, request: wire.Request) -> None:
        try:
            status, body = await self.platform.attempted(self.platform.request(request))
        except ChannelFault as fault:  # its platform sends it again
            self._write(wire.Response(request.n, 503, error=self._failed(fault)))
            return
        media = "application/json" if body.startswith(("{", "[")) else "text/plain"
        self._write(wire.Response(request.n, status, body, media))  # type: ignore[arg-type]  # one of the two

    async def _tried(self, work: Awaitable[None]) -> None:
        """What is for the eye alone, and is missed by nobody."""
        with suppress(ChannelFault):
            await self.platform.attempted(work)

    def _failed(self, fault: ChannelFault) -> str:
        """Why a request failed; where the token was refused the connection is over, whatever it still brings."""
        text = self._clean(str(fault))
        if fault.refused:
            self._write(wire.Down(text, final=True))
        return text

    def _clean(self, text: str) -> str:
        return _UNREACHED.sub("no connection could be made", without(self._secrets, text))[:500] or "it failed"

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)


def _trim() -> None:
    """Give back what is free by now: compiling a library that was installed without its bytecode leaves megabytes."""
    import ctypes

    with suppress(AttributeError):  # of a C library that has no such call
        ctypes.CDLL(None).malloc_trim(0)


def without(secrets: Sequence[str], text: str) -> str:
    """A text in which no secret is, also as it stands in an address."""
    for secret in secrets:
        for form in (secret, quote(secret, safe=""), quote(secret)):
            text = text.replace(form, "…")
    return text


def _fitting(update: wire.Update) -> wire.Update:
    """An update whose names and texts are as long as the wire lets them be."""
    files = tuple(
        replace(file, name=_cut(file.name, _FILE_NAME_CHARS), media_type=_cut(file.media_type, _MEDIA_CHARS))
        for file in update.files[:_FILES]
    )
    name, title = _cut(update.name, _NAME_CHARS), _cut(update.title, _NAME_CHARS)
    return replace(update, name=name, title=title, text=_cut(update.text, wire.MOST_TEXT_CHARS), files=files)


def _cut(text: str, most: int) -> str:
    """A text of so many characters; half of a pair, which JSON can name and no line can hold, is a question mark."""
    return text[:most].encode("utf-8", "replace").decode()


class _Complaints:
    """Standard error without secrets, for libraries that log and tasks that nobody waits for."""

    def __init__(self, to: TextIO, secrets: Sequence[str]) -> None:
        self._to, self._secrets = to, secrets

    def write(self, text: str) -> int:
        return self._to.write(without(self._secrets, text))

    def flush(self) -> None:
        self._to.flush()


async def main() -> None:
    """Serve one channel until the input ends."""
    reader = asyncio.StreamReader(limit=16 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    begin = msgspec.json.decode(await reader.readline(), type=wire.Begin)
    _trust(begin.ca)
    sys.stderr = _Complaints(sys.stderr, list(begin.tokens.values()))

    def write(line: wire.FromChannel) -> None:
        data = memoryview(msgspec.json.encode(line) + b"\n")
        while data:
            try:
                data = data[os.write(1, data) :]
            except BlockingIOError:  # it may be one socket with the input, which must not block
                select.select([], [1], [])

    worker = Worker(begin, write)
    keeping = asyncio.create_task(worker.keep(), name="connection")
    decoder = msgspec.json.Decoder(wire.ToChannel)
    try:
        while line := await reader.readline():
            worker.hear(decoder.decode(line))
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await worker.platform.close()


def _trust(ca: str) -> None:
    """Have every library here trust further certificates; and go through the proxy for this computer's own too."""
    for name in ("no_proxy", "NO_PROXY"):
        os.environ.pop(name, None)
    if not ca:
        return
    known = ""
    if (bundle := os.environ.get("SSL_CERT_FILE")) and os.path.exists(bundle):
        with open(bundle, encoding="utf-8") as file:
            known = file.read()
    with tempfile.NamedTemporaryFile("w", suffix=".pem", delete=False) as trusted:
        trusted.write(f"{known}\n{ca}\n")
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        os.environ[name] = trusted.name


if __name__ == "__main__":
    asyncio.run(main())
