"""The beginning of a session's next request, kept as bytes, so that a request serialises only what is new.

Layer: providers. Messages are immutable and a conversation grows at its end; whether what is kept still holds is seen
by comparing the old messages with the beginning of the new ones, which are mostly the very same objects. Trimming,
compaction, forgetting and going back change old messages, and then everything is written once more.

Kept are the sessions that asked last, up to a number and a size; the others pay for their history at their next
request.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from stead.domain.messages import Message, ResultsMessage
from stead.domain.ports import ModelRequest
from stead.domain.providers import UNSET, ModelSettings
from stead.domain.tools import ToolSpec
from stead.providers.attachments import Load, Showing, attached, nothing_kept
from stead.providers.conversation import Conversation
from stead.providers.wire import Opening, Piece, Wire

SESSIONS = 64
LIMIT_BYTES = 32 * 1024 * 1024
"""Over all sessions of one connection."""
BLOCK_BYTES = 64 * 1024
MANY = 200
"""So many new messages are written in a thread, 10 µs each, so that other sessions get their turn."""


class _Kept:
    """One session's messages as bytes. ``messages`` are those that have been written."""

    def __init__(self, wire: Wire, conversation: Conversation) -> None:
        self.messages: tuple[Message, ...] = ()
        self.size_bytes = 0
        self.refused = conversation.showing.refused
        self._wire = wire
        self._conversation = conversation
        self._write = wire.writer()
        self._fixed: tuple[str, Sequence[ToolSpec], bytes] | None = None
        self._blocks: list[bytes] = []
        """Pieces that no mark can come to any more, each with the comma after it; sent as they are kept."""
        self._block = bytearray()
        """What the next of them will be."""
        self._recent: list[Piece] = []
        """The pieces from the last open one but one on."""

    def is_begun_by(self, messages: Sequence[Message]) -> bool:
        """Whether these messages begin with those that were written, and go on with a turn of its own."""
        count = len(self.messages)
        if count < len(messages) and isinstance(messages[count], ResultsMessage):
            return False  # it belongs to the last one that was written
        return messages[:count] == self.messages

    def extend(self, messages: tuple[Message, ...]) -> None:
        """Write what these messages have and were not written yet."""
        pieces = map(self._write, self._conversation.extended(messages[len(self.messages) :]))
        self._recent += pieces
        self.messages = messages
        opened = [at for at, piece in enumerate(self._recent) if piece.open]
        settled = opened[-2] if len(opened) > 1 else 0
        for piece in self._recent[:settled]:
            closed = piece.data + (self._wire.plain_end if piece.open else b"") + b","
            self._block += closed
            self.size_bytes += len(closed)
        del self._recent[:settled]
        if len(self._block) >= BLOCK_BYTES:
            self._blocks.append(bytes(self._block))
            self._block.clear()

    def body(self, opening: Opening, instructions: str, tools: Sequence[ToolSpec]) -> list[bytes]:
        """The whole request, in pieces. The last two places that can have a mark get one: its end, and the last one's.

        Anthropic looks for what it has cached in the twenty blocks before a mark. A reply with ten calls and their
        results has more than that, so the mark at the end alone would find nothing of a long conversation.
        """
        if self._fixed is None or self._fixed[:2] != (instructions, tools):
            self._fixed = (instructions, tools, self._wire.fixed(instructions, tools))
        pieces = [*self._recent, *map(self._write, self._conversation.closing())]
        marked = [at for at, piece in enumerate(pieces) if piece.open][-2:]
        ended = (
            piece.data + (self._wire.marked_end if at in marked else self._wire.plain_end if piece.open else b"")
            for at, piece in enumerate(pieces)
        )
        return [
            self._wire.opening(opening),
            self._fixed[2],
            *self._blocks,
            b"".join((self._block, b",".join(ended), b"]}")),
        ]


class Prefixes:
    """The kept beginnings of one connection's sessions.

    Args:
        wire: what they are written for.
        provider: whose requests they begin; see ``Conversation``.
        load: gives the bytes of attachments.
    """

    def __init__(self, wire: Wire, provider: str, load: Load = nothing_kept) -> None:
        self._wire = wire
        self._provider = provider
        self._load = load
        self._kept: OrderedDict[tuple[str, str, str], _Kept] = OrderedDict()

    async def body(
        self,
        request: ModelRequest,
        model: str,
        settings: ModelSettings = UNSET,
        refused: frozenset[str] = frozenset(),
    ) -> list[bytes]:
        """The body of a request in pieces, UTF-8 JSON together. Most of them are those of the request before.

        Args:
            request: what is asked.
            model: as the vendor knows it.
            settings: what the person set for it.
            refused: contents of attachments that it would not take.
        """
        # What asks something else in the session's name has instructions of its own, and must not displace it. Models
        # differ in what they are shown.
        key = (request.session, request.instructions, model)
        kept = self._kept.pop(key, None)
        if kept is None or kept.refused != refused or not kept.is_begun_by(request.messages):
            showing = Showing(self._load, model, refused)
            kept = _Kept(self._wire, Conversation(self._provider, model, request.session, showing))
        fresh = request.messages[len(kept.messages) :]
        if len(fresh) > MANY or attached(fresh):  # bytes are read from the disk
            await asyncio.to_thread(kept.extend, request.messages)
        else:
            kept.extend(request.messages)
        self._kept[key] = kept
        while len(self._kept) > SESSIONS or (self._size_bytes() > LIMIT_BYTES and len(self._kept) > 1):
            self._kept.popitem(last=False)
        effort = request.effort or settings.effort
        opening = Opening(model, request.max_output_tokens, request.session, effort, settings.params)
        return kept.body(opening, request.instructions, request.tools)

    def _size_bytes(self) -> int:
        return sum(kept.size_bytes for kept in self._kept.values())
