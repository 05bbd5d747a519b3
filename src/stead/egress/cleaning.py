"""Answers without known values: services echo what they are sent, and a machine must not learn a value that way.

Layer: egress. Knows no connection; takes fields and bytes, gives fields and bytes.
"""

from __future__ import annotations

import codecs
import zlib

from stead.egress.refusal import Refusal
from stead.screen.redaction import Redactor

Fields = list[tuple[bytes, bytes]]

_PIECE_BYTES = 1 << 20
_INFLATED = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}
"""Encodings that can be undone as they come, with zlib's window argument."""


class Cleaned:
    """An answer without known values: its fields, and its body as it comes.

    Args:
        redactor: knows what is to be taken out.
        fields: as the server sent them. A body that was compressed although that was not asked for is unpacked.
    """

    def __init__(self, redactor: Redactor, fields: Fields) -> None:
        encoding = dict(fields).get(b"content-encoding", b"identity").strip().lower()
        if encoding != b"identity" and encoding not in _INFLATED:
            text = f"the answer is compressed with {encoding.decode('latin-1')[:40]!r}, which was not asked for"
            raise Refusal(502, "egress-unreachable", text)
        self._inflate = zlib.decompressobj(_INFLATED[encoding]) if encoding in _INFLATED else None
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")  # loses no byte of what is no text
        self._stream = redactor.stream()
        dropped = (b"content-length", b"content-encoding")
        self.fields = [
            (name, redactor.clean(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
            for name, value in fields
            if name not in dropped
        ]

    def feed(self, data: bytes) -> bytes:
        """What can be passed on."""
        return self._pass(self._inflated(data), final=False)

    def end(self) -> bytes:
        """The rest."""
        return self._pass(b"", final=True) + self._stream.close().encode("utf-8", "surrogateescape")

    def _pass(self, data: bytes, *, final: bool) -> bytes:
        return self._stream.feed(self._decoder.decode(data, final)).encode("utf-8", "surrogateescape")

    def _inflated(self, data: bytes) -> bytes:
        if self._inflate is None:
            return data
        try:
            plain = self._inflate.decompress(data, _PIECE_BYTES)
        except zlib.error as error:
            raise Refusal(502, "egress-unreachable", "the answer is not compressed as it says") from error
        if self._inflate.unconsumed_tail:
            raise Refusal(502, "egress-limit", "the answer grows too much as it is unpacked")
        return plain
