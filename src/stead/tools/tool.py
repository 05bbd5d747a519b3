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
from stead.tools.schema import terse_schema

A = TypeVar("A", bound=msgspec.Struct)


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
            raise InvalidRequest(f"arguments of {self._spec.name!r}: {error}; fix them and call again") from error
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
