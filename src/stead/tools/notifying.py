"""The tool by which a run that is quiet by itself tells the person something.

Layer: tools. It sends nothing: the call in the record is what the person is shown. Whether a run has something to say
is known by this call alone, and not by the words of its answer.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Integrity
from stead.domain.schedules import NOTIFY
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool


class NotifyArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to tell, in a few sentences."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=2_000, pattern=r"\S")]


class NotifyTool(StructTool[NotifyArguments]):
    """``notify``: tell the person something that they need to know or decide."""

    def __init__(self) -> None:
        declaration = Declaration(
            ToolEffect.THINK,
            content_args=("text",),
            output_trust=Integrity.TRUSTED,
            sensitivity=Confidentiality.PUBLIC,
            idempotent=True,
        )
        description = "Tell the person what they need to know or decide, where your answer is not shown to them."
        super().__init__(NOTIFY, description, NotifyArguments, declaration, deferred=True)

    async def work(self, permit: Permit, arguments: NotifyArguments, context: ToolContext) -> ToolOutcome:
        """Take note; the record of this call is what the person reads."""
        return ToolOutcome("ok", "The person is notified.")
