"""Cutting contents where they themselves say, so that a change in one place moves no cut in another.

Layer: storage. Knows nothing of what is cut. The algorithm is FastCDC (Xia and others, USENIX ATC 2016): a rolling
hash over the last bytes decides, so equal stretches are cut alike wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

LEAST, MEAN, MOST = 32 << 10, 128 << 10, 512 << 10
"""Sizes in bytes. One changed byte costs one chunk, two at a cut: 1 MiB at most, 128 KiB on average."""

_WINDOW = 4 << 20

Read = Callable[[int], bytes]
"""Gives up to so many bytes, none at the end."""


def pieces(read: Read) -> Iterator[bytes]:
    """The content in chunks; one, perhaps empty, when it is small. Holds a few MiB at a time, however long it is."""
    held = _filled(read, b"")
    if len(held) <= LEAST:
        yield held
        return
    from fastcdc import fastcdc  # costs 90 ms to import, and a home without large files never needs it

    ended = False
    while held:
        at = 0
        for cut in fastcdc(held, min_size=LEAST, avg_size=MEAN, max_size=MOST):
            if not ended and len(held) - at < MOST:
                break  # where it would be cut may depend on what comes next
            yield held[at : at + cut.length]
            at += cut.length
        rest = held[at:]
        held = rest if ended else _filled(read, rest)
        ended = len(held) < _WINDOW


def _filled(read: Read, held: bytes) -> bytes:
    """Up to a window full; less only at the end."""
    parts, size = [held], len(held)
    while size < _WINDOW and (block := read(_WINDOW - size)):
        parts.append(block)
        size += len(block)
    return b"".join(parts)
