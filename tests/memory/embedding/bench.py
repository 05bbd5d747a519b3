"""What the embedder is held to: sentences, the model in floats, and ways to see and to stop its process."""

from __future__ import annotations

import asyncio
import math
import os
import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stead.domain.policies import Confidentiality
from stead.memory.embedding.embedder import Embedder
from stead.memory.embedding.model import _folder, _Tensors

PRIVATE = Confidentiality.PRIVATE
PATIENT_S = 60.0
"""A deadline that is no part of what a test asks."""

SENTENCES = (
    "The harbour office of Eskholm opens at seven on weekdays.",
    "Ada prefers her reports as short lists, never as tables.",
    "The nightly backup failed because the disk was full.",
    "Rotate the signing keys of the staging cluster every ninety days.",
    "Invoices from Lindgren & Daughters are due after thirty days.",
    "My sister's birthday is on the fourth of March.",
    "The parser must accept a trailing comma in argument lists.",
    "We decided to keep SQLite and not to move to a server.",
    "Remember that the test rig needs the old firmware.",
    "Boil the potatoes for twenty minutes and salt them afterwards.",
    "The flight to Porto leaves from gate B12.",
    "Never push to the main branch on a Friday.",
    "Nils is allergic to peanuts.",
    "The quarterly figures show a growth of four percent.",
    "He asked for a refund of the concert tickets.",
    "def area(radius): return math.pi * radius ** 2",
    "The museum is closed on Mondays, except on holidays.",
    "Her new telephone number ends in 4471.",
    "It rained through the whole of the first week.",
    "Use tabs in Makefiles and four spaces everywhere else.",
)


def unpack_vector(vector: bytes) -> list[float]:
    """Its numbers, in plain arithmetic."""
    scale, *whole = struct.unpack(f"<f{len(vector) - 4}b", vector)
    return [scale * value for value in whole]


def cosine(one: bytes, other: bytes) -> float:
    """Of two vectors as bytes."""

    return sum(a * b for a, b in zip(unpack_vector(one), unpack_vector(other), strict=True))


class FloatModel:
    """The published model in floats and plain matrix products: by other formulas, to compare with."""

    def __init__(self) -> None:
        self._weights = _Tensors(_folder() / "model.safetensors")

    def embed(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vector of a text's token ids, of length 1."""
        words, places, types = (
            self._weights.read(f"embeddings.{name}_embeddings.weight") for name in ("word", "position", "token_type")
        )
        state = self._norm("embeddings.LayerNorm", words[list(ids)] + places[: len(ids)] + types[0])
        for layer in range(6):
            state = self._layer(f"encoder.layer.{layer}", state)
        mean = state.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def _layer(self, name: str, state: NDArray[np.float32]) -> NDArray[np.float32]:
        heads = []
        parts = [self._linear(f"{name}.attention.self.{part}", state) for part in ("query", "key", "value")]
        for head in range(12):
            query, key, value = (part[:, head * 32 : head * 32 + 32] for part in parts)
            weight = np.exp(query @ key.T / math.sqrt(32))
            heads.append(weight / weight.sum(axis=1, keepdims=True) @ value)
        seen = self._linear(f"{name}.attention.output.dense", np.concatenate(heads, axis=1))
        state = self._norm(f"{name}.attention.output.LayerNorm", seen + state)
        inner = self._linear(f"{name}.intermediate.dense", state)
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        return self._norm(f"{name}.output.LayerNorm", self._linear(f"{name}.output.dense", inner) + state)

    def _linear(self, name: str, state: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(state @ self._weights.read(f"{name}.weight").T + self._weights.read(f"{name}.bias"))

    def _norm(self, name: str, state: NDArray[np.float32]) -> NDArray[np.float32]:
        centred = state - state.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        return np.asarray(centred / spread * self._weights.read(f"{name}.weight") + self._weights.read(f"{name}.bias"))


class Watched:
    """A process that is to end, held on to before it does."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    async def ended(self) -> None:
        """Wait until it has."""
        loop, dead = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._descriptor, dead.set)
        try:
            async with asyncio.timeout(30):
                await dead.wait()
        finally:
            loop.remove_reader(self._descriptor)
            os.close(self._descriptor)


async def process_of(embedder: Embedder) -> int:
    """The worker's id, once there is one."""
    async with asyncio.timeout(30):
        while not (pid := embedder.state().process):
            await asyncio.sleep(0)
    return pid
