"""The plan: how a model tells, and keeps telling, what it means to do.

Layer: tools. Touches nothing but the session's own notes.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.checks import Check, all_checked
from stead.domain.errors import InvalidRequest
from stead.domain.events import PlanMade, PlanStep
from stead.domain.permits import Permit
from stead.domain.plans import PlanCall
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a plan."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    status: Literal["todo", "doing", "done", "skipped"] = "todo"


class PlanArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole plan as it now stands, 1 to 30 steps, and up to 50 calls that they will make."""

    steps: Annotated[tuple[Step, ...], msgspec.Meta(min_length=1, max_length=30)]
    checks: Annotated[tuple[Check, ...], msgspec.Meta(max_length=20)] = ()
    calls: Annotated[tuple[PlanCall, ...], msgspec.Meta(max_length=50)] = ()


class Plan(StructTool[PlanArguments]):
    """``plan``: set or revise the plan."""

    def __init__(self) -> None:
        declaration = Declaration(
            effect=ToolEffect.THINK,
            output_trust=Integrity.TRUSTED,
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
            plans=True,
        )
        super().__init__("plan", "Set or revise the whole plan.", PlanArguments, declaration)

    async def work(self, permit: Permit, arguments: PlanArguments, context: ToolContext) -> ToolOutcome:
        """Hand the plan back as a fact, to be recorded with the call; what it grants is the guardian's matter."""
        steps = tuple(PlanStep(step.title, step.status) for step in arguments.steps)
        calls = tuple(call.entry() for call in arguments.calls)
        try:
            checks = all_checked(arguments.checks)
        except InvalidRequest as wrong:
            return ToolOutcome("error", f"The plan was not taken: {wrong}.")
        return ToolOutcome("ok", "Plan noted.", facts=(PlanMade(steps=steps, by="model", calls=calls, checks=checks),))
