"""Event streams: the frame around what a model server says, and the JSON within.

Layer: providers. Source: HTML standard, server-sent events, section 9.2.6, as far as data goes. Each event must hold a
JSON object of the wire's form, or the wire's own mark of the end: what is passed over may have been text.
"""

from __future__ import annotations

import json
from typing import Generic, TypeVar

import msgspec

from stead.providers.transport import Nonsense

E = TypeVar("E")


class EventStream:
    """Takes a stream apart, however it is cut into pieces."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._data: list[bytes] = []

    def events(self, piece: bytes) -> list[bytes]:
        """The data of the events that end in this piece."""
        first, *others = piece.split(b"\n")
        self._rest.append(first)
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        ended = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:])
            elif self._data and not line.strip():
                if data := b"\n".join(self._data).strip():
                    ended.append(data)
                self._data = []
        return ended


class EventDecoder(Generic[E]):
    """Reads events of one form; fields that are not in it are passed over.

    Args:
        form: a ``msgspec.Struct``.
    """

    def __init__(self, form: type[E]) -> None:
        self._form = form
        self._decoder = msgspec.json.Decoder(form)

    def decode(self, data: bytes) -> E:
        """One event.

        Raises:
            Nonsense: it is no JSON object of this form.
        """
        try:
            return self._decoder.decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return self._decode_sloppy(data)

    def _decode_sloppy(self, data: bytes) -> E:
        """One with halves of characters, which some servers split and strict parsers refuse."""
        try:
            return msgspec.convert(json.loads(data), self._form)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            shown = data[:60].decode("utf-8", "replace")
            raise Nonsense(f"an event is not of the form that was agreed: {shown!r}: {error}") from None
