"""A hash tree over the journal's rows, in the manner of RFC 6962, section 2: one root for all rows, short proofs.

Layer: storage. Pure; knows nothing of rows or files.

    leaf = SHA-256(0x00 ‖ what it stands for)        node = SHA-256(0x01 ‖ left ‖ right)

The left part of a tree of n leaves is the largest full one that is smaller than n. So a tree that has grown keeps its
full parts, and its root follows from the roots of these alone: the right edge, one hash for each bit of n that is set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import reduce

HASH_BYTES = 32


def leaf_hash(content: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Edge:
    """The right edge of a growing tree: enough to go on from, and to give the root at any time.

    Args:
        size: how many leaves there are.
        hashes: of the full parts, largest first; one for each bit of ``size`` that is set.

    Raises:
        ValueError: the two do not fit together.
    """

    def __init__(self, size: int = 0, hashes: Sequence[bytes] = ()) -> None:
        if size.bit_count() != len(hashes):
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} full parts, not {len(hashes)}")
        self.size = size
        self.hashes = list(hashes)

    def append(self, leaf: bytes) -> None:
        """One more leaf, hashed; about one further hash on average."""
        size, self.size = self.size, self.size + 1
        while size & 1:
            leaf = node_hash(self.hashes.pop(), leaf)
            size >>= 1
        self.hashes.append(leaf)

    def root(self) -> bytes:
        """The root of all leaves; that of none is the hash of nothing."""
        if not self.hashes:
            return hashlib.sha256(b"").digest()
        return reduce(lambda right, left: node_hash(left, right), reversed(self.hashes))


class Tree:
    """A whole tree in memory, to make proofs from: about 200 bytes a leaf.

    Args:
        leaves: hashed; at least one.
    """

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._levels = [list(leaves)]
        while len(below := self._levels[-1]) > 1:
            self._levels.append([node_hash(*below[at : at + 2]) for at in range(0, len(below) - 1, 2)])

    def inclusion(self, index: int) -> list[bytes]:
        """The hashes that lead from leaf ``index`` (from 0) to the root, lowest first (RFC 6962, section 2.1.1)."""
        return self._inclusion(index, 0, len(self._levels[0]))

    def consistency(self, older: int) -> list[bytes]:
        """What shows that the tree of the first ``older`` leaves (1 to all) is the beginning of this one (2.1.2)."""
        return self._consistency(older, 0, len(self._levels[0]), whole=True)

    def _inclusion(self, index: int, start: int, end: int) -> list[bytes]:
        if end - start == 1:
            return []
        middle = start + _split(end - start)
        if index < middle:
            return [*self._inclusion(index, start, middle), self._root(middle, end)]
        return [*self._inclusion(index, middle, end), self._root(start, middle)]

    def _consistency(self, older: int, start: int, end: int, *, whole: bool) -> list[bytes]:
        if older == end:
            return [] if whole else [self._root(start, end)]
        middle = start + _split(end - start)
        if older <= middle:
            return [*self._consistency(older, start, middle, whole=whole), self._root(middle, end)]
        return [*self._consistency(older, middle, end, whole=False), self._root(start, middle)]

    def _root(self, start: int, end: int) -> bytes:
        """Of a part that a tree of this shape has; full parts are looked up."""
        count = end - start
        if count & (count - 1) == 0:
            level = count.bit_length() - 1
            return self._levels[level][start >> level]
        middle = start + _split(count)
        return node_hash(self._root(start, middle), self._root(middle, end))


def _split(count: int) -> int:
    """The largest power of two that is smaller than ``count``, which is at least 2."""
    return 1 << (count - 1).bit_length() - 1
