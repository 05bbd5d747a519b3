"""Frames, the language of the runner and the daemon, and the faults that it carries.

Layer: machines, runner. Standard library only; the daemon uses it too.

A frame is a four-byte length and that many bytes: fields, each with its own four-byte length. Requests are (id,
operation, argument…), answers (id, "output" | "done" | "fault", value…); numbers are decimal text.
"""

from __future__ import annotations

LARGEST_FRAME = 32 << 20
"""Bytes of the largest request. What the runner sends is far below it, and the daemon holds it to that."""


class Fault(Exception):
    """Work that cannot be done; the text is for the model."""


def pack(fields: list[bytes]) -> bytes:
    """One frame."""
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    return len(body).to_bytes(4, "big") + body


def unpack(body: bytes) -> list[bytes]:
    """The fields of a frame's body.

    Raises:
        ValueError: it is not made of whole fields.
    """
    fields, at = [], 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if end > len(body):
            raise ValueError("a field runs past the end of its frame")
        fields.append(body[at + 4 : end])
        at = end
    return fields


def encode(text: str) -> bytes:
    """UTF-8; what no UTF-8 text can hold (half a surrogate pair) comes out escaped."""
    return text.encode("utf-8", "backslashreplace")
