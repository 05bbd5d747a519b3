"""Vectors as bytes and as arrays.

Layer: memory, embedding worker. Knows numpy and the form that ``domain.embedding`` describes; no model and no pipe.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stead.domain.embedding import SCALE_BYTES

LARGEST_DIM = 4096

Floats = NDArray[np.float32]


class Unfit(Exception):
    """Not finite, zero, or not of the form or size that is wanted."""


@dataclass
class Table:
    """Vectors, one a row, with their ids.

    Args:
        ids: n whole numbers.
        scale: n floats.
        whole: n x dim signed bytes.
    """

    ids: NDArray[np.uint64]
    scale: Floats
    whole: NDArray[np.int8]

    def floats(self, rows: NDArray[np.intp]) -> Floats:
        """Some of the vectors as numbers, without their scale."""
        return self.whole[rows].astype(np.float32)

    def keep(self, rows: NDArray[np.bool_]) -> Table:
        """A table of these rows alone."""
        return Table(self.ids[rows], self.scale[rows], self.whole[rows])


def pack(vector: Floats) -> bytes:
    """A vector's bytes, brought to length 1. It must be finite and not zero."""
    whole = np.rint(vector / np.abs(vector).max() * 127)
    return struct.pack("<f", 1 / np.sqrt(np.dot(whole, whole))) + bytes(whole.astype(np.int8).data)


def parse(ids: bytes, vectors: bytes) -> Table:
    """A table from the bytes of ids and vectors, as many of the one as of the other.

    Raises:
        Unfit: see there.
    """
    count = len(ids) // 8
    if not count and not ids and not vectors:
        return Table(np.empty(0, np.uint64), np.empty(0, np.float32), np.empty((0, 0), np.int8))
    if not count or len(ids) % 8 or len(vectors) % count:
        raise Unfit("there are not as many vectors as ids")
    dim = len(vectors) // count - SCALE_BYTES
    if not 0 < dim <= LARGEST_DIM:
        raise Unfit(f"a vector has {dim} dimensions")
    rows = np.frombuffer(vectors, np.dtype([("scale", "<f4"), ("whole", "i1", (dim,))]))
    scale, whole = rows["scale"].astype(np.float32), np.ascontiguousarray(rows["whole"])
    if not (np.isfinite(scale).all() and (scale > 0).all() and (whole != 0).any(axis=1).all()):
        raise Unfit("a vector is not finite, or zero")
    names = np.frombuffer(ids, "<u8").astype(np.uint64)
    if len(np.unique(names)) != count:
        raise Unfit("two vectors have the same id")
    return Table(names, scale, whole)


def unpack(vector: bytes) -> Floats:
    """One vector's numbers.

    Raises:
        Unfit: see there.
    """
    table = parse(bytes(8), vector)
    numbers: Floats = table.whole[0].astype(np.float32) * table.scale
    return numbers
