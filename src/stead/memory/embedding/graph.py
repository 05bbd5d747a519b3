"""The model itself: a BERT of six layers whose weights are whole numbers of eight bits.

Layer: memory, embedding worker, while it builds. Knows the model's shape and onnxruntime's operators; no file.

Every matrix of weights is quantised by column: w = scale x q with q in -127..127. What flows into a product is
quantised as it comes, over the whole of it. So a text is run by itself, never in a batch and never padded: its vector
depends on nothing but the text then, and no work is done for padding.

Source: Devlin et al., BERT (2019); Wang et al., MiniLM (2020); onnxruntime, ContribOperators.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stead.memory.embedding.onnx_form import FUSED, Element, Graph
from stead.memory.embedding.weights import Weights

LAYERS, HEADS, WIDTH, TOKENS = 6, 12, 384, 256
IDS, POSITIONS = "ids", "positions"
_EPSILON = 1e-12

Floats = NDArray[np.float32]


def assemble(weights: Weights) -> bytes:
    """The model in ONNX: token ids and positions, each of 1 to ``TOKENS``, to the mean of the last layer, 1 x 384."""
    graph = Graph()
    state = _embedded(graph, weights)
    for layer in range(LAYERS):
        state = _layer(graph, weights, f"encoder.layer.{layer}", state)
    axes = graph.constant(Element.INT64, [1], np.array([1], "<i8").tobytes())
    return graph.model([IDS, POSITIONS], graph.node("ReduceMean", state, axes, keepdims=0), [1, WIDTH])


def _embedded(graph: Graph, weights: Weights) -> str:
    words = weights.tensor("embeddings.word_embeddings.weight")
    whole, scale = _quantised(words.T)
    table = graph.constant(Element.INT8, words.shape, np.ascontiguousarray(whole.T).tobytes())
    scales = graph.constant(Element.FLOAT, [len(words), 1], scale.tobytes())
    rows = graph.node("Cast", graph.node("Gather", table, IDS), to=int(Element.FLOAT))
    rows = graph.node("Mul", rows, graph.node("Gather", scales, IDS))
    # All tokens are of the first type, so its row is part of every position's.
    places = weights.tensor("embeddings.position_embeddings.weight")[:TOKENS]
    places = places + weights.tensor("embeddings.token_type_embeddings.weight")[0]
    rows = graph.node("Add", rows, graph.node("Gather", _floats(graph, places), POSITIONS))
    axes = graph.constant(Element.INT64, [1], np.array([0], "<i8").tobytes())
    return _normalised(graph, weights, "embeddings.LayerNorm", graph.node("Unsqueeze", rows, axes))


def _layer(graph: Graph, weights: Weights, name: str, state: str) -> str:
    heads = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    mixed = graph.node("Split", _product(graph, weights, state, *heads), outputs=3, axis=-1, num_outputs=3)
    seen = graph.node("MultiHeadAttention", mixed, f"{mixed}.1", f"{mixed}.2", domain=FUSED, num_heads=HEADS)
    seen = _product(graph, weights, seen, f"{name}.attention.output.dense")
    state = _normalised(graph, weights, f"{name}.attention.output.LayerNorm", graph.node("Add", seen, state))
    inner = graph.node("Gelu", _product(graph, weights, state, f"{name}.intermediate.dense"))
    outer = _product(graph, weights, inner, f"{name}.output.dense")
    return _normalised(graph, weights, f"{name}.output.LayerNorm", graph.node("Add", outer, state))


def _product(graph: Graph, weights: Weights, state: str, *names: str) -> str:
    """A linear layer; several of the same input as one."""
    matrix = np.concatenate([weights.tensor(f"{name}.weight") for name in names]).T
    bias = np.concatenate([weights.tensor(f"{name}.bias") for name in names])
    whole, scale = _quantised(matrix)
    held = graph.constant(Element.INT8, whole.shape, whole.tobytes())
    return graph.node(
        "DynamicQuantizeMatMul", state, held, _floats(graph, scale), "", _floats(graph, bias), domain=FUSED
    )


def _normalised(graph: Graph, weights: Weights, name: str, state: str) -> str:
    scale, bias = weights.tensor(f"{name}.weight"), weights.tensor(f"{name}.bias")
    inputs = (state, _floats(graph, scale), _floats(graph, bias))
    return graph.node("LayerNormalization", *inputs, axis=-1, epsilon=_EPSILON)


def _floats(graph: Graph, values: Floats) -> str:
    return graph.constant(Element.FLOAT, values.shape, np.ascontiguousarray(values, "<f4").tobytes())


def _quantised(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Whole numbers, and what each column of them is to be multiplied by."""
    scale = np.maximum(np.abs(matrix).max(axis=0), np.float32(1e-12)) / np.float32(127)
    return np.ascontiguousarray(np.rint(matrix / scale).astype(np.int8)), scale.astype(np.float32)
