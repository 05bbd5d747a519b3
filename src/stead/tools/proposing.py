"""Proposing what only the person decides: another soul.

Layer: tools. Knows memory only as a port, which knows from the session who asks.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.directives import TEXT_CHARS
from stead.domain.memory_ports import SoulProposing
from stead.domain.permits import Permit
from stead.domain.policies import Integrity
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.tool import StructTool


class SoulArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole new text of ``soul.md``, and why, in one sentence."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=TEXT_CHARS)]
    why: Annotated[str, msgspec.Meta(max_length=300)] = ""


class ProposeSoulTool(StructTool[SoulArguments]):
    """``propose_soul``: another text for ``soul.md``, for the person to accept or refuse.

    Args:
        souls: where proposals are kept.
    """

    def __init__(self, souls: SoulProposing) -> None:
        # It changes nothing: what is proposed is read by the person, and by nobody else before they accept it.
        declaration = Declaration(ToolEffect.THINK, output_trust=Integrity.TRUSTED, idempotent=True)
        description = "Propose another text for soul.md, which says who you are; the person decides."
        super().__init__("propose_soul", description, SoulArguments, declaration, deferred=True)
        self._souls = souls

    async def work(self, permit: Permit, arguments: SoulArguments, context: ToolContext) -> ToolOutcome:
        """Propose."""
        done = await self._souls.propose(context.session, arguments.text, arguments.why)
        return ToolOutcome("error" if done.change == "refused" else "ok", done.text)
