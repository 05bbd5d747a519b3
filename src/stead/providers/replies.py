"""A reply that grows piece by piece, in no vendor's dialect.

Layer: providers. A vendor's reader says which slot a piece belongs to; a slot is text, thinking or a call, in the order
in which they began.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal

import msgspec

from stead.domain.ids import CallKey, RequestNo
from stead.domain.messages import ReplyPart, Text, Thinking, ToolCall, Usage
from stead.providers.conversation import whole
from stead.providers.transport import Nonsense

COUNT_LIMIT = 1_000_000_000
"""No request has more tokens; a provider that reports more is not believed."""

Kind = Literal["text", "thinking", "call"]


class _Part(msgspec.Struct):
    kind: Kind
    pieces: list[str] = []
    name: str = ""
    made_by: str = ""
    signature: str = ""


class Counted(msgspec.Struct):
    """Tokens that a provider reports. ``input`` is all of them; ``written_for_1h`` are those kept for an hour."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    written_for_1h: int = 0

    def usage(self) -> Usage:
        """The same, made consistent; zeros where it did not count."""
        taken = _bounded(self.input)
        cached = min(_bounded(self.cached), taken)
        written = min(_bounded(self.written), taken - cached)
        return Usage(input=taken, output=_bounded(self.output), cached=cached, cache_written=written)


class ReplyBuilder:
    """Puts a reply together.

    Args:
        on_text: gets text as it comes.
    """

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._parts: dict[Hashable, _Part] = {}
        self.counted = Counted()

    @property
    def started(self) -> bool:
        """Whether the model has begun, so that its tokens are being counted."""
        return bool(self._parts or self.counted.input)

    @property
    def calls(self) -> bool:
        """Whether anything is called."""
        return any(part.kind == "call" for part in self._parts.values())

    def text(self, slot: Hashable, piece: str) -> None:
        """More text."""
        part = self._part(slot, "text")
        if piece:
            part.pieces.append(piece)
            self._on_text(whole(piece))

    def thinking(self, slot: Hashable, piece: str = "", *, made_by: str = "", signature: str = "") -> None:
        """More reasoning, or more of its signature. ``made_by``: how the wire names this kind of it."""
        part = self._part(slot, "thinking")
        part.pieces.append(piece)
        part.made_by = part.made_by or made_by
        part.signature += signature

    def call(self, slot: Hashable, name: str = "", arguments: str = "") -> None:
        """More of a call's name or arguments."""
        part = self._part(slot, "call")
        part.name += name
        part.pieces.append(arguments)

    def knows(self, slot: Hashable) -> bool:
        """Whether anything came in this slot."""
        return slot in self._parts

    def parts(self, number: RequestNo, provider: str, model: str) -> tuple[ReplyPart, ...]:
        """The whole reply; calls are keyed ``call_<number>_<index>``, and empty texts are left out.

        A call that names no tool is one of "", which the gate refuses, so that the model is asked again.
        """
        made: list[ReplyPart] = []
        calls = 0
        for part in self._parts.values():
            text = whole("".join(part.pieces))
            match part.kind:
                case "text":
                    if text:
                        made.append(Text(text))
                case "thinking":
                    if text or part.signature:
                        made.append(Thinking(text, f"{part.made_by}|{part.signature}", provider, model))
                case "call":
                    made.append(ToolCall(CallKey(f"call_{number}_{calls}"), whole(part.name), text or "{}"))
                    calls += 1
        return tuple(made)

    def _part(self, slot: Hashable, kind: Kind) -> _Part:
        part = self._parts.get(slot)
        if part is None:
            part = self._parts[slot] = _Part(kind)
        elif part.kind != kind:
            raise Nonsense(f"{kind} where {part.kind} was begun")
        return part


def _bounded(reported: int) -> int:
    return max(0, min(reported, COUNT_LIMIT))
