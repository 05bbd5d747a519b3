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


def _raised(_path: bytes, damage: Damaged) -> None:
    raise damage


def differences(
    old: Look,
    old_root: bytes,
    new: Look,
    new_root: bytes,
    above: bytes = b"",
    damaged: Callable[[bytes, Damaged], None] = _raised,
) -> Iterator[Difference]:
    """Every path that differs, folders before what is in them; a folder that came or went brings what is in it.

    Where a folder takes the place of something else, or something else that of a folder, one goes and the other comes.

    Args:
        old: has the trees of the older side.
        old_root: names its tree; empty for none.
        new: has those of the newer side.
        new_root: names its tree; empty for none.
        above: the path of both, with a slash at the end.
        damaged: given the path of a folder that cannot be read on one side; it is passed over.
    """
    if old_root == new_root:
        return
    try:
        before = {entry.name: entry for entry in old(old_root)} if old_root else {}
        after = {entry.name: entry for entry in new(new_root)} if new_root else {}
    except Damaged as damage:
        return damaged(above.rstrip(b"/"), damage)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        replaced = was and now and was.kind != now.kind and "folder" in (was.kind, now.kind)
        for one, other in ((was, None), (None, now)) if replaced else ((was, now),):
            one_tree = one.ref if one and one.kind == "folder" else b""
            other_tree = other.ref if other and other.kind == "folder" else b""
            if not (one_tree and other_tree) or (one and other and one.mode != other.mode):
                yield Difference(above + name, one, other)
            yield from differences(old, one_tree, new, other_tree, above + name + b"/", damaged)


_decoder = msgspec.msgpack.Decoder(Entries)
