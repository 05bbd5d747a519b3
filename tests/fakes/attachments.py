"""Attachments over a real store of contents, where there is no machine to decode in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from stead.domain.attachments import Pictures
from stead.domain.errors import InvalidRequest, MachineUnavailable
from stead.domain.messages import Attachment
from stead.domain.ports import Clock
from stead.runtime.attachments import GivenAttachments
from stead.runtime.pinned_blobs import PinnedBlobs
from stead.storage.attachments import AttachmentStore
from stead.storage.contents import ContentStore


class NoDecoder:
    """A computer without a machine."""

    async def scaled(self, data: bytes) -> bytes:
        raise MachineUnavailable("there is no decoder here")

    async def pages(self, data: bytes) -> int:
        raise MachineUnavailable("there is no decoder here")


class NothingShown:
    """Takes no file."""

    async def take(self, name: str, data: bytes) -> Attachment:
        raise InvalidRequest("nothing is shown here")


NOTHING_SHOWN = NothingShown()


def given_attachments(
    store: ContentStore,
    pinned: PinnedBlobs,
    clock: Clock,
    collect: Callable[[], Awaitable[None]],
    pictures: Pictures | None = None,
) -> GivenAttachments:
    """What a home is given, in this store."""
    return GivenAttachments(AttachmentStore(store), pictures or NoDecoder(), pinned, clock, collect)
