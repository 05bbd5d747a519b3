"""Forgetting with proof: what is asked for, what is found, and what the parts of a home do for it.

Layer: domain. Words go through memory alone here; nothing of this is recorded but ``memory.forgetting`` and
``memory.forgotten``, which have numbers and fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

import msgspec

from stead.domain.events import Body, Erased, Event
from stead.domain.ids import CommandId, SessionId
from stead.domain.memory import MemoryId
from stead.domain.memory_events import ForgetReceipt, ForgettingBegun

FORGOTTEN = "[forgotten]"
"""What stands in the place of words that were forgotten."""

Match = Literal["exact", "any_case", "fuzzy"]
"""As it is written; however it is written large or small; or nearly so, which only a preview does."""

Touches = Callable[[bytes], bool]
"""Whether recorded bytes have any of the words."""


class Redaction(msgspec.Struct, frozen=True):
    """What one transaction of the journal forgets.

    Args:
        events: by seq, what is read from now on; None for nothing, as of a memory's own events.
        begun: recorded with it.
        ts_ms: when.
        cause: the command.
        read: the last event in which the words were looked for.
    """

    events: Mapping[int, Body | None]
    begun: ForgettingBegun
    ts_ms: int
    cause: CommandId
    read: int


class RedactableJournal(Protocol):
    """A journal that forgets words."""

    def events(self, *, after: int = 0, session: SessionId | None = None) -> Iterator[Event | Erased]:
        """As of ``domain.ports.Journal``."""

    def head(self) -> int:
        """As of ``domain.ports.Journal``."""

    def touched(self, touches: Touches) -> Iterator[Event]:
        """The events whose payload ``touches`` matches, in order. It blocks."""

    async def redact(self, redaction: Redaction, touches: Touches) -> tuple[Event, ...]:
        """Forget in one transaction; then nothing of it is in the file or its log. Gives the events that record it.

        The caller holds off the writers of these streams meanwhile; afterwards each loads its stream again.

        Args:
            redaction: which events, and what is read in their place.
            touches: finds what has no seq here: events that came after ``read``, and answers to commands.

        Raises:
            Conflict: an event after ``read`` has the words, so they have to be looked for again; nothing was done.
            NotFound: there is no such event, or it is of another type than its replacement.
            StorageFault: it was not written; or it was, and the log could not be emptied, which the next opening does.
        """


class Occurrence(msgspec.Struct, frozen=True):
    """One event that has words to be forgotten.

    Args:
        seq: of the event.
        session: whose stream.
        type: of the event.
        ts_ms: when it was recorded.
        excerpt: the words with a little around them, cleaned for people.
        count: how often they stand there.
    """

    seq: int
    session: SessionId
    type: str
    ts_ms: int
    excerpt: str
    count: int


class Preview(msgspec.Struct, frozen=True):
    """What would be forgotten; nothing has been done.

    Args:
        words: as they stand there: for a fuzzy search, what it found, to be picked from.
        memories: that would be forgotten, with their text.
        places: the first hundred events that would be redacted, oldest first.
        events: how many there are in all.
        kept: what would stay, and what the person can do about it.
    """

    words: tuple[str, ...]
    memories: tuple[tuple[MemoryId, str], ...]
    places: tuple[Occurrence, ...]
    events: int
    kept: tuple[str, ...]


class Purges(Protocol):
    """A part of the home that holds copies of what the journal has. Both methods may take seconds."""

    async def purge(self, memories: Sequence[MemoryId], events: Sequence[int]) -> None:
        """Erase these from its files and its memory, every byte; harmless when they are gone already.

        The journal has been redacted by then: what is to stay is read there again.

        Raises:
            StorageFault: it could not be done; the next start tries again.
        """

    async def scan(self, touches: Touches) -> tuple[str, ...]:
        """The places that still have the words, each with what the person can do."""


class Found(msgspec.Struct, frozen=True):
    """What a search of the home's files came to; paths are below the home.

    A file that is named after a person is listed as its folder: a receipt with the name would have to go once the name
    is forgotten.

    Args:
        scanned: files that were read to their end.
        left: those that have the words, each with what the person can do.
        databases: those of the home's own that have them, in some page.
        laid_out: the words are among those with which databases are laid out, as names of their columns.
        backups: copies of the journal that were made before and have them, each with when, and how long it is kept.
        skipped: files that could not be read, or not in time, with why.
    """

    scanned: tuple[str, ...]
    left: tuple[str, ...]
    databases: tuple[str, ...]
    laid_out: bool
    backups: tuple[str, ...]
    skipped: tuple[str, ...]


class Files(Protocol):
    """The files of the home, as a holder of its keys reads them."""

    def strike(self, touches: Touches, clean: Callable[[str], str]) -> None:
        """Take words out of the logs; it blocks. ``search`` reports a log that cannot be written."""

    def search(self, touches: Touches, seconds: float) -> Found:
        """Search all files; it blocks, and skips those that it has not reached after ``seconds``."""


class Holder(Protocol):
    """The writer of a stream, which forgetting has to stop for a while."""

    def held(self) -> AbstractAsyncContextManager[None]:
        """Write nothing while it is entered, and then go on from what the journal has.

        A model request under way is cut off; calls of tools go on, and what comes of them is written afterwards.
        """


class Receipts(Protocol):
    """The home's word that something is gone, and its memory of what must not come back."""

    def digest(self, content: bytes) -> str:
        """HMAC, hex, under a key of the home; for ``domain.fingerprints``."""

    def public_key(self) -> str:
        """By which receipts are verified: Ed25519, hex."""

    def signed(self, receipt: ForgetReceipt) -> ForgetReceipt:
        """With the home's signature."""
