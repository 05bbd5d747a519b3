"""The search for forgotten words in every file below the folder of the files of memory.

Layer: memory. What is no file of memory is never read otherwise; but editors leave copies next to what they save, and a
person may keep anything there. Nothing is followed, nothing is changed, and what was not looked into is reported.
"""

from __future__ import annotations

import os
import stat

from stead.domain.forgetting import Touches

MOST_FILES = 20_000
MOST_BYTES = 1 << 28
_BLOCK_BYTES = 1 << 20
_EDGE_BYTES = 1 << 16
"""Of what was read before, looked at again with what comes after it."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def left_in(root: int, touches: Touches) -> tuple[str, ...]:
    """What has the words, or was not looked into, each with what the person can do.

    Args:
        root: a descriptor of the folder.
        touches: whether bytes have the words.
    """
    found: list[str] = []
    files, size = 0, 0

    def cannot(error: OSError) -> None:
        found.append(f"{_shown(error.filename or '', touches)} was not looked into: {error.strerror}")

    for folder, folders, names, at in os.fwalk(".", onerror=cannot, dir_fd=root):
        folders.sort()
        for name in sorted(names):
            path = _shown(os.path.normpath(f"{folder}/{name}"), touches)
            if files >= MOST_FILES or size >= MOST_BYTES:
                found.append(f"{path}, and what comes behind it, was not looked into: there is too much; move it away")
                return tuple(found)
            files += 1
            try:
                handle = os.open(name, _FILE, dir_fd=at)
            except FileNotFoundError:
                continue  # it went meanwhile
            except OSError as error:
                found.append(f"{path} was not looked into: {error.strerror}; see to it yourself")
                continue
            try:
                has, read = _has(handle, touches, MOST_BYTES - size)
            finally:
                os.close(handle)
            size += read
            if has is None:
                found.append(f"{path} was not looked into to its end: it is too long, or no file; see to it yourself")
            elif has or touches(os.fsencode(name)):
                found.append(f"{path} of the files of memory has the words; delete the lines there, or the file")
        found += [
            f"{_shown(os.path.normpath(f'{folder}/{name}'), touches)} of the files of memory has the words in its name"
            for name in folders
            if touches(os.fsencode(name))
        ]
    return tuple(found)


def _has(handle: int, touches: Touches, most: int) -> tuple[bool | None, int]:
    """Whether a file has the words, nothing when that cannot be said; and how much of it was read."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None, 0
    before, read = b"", 0
    while block := os.read(handle, _BLOCK_BYTES):
        read += len(block)
        if touches(before + block):
            return True, read
        if read > most:
            return None, read
        before = block[-_EDGE_BYTES:]
    return False, read


def _shown(path: str, touches: Touches) -> str:
    """A file's name for a person, without the words."""
    parts = os.fsencode(path).split(b"/")
    return "/".join("…" if touches(part) else part.decode("utf-8", "backslashreplace") for part in parts)
