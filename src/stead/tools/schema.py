"""The JSON Schema of a tool's arguments, as short as a model needs it.

Layer: tools. What a call may hold is enforced by the arguments' struct alone, whatever a schema says.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec


def terse_schema(arguments: type[msgspec.Struct]) -> dict[str, object]:
    """A JSON Schema of a struct without what a model does not need: titles, defaults, bounds, references.

    Bounds are still enforced by ``parse``, whose message then teaches the model.
    """
    return msgspec.json.decode(_encoded(arguments), type=dict[str, object])


@functools.cache
def _encoded(arguments: type[msgspec.Struct]) -> bytes:
    schema = msgspec.json.schema(arguments)
    return msgspec.json.encode(_terse(schema, schema["$defs"]))


_BOUNDS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"}
_NOISE = {"title", "default", "additionalProperties"} | _BOUNDS


def _terse(schema: object, structs: Mapping[str, object]) -> object:
    if isinstance(schema, list):
        return [_terse(item, structs) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _terse(structs[schema["$ref"].rpartition("/")[2]], structs)
    noise = _NOISE | {"description"} if "properties" in schema else _NOISE
    kept = {key: _terse(value, structs) for key, value in schema.items() if key not in noise and key != "properties"}
    if "properties" in schema:
        kept["properties"] = {name: _terse(value, structs) for name, value in schema["properties"].items()}
        kept.setdefault("required", [])
    return kept
