"""The calls of a plan, as a model writes them down and as the guardian reads them.

Layer: domain. One reading for the tool that records a plan and for the decision whether the person has to see it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from stead.domain.permits import canonical
from stead.domain.policies import PlannedCall

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class PlanCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"takes": "from"}):
    """A call to come, the arguments known already; from: source of each argument read later; up_to: largest number."""

    tool: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    arguments: dict[str, Any] = {}
    takes: dict[_Name, _Name] = {}
    up_to: dict[_Name, float] = {}

    def entry(self) -> PlannedCall:
        """The same, as a session keeps it."""
        return PlannedCall(self.tool, canonical(self.arguments).decode(), self.takes, self.up_to)


def planned_calls(arguments: Mapping[str, object]) -> tuple[PlannedCall, ...]:
    """The calls that the arguments of the tool ``plan`` name.

    Raises:
        msgspec.ValidationError: they are not what the tool's own parser lets through; a bug.
    """
    return tuple(call.entry() for call in msgspec.convert(arguments.get("calls", ()), tuple[PlanCall, ...]))
