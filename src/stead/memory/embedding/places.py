"""The vectors of each place, and which of them are nearest to one.

Layer: memory, embedding worker. Knows numpy and the form that ``domain.embedding`` describes; no model, no pipe and no
meaning of an id. Every vector is compared: among 100,000 that takes 6 ms, less than choosing some to compare.
"""

from __future__ import annotations

import struct
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from stead.domain.embedding import SCALE_BYTES
from stead.memory.embedding.wire import Refused

LARGEST_BYTES = 600 << 20
"""Of all places together; those that were not asked for longest go first. A million rows of 384 are 400 MB."""
_BLOCK = 1024
"""Rows that become floats at a time; they fit in the processor's cache."""

Floats = NDArray[np.float32]
Ids = NDArray[np.uint64]


class Unfit(Refused):
    """Not finite, zero, or not of the form or size that is wanted."""

    def __init__(self, text: str) -> None:
        super().__init__("bad_vector", text)


def pack(vector: Floats) -> bytes:
    """A vector's bytes, brought to length 1. It must be finite and not zero."""
    whole = np.rint(vector / np.abs(vector).max() * 127)
    return struct.pack("<f", 1 / np.sqrt(np.dot(whole, whole))) + bytes(whole.astype(np.int8).data)


class Place:
    """One place's vectors, all of one dimension.

    Args:
        ids: eight bytes each.
        vectors: as ``VectorBytes``, one an id.

    Raises:
        Unfit: there are not as many vectors as ids, or one is not finite.
    """

    def __init__(self, ids: bytes, vectors: bytes) -> None:
        self._ids = np.frombuffer(ids, "<u8", len(ids) // 8).astype(np.uint64)
        count = max(1, len(self._ids))
        if len(vectors) % count or bool(len(self._ids)) != (len(vectors) // count > SCALE_BYTES):
            raise Unfit("there are not as many vectors as ids, or they differ in size")
        form = np.dtype([("scale", "<f4"), ("whole", "i1", (max(0, len(vectors) // count - SCALE_BYTES),))])
        rows = np.frombuffer(vectors, form) if vectors else np.empty(0, form)
        self._scale = rows["scale"].astype(np.float32)
        self._whole = np.ascontiguousarray(rows["whole"])
        if not np.isfinite(self._scale).all():
            raise Unfit("a vector is not finite")

    @property
    def size_bytes(self) -> int:
        """What it takes."""
        return self._ids.nbytes + self._scale.nbytes + self._whole.nbytes

    def vector(self) -> Floats:
        """The only one, as numbers."""
        numbers: Floats = self._whole[0].astype(np.float32) * self._scale[0]
        return numbers

    def extend(self, more: Place) -> None:
        """Add vectors; one whose id is there already takes its place.

        Raises:
            Unfit: they have another dimension.
        """
        self.drop(more._ids)
        if not len(self._ids):
            self._ids, self._scale, self._whole = more._ids, more._scale, more._whole
        elif len(more._ids):
            self._require(more._whole.shape[1])
            self._ids = np.concatenate([self._ids, more._ids])
            self._scale = np.concatenate([self._scale, more._scale])
            self._whole = np.concatenate([self._whole, more._whole])

    def drop(self, ids: Ids) -> None:
        """Leave these out from now on, if they are there; of their bytes none stays."""
        kept = ~np.isin(self._ids, ids)
        if not kept.all():
            self._ids, self._scale, self._whole = self._ids[kept], self._scale[kept], self._whole[kept]

    def nearest(self, query: Floats, count: int, allowed: Ids | None) -> tuple[Ids, Floats]:
        """The ids of the nearest and their cosines, the nearest first, at most so many.

        Args:
            query: of length 1.
            count: from 1.
            allowed: ids of those that may be found; nothing for all.

        Raises:
            Unfit: the query has another dimension.
        """
        if not len(self._ids):
            return self._ids, self._scale
        self._require(len(query))
        cosines = np.empty(len(self._ids), np.float32)
        for at in range(0, len(cosines), _BLOCK):
            block = slice(at, at + _BLOCK)
            cosines[block] = self._whole[block].astype(np.float32) @ query * self._scale[block]
        rows = np.arange(len(cosines)) if allowed is None else np.flatnonzero(np.isin(self._ids, allowed))
        if count < len(rows):
            rows = rows[np.argpartition(-cosines[rows], count)[:count]]
        rows = rows[np.argsort(-cosines[rows], kind="stable")]
        return self._ids[rows], np.clip(cosines[rows], -1, 1)

    def _require(self, dimensions: int) -> None:
        if dimensions != self._whole.shape[1]:
            raise Unfit(f"a vector of {dimensions} dimensions among others of {self._whole.shape[1]}")


class Places:
    """Every place that is loaded."""

    def __init__(self) -> None:
        self._places: OrderedDict[str, Place] = OrderedDict()

    def load(self, name: str, place: Place) -> None:
        """Put a place here, instead of any of this name; others make room for it."""
        self._places[name] = place
        self._places.move_to_end(name)
        while sum(one.size_bytes for one in self._places.values()) > LARGEST_BYTES:
            self._places.popitem(last=False)

    def find(self, name: str) -> Place:
        """A place that was loaded.

        Raises:
            Refused: it is not here: it was never loaded, or had to make room.
        """
        if name not in self._places:
            raise Refused("unloaded", "the place is not loaded")
        self._places.move_to_end(name)
        return self._places[name]
