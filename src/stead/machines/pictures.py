"""Decoding pictures and documents for models, each in a machine of its own.

Layer: machines. Implements ``domain.attachments.Pictures``. A file may be made to take its decoder over: the machine
that opens it holds nothing else, reaches nothing, and is killed when it has answered. The decoder of pictures is that
of Chromium, which tools use anyway; what comes back is checked again by who asked.
"""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections.abc import Awaitable, Callable

from stead.config import CHROMIUM
from stead.domain.attachments import LONGEST_EDGE, MOST_PICTURE_BYTES
from stead.domain.errors import InvalidRequest, MachineDied, MachineUnavailable, ToolFault
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.machines.machine import Binding
from stead.machines.making import Maker

_CHUNK_BYTES = 3 << 20
_LIMIT_S = 50.0


class MachinePictures:
    """Opens one file at a time.

    Args:
        maker: makes its machines, with the limits of a browser and no way out.
        work: has a session's own runner do something.
    """

    def __init__(self, maker: Maker, work: Callable[..., Awaitable[tuple[bytes, int]]]) -> None:
        self._maker = maker
        self._work = work
        self._turn = asyncio.Lock()

    async def chunk(self, permit: Permit, path: str, start: int) -> tuple[bytes, int]:
        """As ``RawFiles.chunk``."""
        permit.require_live(permit.session)
        place = (path.encode("utf-8", "replace"), b"%d" % start, b"%d" % _CHUNK_BYTES)
        return await self._work(permit.session, "chunk", *place, answer=lambda data, size: (data, int(size)))

    async def scaled(self, data: bytes) -> bytes:
        """See ``Pictures``."""
        program = next((path for path in CHROMIUM if os.access(path, os.X_OK)), "")
        if not program:
            raise MachineUnavailable(
                "the picture has more than {} pixels at an edge or {} MB, moves, or lies on its side, and there is no "
                "Chromium under /usr on this computer to convert it: apt install chromium, or save it as a small PNG",
                *(LONGEST_EDGE, MOST_PICTURE_BYTES / 1_000_000),
            )
        limits = b"%d" % LONGEST_EDGE, b"%d" % MOST_PICTURE_BYTES
        if not (found := await self._asked("scale", program.encode(), b64encode(data), *limits)):
            raise InvalidRequest("the picture could not be decoded; save it again as PNG or JPEG, with fewer pixels")
        return found

    async def pages(self, data: bytes) -> int:
        """See ``Pictures``."""
        found = await self._asked("pages", data)
        if not found.isdigit() or not int(found):
            raise MachineDied("the machine's answer made no sense; try again")
        return int(found)

    async def _asked(self, operation: str, *arguments: bytes) -> bytes:
        async with self._turn:
            machine = await self._maker.make(
                SessionId("pictures"), Binding("", writable=False), lambda _why: None, "browse"
            )
            try:
                verdict, *fields = await machine.call(operation, b"40000", *arguments, limit_s=_LIMIT_S)
            except ToolFault as error:
                raise InvalidRequest(str(error)) from error
            finally:
                machine.kill("it has answered")
                await machine.gone()
        if verdict != b"ok":
            raise InvalidRequest(f"the file could not be opened: {b' '.join(fields)[:300].decode('utf-8', 'replace')}")
        return fields[0] if fields else b""
