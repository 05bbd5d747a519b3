"""Frames, the language of the daemon and the embedding worker.

Layer: memory, both sides. Standard library only.

A frame is a four-byte length and that many bytes: fields, each with its own four-byte length. A request is (operation,
argument...), its answer ("done", value...) or ("fault", kind, text). One request at a time, answered in order. Numbers
are decimal text, ids eight bytes each and scores floats of four, little-endian.
"""

from __future__ import annotations

from typing import BinaryIO, Final

LARGEST_FRAME: Final = 16 << 20
"""Bytes, either way. A place that needs more is loaded in pieces."""
LARGEST_FIELDS: Final = 256


class FrameError(Exception):
    """What came is no frame: too large, or not made of whole fields."""


def pack(fields: list[bytes]) -> bytes:
    """One frame.

    Raises:
        FrameError: it would be too large.
    """
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    if len(body) > LARGEST_FRAME:
        raise FrameError(f"a frame of {len(body)} bytes; {LARGEST_FRAME} are the most")
    return len(body).to_bytes(4, "big") + body


def size_of(head: bytes) -> int:
    """How many bytes follow a frame's first four.

    Raises:
        FrameError: too many.
    """
    size = int.from_bytes(head, "big")
    if size > LARGEST_FRAME:
        raise FrameError(f"a frame of {size} bytes; {LARGEST_FRAME} are the most")
    return size


def unpack(body: bytes) -> list[bytes]:
    """The fields of a frame's body, at least one.

    Raises:
        FrameError: it is not made of whole fields, or of too many.
    """
    fields: list[bytes] = []
    at = 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if end > len(body) or len(fields) == LARGEST_FIELDS:
            raise FrameError("a field runs past the end of its frame, or there are too many")
        fields.append(body[at + 4 : end])
        at = end
    if not fields:
        raise FrameError("a frame without a field")
    return fields


def read(stream: BinaryIO) -> list[bytes] | None:
    """The next frame of a stream that blocks; nothing at its end.

    Raises:
        FrameError: it is none, or it ends in the middle.
    """
    if not (first := stream.read(1)):
        return None
    return unpack(_exactly(stream, size_of(first + _exactly(stream, 3))))


def _exactly(stream: BinaryIO, size: int) -> bytes:
    """So many bytes; a pipe gives them in pieces."""
    pieces: list[bytes] = []
    while size:
        if not (piece := stream.read(size)):
            raise FrameError("it ends in the middle of a frame")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
