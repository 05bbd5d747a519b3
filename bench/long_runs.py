"""What benches of many minutes share: word of how far they are, and folders that no disk slows down."""

from __future__ import annotations

import os
import sys
import tempfile
import time

EVERY_S = 30.0


class Progress:
    """Says on stderr about every half minute what is done, what is left, and how long that may take.

    Args:
        what: is run, such as "R4, cron".
        total: how many there are to do.
        unit: their name in the plural.
    """

    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._began = self._said = time.monotonic()

    def done(self, number: int, more: str = "") -> None:
        """Note that so many are done, and what else there is to say."""
        now = time.monotonic()
        if now - self._said < EVERY_S:
            return
        self._said, spent_s = now, now - self._began
        left = self._total - number
        left_s = f", about {spent_s * left / number:.0f} s" if number else ""
        text = (
            f"{self._what}: {number:,} of {self._total:,} {self._unit}{more} in {spent_s:.0f} s; {left:,} left{left_s}"
        )
        print(text, file=sys.stderr, flush=True)


def memory_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory, where the host has such; else in the usual place.

    For what ends processes and not the host: the kernel keeps what they wrote, so a disk adds nothing but waiting.
    """
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(prefix="stead-bench-", dir=memory if os.access(memory, os.W_OK) else None)
