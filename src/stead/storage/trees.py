"""Folders as they were kept: what is in each, and how two of them differ.

Layer: storage. Knows no file system. A tree is a list of entries in order of their names' bytes; a folder's entry names
the tree of what is in it. So a tree's name covers everything below it, and what two trees have alike is found without
looking into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import msgspec

from stead.storage.database import Damaged


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One name in a folder.

    Args:
        name: its bytes, whatever they are.
        kind: what it is.
        mode: the nine permission bits; 0 of a link.
        size: bytes of a file, else 0.
        ref: names a file's content, or a folder's tree; where a link leads.
    """

    name: bytes
    kind: Literal["file", "folder", "link"]
    mode: int
    size: int
    ref: bytes


Entries = list[Entry]
Look = Callable[[bytes], Entries]
"""Gives the entries of a tree by its name."""


class Difference(NamedTuple):
    """One path that is not the same on both sides; None is where there is none."""

    path: bytes
    old: Entry | None
    new: Entry | None


def encode(entries: Entries) -> bytes:
    """Equal entries have equal bytes."""
    return msgspec.msgpack.encode(entries)


def decode(kept: bytes) -> Entries:
    """The entries back.

    Raises:
        Damaged: they were not written so.
    """
    try:
        return _decoder.decode(kept)
    except msgspec.DecodeError as error:
        raise Damaged(f"a folder of a checkpoint cannot be read ({error}); restore another checkpoint") from error


def differences(old: Look, old_root: bytes, new: Look, new_root: bytes, above: bytes = b"") -> Iterator[Difference]:
    """Every path that differs, folders before what is in them; a folder that came or went brings what is in it."""
    if old_root == new_root:
        return
    before = {entry.name: entry for entry in old(old_root)} if old_root else {}
    after = {entry.name: entry for entry in new(new_root)} if new_root else {}
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        path = above + name
        was_tree = was.ref if was and was.kind == "folder" else b""
        now_tree = now.ref if now and now.kind == "folder" else b""
        if not (was_tree and now_tree) or (was and now and was.mode != now.mode):
            yield Difference(path, was, now)
        yield from differences(old, was_tree, new, now_tree, path + b"/")


_decoder = msgspec.msgpack.Decoder(Entries)
