"""all-MiniLM-L6-v2 in numpy: text in, vector out.

Layer: memory, embedding worker. Knows where the package of the weights is and that its files are the published ones; it
does not import that package, whose own code needs PyTorch.

A text is run by itself, never in a batch and never padded: its vector depends on nothing but the text, and no work is
done for padding. The weights of the layers are kept transposed, in which form short texts are a third faster.

Source: Devlin et al., BERT (2019); Wang et al., MiniLM (2020);
https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2, whose files have these digests.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from stead.memory.embedding.places import Unfit
from stead.memory.embedding.wire import WEIGHTS, Refused

LAYERS, HEADS, WIDTH, TOKENS = 6, 12, 384, 256
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_EPSILON = np.float32(1e-12)
_GELU, _CUBE = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)

Floats = NDArray[np.float32]


class Model:
    """The model, loaded.

    Raises:
        Refused: the weights are not installed, or are not the published files.
    """

    def __init__(self) -> None:
        folder = _folder()
        self._tokenizer = Tokenizer.from_file(str(_published(folder / "tokenizer.json", _TOKENIZER_SHA256)))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS)
        tensors = _Tensors(_published(folder / "model.safetensors", _WEIGHTS_SHA256))
        self._words = tensors.mapped("embeddings.word_embeddings.weight")
        # All tokens are of the first type, so its row is part of every position's.
        positions = tensors.read("embeddings.position_embeddings.weight")[:TOKENS]
        self._positions = positions + tensors.read("embeddings.token_type_embeddings.weight")[0]
        self._norms = {"embeddings": tensors.pair("embeddings.LayerNorm")}
        self._products: dict[str, tuple[Floats, Floats]] = {}
        for layer in (f"encoder.layer.{at}" for at in range(LAYERS)):
            heads = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
            self._products[f"{layer}.attention.self"] = tensors.product(heads)
            for part in ("attention.output", "output"):
                self._products[f"{layer}.{part}"] = tensors.product([f"{layer}.{part}.dense"])
                self._norms[f"{layer}.{part}"] = tensors.pair(f"{layer}.{part}.LayerNorm")
            self._products[f"{layer}.intermediate"] = tensors.product([f"{layer}.intermediate.dense"])

    def embed(self, text: str) -> Floats:
        """The text's vector, 384 numbers, not yet of length 1.

        Raises:
            Unfit: it is not finite, or zero.
        """
        ids = self._tokenizer.encode(text).ids
        state = self._normalised("embeddings", self._words[ids] + self._positions[: len(ids)])
        for at in range(LAYERS):
            state = self._layer(f"encoder.layer.{at}", state)
        vector: Floats = state.mean(axis=0)
        if not np.isfinite(vector).all() or not np.abs(vector).max() > 1e-6:
            raise Unfit("the model gave a vector that is not finite, or zero")
        return vector

    def _layer(self, name: str, state: Floats) -> Floats:
        parts = self._product(f"{name}.attention.self", state).reshape(len(state), 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.transpose(1, 2, 0, 3)
        weight = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(WIDTH // HEADS))
        weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
        seen = (weight / weight.sum(axis=-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(state), WIDTH)
        output = f"{name}.attention.output"
        state = self._normalised(output, self._product(output, seen) + state)
        inner = self._product(f"{name}.intermediate", state)
        inner = inner * (1 + np.tanh(_GELU * (inner + _CUBE * inner * inner * inner))) / 2
        return self._normalised(f"{name}.output", self._product(f"{name}.output", inner) + state)

    def _product(self, name: str, state: Floats) -> Floats:
        weight, bias = self._products[name]
        return state @ weight + bias

    def _normalised(self, name: str, state: Floats) -> Floats:
        weight, bias = self._norms[name]
        state = state - state.mean(axis=-1, keepdims=True)
        state /= np.sqrt((state * state).mean(axis=-1, keepdims=True) + _EPSILON)
        return state * weight + bias


class _Tensors:
    """The tensors of a safetensors file, by name."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            self._header: dict[str, dict[str, list[int]]] = json.loads(file.read(size))
        self._path = path
        self._start = 8 + size

    def mapped(self, name: str) -> Floats:
        """A tensor of which only the rows that are used come into memory."""
        shape, start = self._header[name]["shape"], self._start + self._header[name]["data_offsets"][0]
        return np.memmap(self._path, "<f4", "r", start, tuple(shape))

    def read(self, name: str) -> Floats:
        """A tensor."""
        shape, start = self._header[name]["shape"], self._start + self._header[name]["data_offsets"][0]
        return np.fromfile(self._path, "<f4", math.prod(shape), offset=start).reshape(shape)

    def pair(self, name: str) -> tuple[Floats, Floats]:
        """Weight and bias."""
        return self.read(f"{name}.weight"), self.read(f"{name}.bias")

    def product(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Linear layers of the same input as one: what the input is multiplied by, and what is added."""
        weights, biases = zip(*map(self.pair, names), strict=True)
        return np.ascontiguousarray(np.concatenate(weights).T), np.concatenate(biases)


def _folder() -> Path:
    found = importlib.util.find_spec(WEIGHTS)
    if found is None or not found.submodule_search_locations:
        raise Refused("absent", f"the package {WEIGHTS!r} is not installed")
    return Path(found.submodule_search_locations[0]) / "model"


def _published(path: Path, sha256: str) -> Path:
    """The path of a file, which is the published one."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Refused("failed", f"{path.name} of {WEIGHTS!r} cannot be read: {error.strerror or error}") from error
    if digest != sha256:
        raise Refused("failed", f"{path.name} of {WEIGHTS!r} is not the published file; install it again")
    return path
