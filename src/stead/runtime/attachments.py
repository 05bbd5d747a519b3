"""Pictures and documents as they come in: checked, brought within the limits, stored, and found again by messages.

Layer: runtime. Implements ``domain.attachments.Attachments``. What a message names must have been given here by the
same person's door a while before, so that no caller can say of a file what it is not. What is never used is dropped
with the next collection of what nothing refers to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stead.domain import events as ev
from stead.domain.attachments import MOST_NAME, MOST_PAGES, MOST_UPLOAD_BYTES, Pictures, media_type, read_picture
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.messages import PDF, Attachment, of_message
from stead.domain.ports import Clock
from stead.runtime.pinned_blobs import PinnedBlobs

if TYPE_CHECKING:
    from stead.storage.attachments import AttachmentStore

MOST_OF_A_MESSAGE = 20
UNUSED_MS = 24 * 3600 * 1000
"""How long a file that was given waits for the message that names it."""
_MOST_WAITING = 500


@dataclass(eq=False, repr=False)
class GivenAttachments:
    """Takes files in and remembers them for a day.

    Args:
        blobs: where their bytes go.
        pictures: decodes what has to be.
        pinned: keeps from collection what no event names yet.
        clock: says when a day is over.
        collect: drops what nothing refers to any more.
    """

    _blobs: AttachmentStore
    _pictures: Pictures
    _pinned: PinnedBlobs
    _clock: Clock
    _collect: Callable[[], Awaitable[None]]

    def __post_init__(self) -> None:
        self.load = self._blobs.load
        self._given: dict[str, tuple[int, Attachment]] = {}

    async def take(self, name: str, data: bytes) -> Attachment:
        """See ``Attachments``."""
        if len(data) > MOST_UPLOAD_BYTES:
            raise InvalidRequest(f"the file has more than {MOST_UPLOAD_BYTES // 1_000_000} MB; make it smaller")
        kind, shown = media_type(data), shown_name(name)
        if kind == PDF:
            pages = await self._pictures.pages(data)
            if pages > MOST_PAGES:
                raise InvalidRequest(f"{shown!r} has {pages} pages and may have {MOST_PAGES}; give a part of it")
            return Attachment(await self.keep(data), PDF, len(data), shown, pages=pages)
        picture = read_picture(data) if kind in ("image/png", "image/jpeg") else None
        if not kind:
            raise InvalidRequest("only PNG, JPEG, GIF and WebP pictures and PDF documents are shown to models")
        if picture is None or not picture.fits:
            picture = read_picture(await self._pictures.scaled(data))
            if not picture.fits:
                raise InvalidRequest("the picture could not be made smaller; scale it yourself")
        content, size_bytes = await self.keep(picture.data), len(picture.data)
        return Attachment(content, media_type(picture.data), size_bytes, shown, picture.width, picture.height)

    async def give(self, name: str, data: bytes) -> Attachment:
        """Take a file from a person, for a message to come; otherwise as ``take``."""
        made = await self.take(name, data)
        now_ms = self._clock.now_ms()
        if self._forget_unused(now_ms):
            await self._collect()
        if len(self._given) >= _MOST_WAITING:
            raise InvalidRequest(f"{_MOST_WAITING} files wait for a message already; send some of them")
        self._given[made.content] = now_ms + UNUSED_MS, made
        return made

    def named(self, contents: Sequence[str]) -> tuple[Attachment, ...]:
        """What was given under these names (``Attachment.content``), in this order.

        Raises:
            InvalidRequest: there are too many.
            NotFound: one was not given, or a day or a restart ago.
        """
        if len(contents) > MOST_OF_A_MESSAGE:
            raise InvalidRequest(f"a message has at most {MOST_OF_A_MESSAGE} attachments")
        if absent := [content for content in contents if content not in self._given]:
            raise NotFound(f"no file {absent[0][:12]!r} was given lately; upload it again")
        return tuple(self._given[content][1] for content in dict.fromkeys(contents))

    def drop(self, contents: Iterable[str]) -> None:
        """Keep these no longer, but for what the record names."""
        for content in contents:
            self._given.pop(content, None)
            self._pinned.release(content)

    async def keep(self, data: bytes) -> str:
        """Store bytes, and keep them until the record names them; raises ``StorageFault``."""
        content = await self._blobs.keep(data)
        self._pinned.pin(content)
        return content

    def hold(self, contents: Iterable[str]) -> None:
        """Keep what ``keep`` stored before a restart."""
        for content in contents:
            self._pinned.pin(content)

    def release(self, content: str) -> None:
        """Keep what ``keep`` stored no longer than the record names it, unless a person gave the same."""
        if content not in self._given:
            self._pinned.release(content)

    def _forget_unused(self, now_ms: int) -> bool:
        """Let go of what has waited too long; whether there was any."""
        late = [content for content, (until_ms, _) in self._given.items() if until_ms <= now_ms]
        self.drop(late)
        return bool(late)


def attachments_of(body: ev.Body) -> Iterator[Attachment]:
    """What a fact refers to."""
    match body:
        case ev.SessionOpened() | ev.MessageReceived() | ev.ToolFinished():
            yield from body.attachments
        case ev.ConversationSet(carried=carried):
            for message in carried.messages:
                yield from of_message(message)
        case _:
            return


def shown_name(name: str) -> str:
    """A file's last name on one line, without what no terminal prints."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "".join(letter for letter in last if letter.isprintable())[:MOST_NAME].strip() or "unnamed"
