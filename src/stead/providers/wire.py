"""What a vendor's wire is to the rest: a strategy that says how a request is written and how its answer is read.

Layer: providers. One file a wire (``openai_wire``, ``anthropic_wire``, ``google_wire``) implements it, and nothing
outside those compares a vendor's name. What differs between vendors of one wire is a field of their ``Preset``.

A body is written in three parts: ``opening`` (what changes with each request: model, cap), ``fixed`` (tools and
instructions, up to where the list of messages begins), and one piece of bytes a message. A piece of the person's or of
results is left open at its end: there the wire may have to set a mark for the vendor's cache.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol

import msgspec

from stead.domain.messages import Message
from stead.domain.providers import Effort
from stead.domain.tools import ToolSpec
from stead.providers.replies import ReplyBuilder

Stop = Literal["stop", "length", "tool_call", "content_filter"]


class Opening(msgspec.Struct, frozen=True):
    """What of a request changes each time.

    Args:
        model: as the vendor knows it.
        max_output_tokens: the cap on the reply.
        session: the vendor may use it to find the session's cache again.
        effort: how hard it is to think; "" leaves it to the vendor.
        params: further fields of the body, which never take the place of ours.
    """

    model: str
    max_output_tokens: int
    session: str
    effort: Effort = ""
    params: Mapping[str, Any] = MappingProxyType({})

    def body(self, ours: dict[str, Any]) -> bytes:
        """The beginning of the JSON object: our fields, and the person's where they are none of ours."""
        for name, value in self.params.items():
            own = ours.get(name)
            if name not in ours:
                ours[name] = value
            elif isinstance(own, dict) and isinstance(value, dict):
                ours[name] = value | own
        return msgspec.json.encode(ours)[:-1]


class Piece(msgspec.Struct, frozen=True):
    """One message as bytes. ``open``: one of the wire's ends has to follow."""

    data: bytes
    open: bool


class Reader(ABC):
    """Takes an answer's events in and builds the reply. Made for one request.

    Args:
        on_text: gets text as it comes.
    """

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self.stop: Stop | None = None
        """Why the model stopped, by the vendor's own word; None while it has not said."""
        self.done = False
        """Nothing that matters can follow."""
        self.reply = ReplyBuilder(on_text)

    @abstractmethod
    def take(self, data: bytes) -> None:
        """Take the data of one event.

        Raises:
            Nonsense: it does not have the wire's form.
            Reported: the vendor reports an error.
        """


class Wire(Protocol):
    """One vendor's protocol, stateless. Targets are paths and queries below the base URL."""

    plain_end: bytes
    marked_end: bytes
    """What closes an open piece; the second one asks the vendor to cache everything up to there."""
    reply_target: str
    """Where a reply is asked for; ``{model}`` stands for the model's name."""
    list_target: str
    """Where models are listed."""
    embeddings_target: str
    """Where vectors are made in the form of OpenAI's, "" where there are none."""
    key_headers: Mapping[bytes, bytes]
    """Headers that carry the key, which ``%b`` stands for; none is sent without a key."""
    own_headers: Mapping[bytes, bytes]
    """Headers of every request."""

    def opening(self, ask: Opening) -> bytes:
        """The beginning of a body."""

    def fixed(self, instructions: str, tools: Sequence[ToolSpec]) -> bytes:
        """Tools and instructions, up to where the list of messages begins; ``]}`` after the messages ends a body."""

    def writer(self) -> Callable[[Message], Piece]:
        """What makes the pieces of one conversation, in order; it may remember what came before."""

    def reader(self, on_text: Callable[[str], None]) -> Reader:
        """What reads one answer. ``on_text`` gets text as it comes."""


def headers(wire: Wire, key: str, further: Mapping[str, str]) -> dict[bytes, bytes]:
    """What every request carries. ``key`` is "" for none, ``further`` are the person's own headers."""
    keyed = {name: form % key.encode() for name, form in wire.key_headers.items()} if key else {}
    own = {name.lower().encode(): value.encode() for name, value in further.items()}
    return {**own, **wire.own_headers, **keyed}
