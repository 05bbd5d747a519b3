"""Frames, the language of the runner and the daemon, and the faults that it carries.

Layer: machines, runner. Standard library only; the daemon uses it too.

A frame is a four-byte length and that many bytes: fields, each with its own four-byte length. Requests are (id,
operation, argument…), answers (id, "output" | "done" | "fault", value…); numbers are decimal text.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; importing them here would cost milliseconds
    from _socket import socket
    from collections.abc import Iterator

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


class Pipe:
    """The runner's side of the pipe: requests on standard input, answers on standard output."""

    def __init__(self) -> None:
        self._inbox = bytearray()

    def watch_way_out(self, listener: socket) -> None:
        """Have connections to the proxy's port carried out of the machine, for as long as it lives."""
        from .bridge import carry_apart

        if os.fork() == 0:
            carry_apart(listener, idle_s=-1)
        os.close(listener.detach())

    def send(self, *fields: bytes) -> None:
        """Write an answer; waits while the daemon is slow to read."""
        frame = memoryview(pack(list(fields)))
        while frame:
            frame = frame[os.write(1, frame) :]

    def requests(self) -> Iterator[list[bytes]]:
        """Read what has come, or wait for it; gives what is whole by now. The process ends with the pipe."""
        data = os.read(0, 1 << 18)
        if not data:
            sys.exit(0)
        self._inbox += data
        while len(self._inbox) >= 4:
            end = 4 + int.from_bytes(self._inbox[:4], "big")
            if end > LARGEST_FRAME:
                sys.exit("a request is too large")
            if len(self._inbox) < end:
                return
            fields = unpack(bytes(self._inbox[4:end]))
            del self._inbox[:end]
            yield fields
