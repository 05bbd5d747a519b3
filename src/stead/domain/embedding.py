"""Vectors of texts: their form as bytes, and what makes them.

Layer: domain. Knows no model and no process.

A vector is kept as ``VectorBytes``: a scale (float32, little-endian), then one signed byte a dimension, so that the
vector is scale times the bytes, and of length 1. 388 bytes for 384 dimensions, a quarter of what floats take; a cosine
is off by less than 0.003.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NewType, Protocol

import msgspec

from stead.domain.policies import Confidentiality

VectorBytes = NewType("VectorBytes", bytes)

SCALE_BYTES = 4
BATCH = 64
"""Texts of one call at most."""
TEXT_CHARS = 8192
"""Of one text; what is behind them is left out, as is what is behind a model's last token."""
QUERY_DEADLINE_S = 2.0
"""How long a search waits for the vector of what is searched for."""


class EmbedderState(msgspec.Struct, frozen=True):
    """Whether texts become vectors now.

    Args:
        alive: the last request went well, and nothing is known that would keep the next one from it.
        reason: why not, and what to do, one or two sentences; "" when alive.
        model: as ``Embeds.model_id``.
        process: id of the local one's process, 0 for none; it starts when it is needed.
        restarts: how often in a row it has ended by itself.
    """

    alive: bool
    reason: str
    model: str
    process: int = 0
    restarts: int = 0


class Embeds(Protocol):
    """Turns texts into vectors."""

    @property
    def model_id(self) -> str:
        """Names the model, its quantisation and its build. Vectors of different ids are never compared."""

    async def embed(self, texts: Sequence[str], *, held: Confidentiality, deadline_s: float) -> list[VectorBytes]:
        """A vector for each text, in order.

        Args:
            texts: up to ``BATCH``; each is cut at ``TEXT_CHARS`` and at the model's last token. One without words has
                a vector too, near to nothing in particular.
            held: the most confidential of them.
            deadline_s: seconds after which nobody waits for them any more.

        Raises:
            EmbeddingFault: there is not a vector for every text, so there is none.
        """

    def state(self) -> EmbedderState:
        """Whether it would work now, as far as is known; no request is made."""


def pack_vector(values: Sequence[float]) -> VectorBytes:
    """A vector of any length above zero, brought to length 1.

    Raises:
        ValueError: it is empty or zero, or a number is not finite.
    """
    if not all(map(math.isfinite, values)):
        raise ValueError("a number is not finite")
    largest = max(map(abs, values), default=0.0)
    if not largest > 0.0:
        raise ValueError("it is zero")
    whole = [round(value / largest * 127) for value in values]
    length = math.sqrt(sum(value * value for value in whole))
    return VectorBytes(struct.pack(f"<f{len(whole)}b", 1 / length, *whole))
