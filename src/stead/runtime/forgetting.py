"""Forgetting with proof: words taken out of the record, then out of everything that was made of it, then looked for.

Layer: runtime. The record forgets in one transaction, which also notes what is to go, by numbers alone; whatever comes
after it needs no words, so a crash at any moment is made good at the next start. What is left in any file of the home
is found by looking for the words themselves, while they are still known; after a crash, by their fingerprints.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from stead.domain import events as ev
from stead.domain.commands import Answer
from stead.domain.errors import Conflict, NotFound
from stead.domain.fingerprints import Fingerprints, fingerprint
from stead.domain.forget_commands import Forget
from stead.domain.forgetting import Files, Holder, Preview, Purges, Receipts, RedactableJournal, Redaction
from stead.domain.ids import HOME, NO_COMMAND, CommandId, SessionId
from stead.domain.memory import MEMORY
from stead.domain.memory_events import ForgetReceipt, ForgettingBegun
from stead.domain.near_words import Near
from stead.domain.ports import Claimed, Clock
from stead.domain.redacting import has, texts, unchained
from stead.runtime.answers import of
from stead.runtime.bus import Bus
from stead.runtime.forgettable import Forgettable, Words, forgettable, nearly
from stead.runtime.memories import MemoryStream

log = logging.getLogger(__name__)

TRIES = 5
"""How often words are looked for again because they came anew meanwhile."""
SEARCH_S = 20.0
"""How long the files of the home are searched; what was not reached is named in the receipt."""
LIKE_IT = "(Stead's own names and numbers there look like the words; of the record every text was read)"
"""Of a database in which a search for bytes says nothing."""
BROKEN = "a database of Stead; restart Stead, forget it again, and report it if it stays"


@dataclass(frozen=True)
class Parts:
    """What forgetting works with.

    Args:
        journal: the record.
        memory: the end of the stream ``memory``.
        holder: who writes a stream of a session's or of the home.
        purges: everything that was made of the record.
        files: of the home.
        receipts: see there.
        words_of: see ``forgettable``.
        bus: who watches.
        clock: see there.
    """

    journal: RedactableJournal
    memory: MemoryStream
    holder: Callable[[SessionId], Holder]
    purges: Sequence[Purges]
    files: Files
    receipts: Receipts
    words_of: Words
    bus: Bus
    clock: Clock


class Forgetting:
    """Forgets, one thing after another.

    Args:
        parts: see there.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = asyncio.Lock()
        self._known = Fingerprints(parts.receipts.digest)

    def load(self) -> None:
        """Know what was forgotten before. It blocks; until it is done, nothing may be taken in."""
        for event in self._parts.journal.events(session=MEMORY):
            if isinstance(event, ev.Event) and isinstance(event.body, ForgettingBegun):
                self._known.add(event.body.fingerprints)

    def is_forgotten(self, text: str) -> bool:
        """Whether a text is, or contains, what was forgotten; for whoever takes anything into memory."""
        return self._known.says(text)

    def public_key(self) -> str:
        """By which receipts are verified: Ed25519, hex."""
        return self._parts.receipts.public_key()

    async def preview(self, wanted: Forget) -> Preview:
        """What would be forgotten; nothing is done.

        Raises:
            NotFound, InvalidRequest: as ``forgettable``.
        """
        return (await self._find(wanted)).preview()

    async def near(self, words: str) -> Preview:
        """The same for what says nearly these words; ``words`` of it are to be picked from.

        Raises:
            NotFound: nothing does.
            InvalidRequest: as ``Near``.
        """
        found = await asyncio.to_thread(nearly, self._parts.journal, Near(words))
        if not found:
            raise NotFound("nothing on record says nearly that")
        return await self.preview(Forget(words=found))

    async def carry_out(self, command: Forget, claim: Claimed, door: str) -> Answer:
        """Forget, and answer when it is proven.

        Raises:
            NotFound, InvalidRequest: as ``forgettable``, or nothing has the words; nothing was done.
            Conflict: the words keep coming; nothing was done.
            StorageFault: nothing was done, or it is finished at the next start.
        """
        receipt = await self.forget(command, door, claim)
        return of(claim, MEMORY, said(receipt)).answer

    async def forget(self, wanted: Forget, door: str, claim: Claimed | None = None) -> ForgetReceipt:
        """As ``carry_out``, for whoever wants the receipt. A claim is recorded with it."""
        async with self._lock:
            found, seq, begun = await self._redact(wanted, door, claim.id if claim else NO_COMMAND)
            receipt = await self._prove(begun, found)
            await self._record(seq, receipt, claim)
        return receipt

    async def resume(self) -> None:
        """Finish what a crash cut off. Of words that nobody knows any more, fingerprints are looked for."""
        async with self._lock:
            for seq, begun in (await asyncio.to_thread(self._unfinished)).items():
                known = Fingerprints(self._parts.receipts.digest)
                known.add(begun.fingerprints)
                log.warning("what was to be forgotten at event %d was cut off, and is finished now", seq)
                await self._purge(begun)
                left = await asyncio.to_thread(self._left_in_journal, known)
                receipt = _receipt(begun, ("data/journal.db, by fingerprints",), left, ())
                await self._record(seq, self._parts.receipts.signed(receipt), None)

    async def _find(self, wanted: Forget) -> Forgettable:
        parts = self._parts
        return await asyncio.to_thread(forgettable, parts.journal, wanted, parts.words_of)

    async def _redact(self, wanted: Forget, door: str, cause: CommandId) -> tuple[Forgettable, int, ForgettingBegun]:
        parts = self._parts
        for _ in range(TRIES):
            found = await self._find(wanted)
            if not found.events:
                raise NotFound("nothing on record has that; look for it with a preview first: `stead memory forget`")
            begun = ForgettingBegun(
                tuple(found.memories), tuple(sorted(found.events)), self._fingerprints(found.fingerprinted()), door
            )
            await asyncio.to_thread(parts.files.strike, found.needles.touches, found.needles.cleaned)
            try:
                async with self._held(found.sessions):
                    bodies = await asyncio.to_thread(self._with_requests, found)
                    redaction = Redaction(bodies, begun, parts.clock.now_ms(), cause, found.read)
                    events = await parts.journal.redact(redaction, found.needles.touches)
                    self._known.add(begun.fingerprints)  # before anybody who waited takes something in
            except Conflict as meanwhile:
                log.info("%s", meanwhile)
                continue
            parts.bus.forget(bodies.keys())
            parts.bus.publish(events)
            return found, events[-1].seq, begun
        raise Conflict(
            "the words come again faster than they are forgotten; pause what says them, and forget them then"
        )

    def _with_requests(self, found: Forgettable) -> dict[int, ev.Body | None]:
        """What is read instead; requests that were made after such words have a digest of them, and lose it."""
        bodies: dict[int, ev.Body | None] = dict(found.events)
        for session, first in found.sessions.items():
            for event in self._parts.journal.events(after=first, session=session):
                if (
                    isinstance(event, ev.Event)
                    and isinstance(event.body, ev.ModelRequested)
                    and event.body.prefix_sha256
                ):
                    bodies.setdefault(event.seq, unchained(event.body))
        return bodies

    @asynccontextmanager
    async def _held(self, sessions: Iterable[SessionId]) -> AsyncIterator[None]:
        """Hold everybody who writes one of these streams; sessions first, since who holds one may want memory."""
        async with AsyncExitStack() as stack:
            for id in sorted(set(sessions) - {MEMORY}, key=lambda id: (id == HOME, id)):
                await stack.enter_async_context(self._parts.holder(id).held())
            await stack.enter_async_context(self._parts.memory.lock)
            yield

    async def _prove(self, begun: ForgettingBegun, found: Forgettable) -> ForgetReceipt:
        """Look for the words wherever they may stand. What stays in the record on purpose makes its file have them."""
        await self._purge(begun)
        parts, touches = self._parts, found.needles.touches
        files = await asyncio.to_thread(parts.files.search, touches, SEARCH_S)
        left = [*found.kept, *files.left, *(f"not searched: {name}" for name in files.skipped)]
        for part in parts.purges:
            left += map(found.needles.cleaned, await part.scan(touches))
        again = await asyncio.to_thread(
            lambda: {event.seq: has(event.body, found.needles.spans) for event in parts.journal.touched(touches)}
        )
        if since := [seq for seq, says in again.items() if says and seq > found.read]:
            left.append(f"events that came meanwhile have the words: {since[:10]}; forget them once more")
        scanned = files.scanned
        if files.laid_out or not all(again.values()):
            scanned = tuple(f"{name} {LIKE_IT}" if name in files.databases else name for name in scanned)
        else:
            left += (f"{name}: {BROKEN}" for name in files.databases)
        return parts.receipts.signed(_receipt(begun, scanned, tuple(dict.fromkeys(left)), files.backups))

    async def _purge(self, begun: ForgettingBegun) -> None:
        for part in self._parts.purges:
            await part.purge(begun.memories, begun.events)

    async def _record(self, seq: int, receipt: ForgetReceipt, claim: Claimed | None) -> None:
        memory = self._parts.memory
        claimed = of(claim, MEMORY, said(receipt)) if claim else None
        cause = claim.id if claim else NO_COMMAND
        async with memory.lock:
            await memory.record([ev.MemoryForgotten(seq, receipt)], by="stead", cause=cause, claim=claimed)

    def _unfinished(self) -> dict[int, ForgettingBegun]:
        left: dict[int, ForgettingBegun] = {}
        for event in self._parts.journal.events(session=MEMORY):
            match event:
                case ev.Event(body=ForgettingBegun() as begun):
                    left[event.seq] = begun
                case ev.Event(body=ev.MemoryForgotten(begun=seq)):
                    left.pop(seq, None)
                case _:
                    continue
        return left

    def _left_in_journal(self, known: Fingerprints) -> tuple[str, ...]:
        return tuple(
            f"event {event.seq} of {event.session} says it; forget it once more"
            for event in self._parts.journal.events()
            if isinstance(event, ev.Event) and any(map(known.says, texts(event.body)))
        )

    def _fingerprints(self, found: Iterable[str]) -> tuple[str, ...]:
        digest = self._parts.receipts.digest
        return tuple(sorted({one for text in found if (one := fingerprint(text, digest))}))


def said(receipt: ForgetReceipt) -> str:
    """A receipt in a line, without a word of what was forgotten."""
    gone = f"forgotten (memories: {len(receipt.memories)}, events with words of them: {len(receipt.events)})"
    left = f"; still in {len(receipt.left)} places, see the receipt" if receipt.left else "; no byte is left"
    backups = f"; {len(receipt.backups)} older backups have them" if receipt.backups else ""
    return gone + left + backups


def _receipt(
    begun: ForgettingBegun, scanned: tuple[str, ...], left: tuple[str, ...], backups: tuple[str, ...]
) -> ForgetReceipt:
    return ForgetReceipt(begun.memories, begun.events, begun.fingerprints, scanned, left, backups)
