"""The form in which onnxruntime takes a model: as much of ONNX as our graph needs, written without its library.

Layer: memory, embedding worker. Standard library only; knows no model.

ONNX is a Protocol Buffers message. Writing one takes two kinds of field, a number and a length with bytes; the library
that does it for everybody weighs 27 MB and would be used once in a home's life.

Source: onnx/onnx.proto of ONNX 1.23 (IR version 10); Protocol Buffers, "Encoding".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum

IR_VERSION = 10
OPSET = 20
"""Of the standard's operators. Those of ``FUSED`` are onnxruntime's own."""
FUSED = "com.microsoft"


class Element(IntEnum):
    """What a tensor holds, by ``TensorProto.DataType``."""

    FLOAT = 1
    INT8 = 3
    INT64 = 7


class Graph:
    """A graph that is put together node by node, in the order in which it runs."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names = 0

    def constant(self, element: Element, shape: Sequence[int], data: bytes) -> str:
        """A tensor that is part of the model; gives its name.

        Args:
            element: what it holds.
            shape: its dimensions.
            data: its elements, little-endian, the last dimension fastest.
        """
        name = self._name("c")
        dims = b"".join(_number(1, size) for size in shape)
        self._parts.append(_bytes(5, dims + _number(2, element) + _text(8, name) + _bytes(9, data)))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", outputs: int = 1, **attributes: int | float) -> str:
        """An operation; gives the name of its output, or the stem of several ("stem", "stem.1", ...).

        Args:
            operator: its name in the standard, or in ``domain``.
            inputs: names, "" for an optional one that is left out.
            domain: whose operator it is.
            outputs: how many.
            attributes: by name.
        """
        stem = self._name("n")
        named = [stem, *(f"{stem}.{at}" for at in range(1, outputs))]
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in named)
        body += _text(3, stem) + _text(4, operator)
        body += b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())
        self._parts.append(_bytes(1, body + (_text(7, domain) if domain else b"")))
        return stem

    def model(self, inputs: Sequence[str], output: str, outputs_shape: Sequence[int]) -> bytes:
        """The whole file.

        Args:
            inputs: names of vectors of whole numbers, all of one length that may differ from run to run.
            output: the name of the one result, floats.
            outputs_shape: its shape.
        """
        graph = b"".join(self._parts) + _text(2, "stead")
        graph += b"".join(_bytes(11, _value(name, Element.INT64, ["length"])) for name in inputs)
        graph += _bytes(12, _value(output, Element.FLOAT, list(outputs_shape)))
        opsets = _bytes(8, _text(1, "") + _number(2, OPSET)) + _bytes(8, _text(1, FUSED) + _number(2, 1))
        return _number(1, IR_VERSION) + _text(2, "stead") + _bytes(7, graph) + opsets

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _tag(2, 5) + struct.pack("<f", value) + _number(20, 1)
    return _text(1, name) + _number(3, value) + _number(20, 2)


def _value(name: str, element: Element, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(_bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    tensor = _number(1, element) + _bytes(2, dims)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    return _tag(field, 0) + _varint(value & 0xFFFFFFFFFFFFFFFF)  # negative ones as 64-bit two's complement


def _bytes(field: int, value: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
