"""What is kept of a command's output: its head and its tail.

Layer: machines.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable


class Output:
    """Collects output: keeps at most a cap of it, and passes all of it on as text.

    Args:
        cap_bytes: half of it is kept of the head, half of the tail.
        on_text: takes each piece; a character is never cut in two.
    """

    def __init__(self, cap_bytes: int, on_text: Callable[[str], None]) -> None:
        self._half = max(1, cap_bytes // 2)
        self._on_text = on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """The next piece."""
        self._on_text(self._decoder.decode(data))
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (surplus := len(self._tail) - self._half) > 0:
            self._dropped += surplus
            del self._tail[:surplus]

    def text(self, note: str) -> str:
        """Head and tail, with a line on what lies between, and a closing note if there is one."""
        kept = [bytes(self._head + self._tail)]
        if self._dropped:
            kept = [bytes(self._head), b"\n[%d bytes left out]\n" % self._dropped, bytes(self._tail)]
        text = b"".join(kept).decode("utf-8", "replace")
        return f"{text}\n[{note}]" if note else text
