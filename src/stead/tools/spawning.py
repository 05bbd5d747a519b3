"""Starting a subagent: the call says what is wanted, and ends with the report.

Layer: tools. Decides nothing: what the subagent gets is the guardian's matter, and each of its own calls is judged as
any other.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.agents import SPAWN, Order
from stead.domain.checks import Check, all_checked
from stead.domain.errors import InvalidRequest
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool

Name = Annotated[str, msgspec.Meta(max_length=260)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=100)]
Figure = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class SpawnArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The task with all that is to be known for it, and bounds; without a figure it gets a share of what is left."""

    task: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000, pattern=r"\S")]
    specialist: Annotated[str, msgspec.Meta(max_length=40)] = ""
    role: Literal["", "task_lead", "executor"] = ""
    tools: Names | None = None
    hosts: Names | None = None
    secrets: Names = ()
    tokens: Figure = 0
    usd_micros: Figure = 0
    seconds: Figure = 0
    iterations: Figure = 0
    readonly: bool = False
    checks: Annotated[tuple[Check, ...], msgspec.Meta(max_length=20)] = ()


class SpawnTool(StructTool[SpawnArguments]):
    """``spawn_agent``: a subagent with no more than this session has."""

    def __init__(self) -> None:
        # What the subagent does is judged call by call; starting it spends what this session may spend anyway.
        declaration = Declaration(
            ToolEffect.THINK,
            output_trust=Integrity.TRUSTED,
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
        )
        description = "Start a subagent that does a task apart and reports; several in one reply work side by side."
        super().__init__(SPAWN, description, SpawnArguments, declaration, deferred=True)

    async def work(self, permit: Permit, arguments: SpawnArguments, context: ToolContext) -> ToolOutcome:
        """Hand the order on; the session starts it and waits."""
        try:
            checks = all_checked(arguments.checks)
        except InvalidRequest as wrong:
            return ToolOutcome("error", f"Nothing was started: {wrong}.")
        return ToolOutcome("ok", "", order=Order(**{**msgspec.structs.asdict(arguments), "checks": checks}))
