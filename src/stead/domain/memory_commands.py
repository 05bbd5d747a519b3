"""What people say about memory: add, correct, mark, take back, settle what was proposed, take files in.

Layer: domain. A part of ``domain.commands``, whose rules hold here too. Only the person gives these commands; models
have tools, which go through the gate.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from stead.domain.bounds import AnyFolder, Text, bounds
from stead.domain.memory import Kind, Level, MemoryId, ProposalId, RunId

Statement = Annotated[Text, bounds(maxLength=4000)]
Memories = Annotated[tuple[Annotated[MemoryId, bounds(pattern="^m_[0-9a-f]{16}$")], ...], bounds(maxItems=1000)]
SomeMemories = Annotated[Memories, bounds(minItems=1)]
LATEST_MS = 253_402_300_799_999
"""The end of the year 9999."""


class NewMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something to be remembered, in the person's words. Fields as of ``domain.memory.Memory``.

    Args:
        ttl_days: dropped after so many days; 0 for never.
        valid_from_ms: since when it holds; 0 for from now on.
    """

    text: Statement
    kind: Kind = "knowledge"
    key: Annotated[str, bounds(maxLength=120)] = ""
    value: Annotated[str, bounds(maxLength=4000)] = ""
    aliases: Annotated[tuple[Annotated[str, bounds(maxLength=120)], ...], bounds(maxItems=20)] = ()
    pinned: bool = False
    standing: bool = False
    ttl_days: Annotated[int, bounds(minimum=0, maximum=36_500)] = 0
    valid_from_ms: Annotated[int, bounds(minimum=0, maximum=LATEST_MS)] = 0


class Remember(msgspec.Struct, frozen=True, tag="memory.remember", forbid_unknown_fields=True):
    """Remember 1 to 1,000 statements; the answer has the result and the id of each.

    Args:
        items: what.
        level: who sees them; "channel" cannot be chosen here.
        directory: the folder whose workspace it is, for the levels "workspace" and "private".
    """

    items: Annotated[tuple[NewMemory, ...], bounds(minItems=1, maxItems=1000)]
    level: Level = "global"
    directory: AnyFolder = ""


class CorrectMemory(msgspec.Struct, frozen=True, tag="memory.correct", forbid_unknown_fields=True):
    """Put other words in a memory's place, which stays as what was held before; the answer has the new one's id.

    Args:
        id: which.
        text: the new words.
        value: at its key; "" for none.
        valid_from_ms: since when the new words hold; 0 for from now on.
        was_wrong: the old ones never held.
    """

    id: MemoryId
    text: Statement
    value: Annotated[str, bounds(maxLength=4000)] = ""
    valid_from_ms: Annotated[int, msgspec.Meta(ge=0), bounds(maximum=LATEST_MS)] = 0
    was_wrong: bool = False


class MarkMemories(msgspec.Struct, frozen=True, tag="memory.mark", forbid_unknown_fields=True):
    """Change marks of up to 1,000 memories; what is left out stays.

    Args:
        ids: which.
        pinned: in every prompt.
        standing: an instruction, in every prompt.
        kind: one of ``KINDS``.
        key: canonical.
        aliases: in place of those they have.
        confidence: 0 to 1.
        ttl_days: dropped after so many days from now; 0 for never.
    """

    ids: SomeMemories
    pinned: bool | None = None
    standing: bool | None = None
    kind: Kind | None = None
    key: str | None = None
    aliases: tuple[str, ...] | None = None
    confidence: float | None = None
    ttl_days: int | None = None


class RetireMemories(msgspec.Struct, frozen=True, tag="memory.retire", forbid_unknown_fields=True):
    """Stop recalling up to 1,000 memories. They are kept and can be restored; ``Forget`` is for good."""

    ids: SomeMemories


class RestoreMemories(msgspec.Struct, frozen=True, tag="memory.restore", forbid_unknown_fields=True):
    """Restore up to 1,000 retired memories."""

    ids: SomeMemories


class SettleProposal(msgspec.Struct, frozen=True, tag="memory.settle", forbid_unknown_fields=True):
    """Answer a proposal."""

    id: ProposalId
    accept: bool


class ImportMemories(msgspec.Struct, frozen=True, tag="memory.import", forbid_unknown_fields=True):
    """Take a file of memories in, unpinned and with low confidence; the answer counts made, known and refused.

    Args:
        name: of the file, as CLAUDE.md, MEMORY.md, user.md, or an export of Stead (``.jsonl``).
        text: its whole text, up to 10 MB.
        level: as of ``Remember``.
        directory: as of ``Remember``.
    """

    name: str
    text: Annotated[str, bounds(maxLength=10_000_000)]
    level: Level = "global"
    directory: AnyFolder = ""


class Consolidate(msgspec.Struct, frozen=True, tag="memory.consolidate", forbid_unknown_fields=True):
    """Work what was said since the last run into memory now, in every place."""


class RevertRun(msgspec.Struct, frozen=True, tag="memory.revert", forbid_unknown_fields=True):
    """Take back what one run of consolidation changed."""

    run: RunId


MemoryCommand = (
    Remember
    | CorrectMemory
    | MarkMemories
    | RetireMemories
    | RestoreMemories
    | SettleProposal
    | ImportMemories
    | Consolidate
    | RevertRun
)

Change = Literal["made", "same", "superseded", "refused"]
"""What became of one thing that was to be remembered."""
