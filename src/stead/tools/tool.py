"""The base of every tool: arguments as one struct, a terse schema from it, and the permit spent first.

Layer: tools. Knows no adapter; a tool takes the ports that it needs in its constructor. Must not know how a call was
judged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar, cast

import msgspec

from stead.domain.errors import InvalidRequest
from stead.domain.messages import DEPTH, is_shallow
from stead.domain.permits import Permit
from stead.domain.secrets import filled
from stead.domain.tools import Declaration, ToolContext, ToolOutcome, ToolSpec

A = TypeVar("A", bound=msgspec.Struct)

OUTPUT_CAP = 16_000
"""Characters of one outcome that a model reads; about four thousand tokens."""


class StructTool(ABC, Generic[A]):
    """A tool whose arguments are a struct.

    Args:
        name: ``[a-z_]{1,64}``, unique among tools.
        description: one terse sentence; the first request of every session pays for it.
        arguments: a frozen struct with ``forbid_unknown_fields=True``; its fields are the parameters.
        declaration: what the guardian derives the policy from.
        deferred: found by ``find_tools`` only.
    """

    def __init__(
        self, name: str, description: str, arguments: type[A], declaration: Declaration, *, deferred: bool = False
    ) -> None:
        self._arguments = arguments
        schema = terse_schema(arguments)
        properties = cast("dict[str, object]", schema["properties"])
        for filled_in in declaration.service_args:
            del properties[filled_in]
        self._spec = ToolSpec(name, description, schema, declaration, deferred)

    @property
    def spec(self) -> ToolSpec:
        """Name, schema and declaration; constant."""
        return self._spec

    def parse(self, arguments: str) -> Mapping[str, object]:
        """The model's JSON as canonical plain data, defaults filled in. No text at all counts as ``{}``.

        Raises:
            InvalidRequest: it is no JSON object, or does not fit the schema (unknown keys included).
        """
        try:
            parsed = msgspec.json.decode(arguments.strip() or "{}", type=self._arguments)
            plain = cast("dict[str, object]", msgspec.to_builtins(parsed))
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
            raise InvalidRequest(f"arguments of {self._spec.name!r}: {error}; mend them and call again") from error
        if not is_shallow(plain):
            raise InvalidRequest(f"arguments of {self._spec.name!r}: they are nested more than {DEPTH} deep")
        return plain

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Spend the permit, then do the work.

        Raises:
            PermitRefused: the permit does not cover these arguments; anything else comes from ``work``.
        """
        permit.spend(self._spec.name, arguments)
        if context.release is not None:
            arguments = filled(arguments, self._spec.name, context.session, context.release)
        try:
            given = msgspec.convert(arguments, self._arguments)
        except msgspec.ValidationError as error:  # without values they did fit
            return ToolOutcome("error", f"with the secret's value in it an argument does not fit: {error}")
        return await self.work(permit, given, context)

    @abstractmethod
    async def work(self, permit: Permit, arguments: A, context: ToolContext) -> ToolOutcome:
        """Do it, under a permit that is spent and live until this returns."""


def terse_schema(arguments: type[msgspec.Struct]) -> dict[str, object]:
    """A JSON Schema of a struct without what a model does not need: titles, defaults, bounds, references.

    Bounds are still enforced by ``parse``, whose message then teaches the model.
    """
    schema = msgspec.json.schema(arguments)
    return cast("dict[str, object]", _terse(schema, schema["$defs"]))


def clip(text: str, cap: int = OUTPUT_CAP) -> str:
    """The text, or its head and tail with a note of what was left out between them.

    Args:
        text: any length.
        cap: characters, 100 or more, that the result has at most.
    """
    if len(text) <= cap:
        return text
    kept = cap - 50
    head = kept // 2
    return f"{text[:head]}\n[… {len(text) - kept} characters left out …]\n{text[len(text) - kept + head :]}"


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
