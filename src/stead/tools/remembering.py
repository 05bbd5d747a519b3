"""Memory, as a model uses it: look something up, have it remembered, correct it, and ask to have it forgotten.

Layer: tools. Knows memory only as the ``Remembering`` port, which takes the viewer from the session. There is no
argument for a scope: a model can narrow what its session sees and never widen it. A statement must be borne out by what
was said, and carries the label of those words; so a stranger's words may be remembered, and stay untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from stead.brain.remembering import normal
from stead.domain.errors import CallerError
from stead.domain.memory import TEXT_CHARS, Hit, Kind, MemoryId, Query
from stead.domain.memory_ports import Done, Remembering, Wanted
from stead.domain.permits import Permit
from stead.domain.policies import Integrity
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.dates import HOW, moment_ms
from stead.tools.output import clip
from stead.tools.tool import StructTool

MOST = 20
_LINE_CHARS = 1_500
_NAMED = re.compile(r"(?:- )?\[?(m_[0-9a-f]{16}\b)?\]?(.*)", re.S)
Statement = Annotated[str, msgspec.Meta(min_length=1, max_length=TEXT_CHARS)]
Name = Annotated[str, msgspec.Meta(max_length=120)]
Words = Annotated[str, msgspec.Meta(max_length=2_000)]


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One statement, in the speaker's own form; ``key`` like person.time_zone, ``value`` what holds at that key."""

    text: Statement
    kind: Kind = "knowledge"
    key: Name = ""
    value: Words = ""


class RememberArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One to twenty statements."""

    items: Annotated[tuple[Item, ...], msgspec.Meta(min_length=1, max_length=MOST)]


class RecallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question or words; and the day (UTC, like 2026-01-31) as of which it is answered."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
    as_of: Annotated[str, msgspec.Meta(max_length=40)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10


class CorrectArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The id of a memory or what it says, and what holds instead."""

    old: Statement
    text: Statement
    value: Words = ""


class ForgetArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What they say, word by word; where two say it, one's id before that."""

    memories: Annotated[tuple[Statement, ...], msgspec.Meta(min_length=1, max_length=MOST)]


class RecallTool(StructTool[RecallArguments]):
    """``recall``: what is remembered, and what was said in earlier sessions; nothing that strangers' words made.

    Args:
        memory: the port.
    """

    def __init__(self, memory: Remembering) -> None:
        declaration = Declaration(ToolEffect.READ, output_trust=Integrity.TRUSTED, idempotent=True)
        description = "Look up what is remembered and what was said in earlier sessions."
        super().__init__("recall", description, RecallArguments, declaration)
        self._memory = memory

    async def work(self, permit: Permit, arguments: RecallArguments, context: ToolContext) -> ToolOutcome:
        """Look."""
        return await _looked_up(self._memory, arguments, context, trusted=True)


class RecallAllTool(StructTool[RecallArguments]):
    """``recall_all``: as ``recall``, with what strangers' words made; a model that reads it has read strangers.

    Args:
        memory: the port.
    """

    def __init__(self, memory: Remembering) -> None:
        declaration = Declaration(ToolEffect.READ, idempotent=True)
        description = "Like recall, with what was learned from strangers' words."
        super().__init__("recall_all", description, RecallArguments, declaration, deferred=True)
        self._memory = memory

    async def work(self, permit: Permit, arguments: RecallArguments, context: ToolContext) -> ToolOutcome:
        """Look."""
        return await _looked_up(self._memory, arguments, context, trusted=False)


class RememberTool(StructTool[RememberArguments]):
    """``remember``: statements that the session's own words bear out.

    Args:
        memory: the port.
    """

    def __init__(self, memory: Remembering) -> None:
        # It changes nothing that a later session acts on: what is remembered is data there, under its own label.
        declaration = Declaration(ToolEffect.THINK, output_trust=Integrity.TRUSTED, idempotent=True)
        description = "Remember statements for later sessions; only what was said here."
        super().__init__("remember", description, RememberArguments, declaration)
        self._memory = memory

    async def work(self, permit: Permit, arguments: RememberArguments, context: ToolContext) -> ToolOutcome:
        """Remember."""
        items = [Wanted(item.text, item.kind, item.key, item.value) for item in arguments.items]
        return _outcome(await self._memory.remember(context.session, items))


class CorrectTool(StructTool[CorrectArguments]):
    """``correct_memory``: another statement in a memory's place; the old one stays as what was held before.

    Args:
        memory: the port.
    """

    def __init__(self, memory: Remembering) -> None:
        declaration = Declaration(ToolEffect.THINK, output_trust=Integrity.TRUSTED, idempotent=True)
        description = "Put another statement in the place of a memory that no longer holds."
        super().__init__("correct_memory", description, CorrectArguments, declaration, deferred=True)
        self._memory = memory

    async def work(self, permit: Permit, arguments: CorrectArguments, context: ToolContext) -> ToolOutcome:
        """Correct."""
        wanted = Wanted(text=arguments.text, value=arguments.value)
        return _outcome([await self._memory.correct(context.session, arguments.old, wanted)])


class ForgetTool(StructTool[ForgetArguments]):
    """``forget_memory``: memories forgotten for good, everywhere, if the person confirms it.

    Args:
        memory: the port.
    """

    def __init__(self, memory: Remembering) -> None:
        declaration = Declaration(
            ToolEffect.SEND, authority_args=("memories",), output_trust=Integrity.TRUSTED, unplanned=True, local=True
        )
        description = "Forget memories for good, wherever they stand; the person confirms."
        super().__init__("forget_memory", description, ForgetArguments, declaration, deferred=True)
        self._memory = memory

    async def work(self, permit: Permit, arguments: ForgetArguments, context: ToolContext) -> ToolOutcome:
        """Forget, as the person has just confirmed."""
        ids: list[MemoryId] = []
        for named in arguments.memories:
            id, words = _named(named)
            found = await self._memory.candidates(context.session, words or id)
            # The person has confirmed the words that they saw, so only the memory with these very words may go.
            same = [one for one in found if normal(one.text) == normal(words) and id in ("", one.id)]
            if len(same) != 1:
                near = "\n".join(f"- [{memory.id}] {' '.join(memory.text.split())}" for memory in found)
                many = f"{named!r} names not one memory word by word; name it as it stands here:\n{near}"
                return ToolOutcome("error", many if found else f"Nothing is remembered that says {named!r}.")
            ids.append(same[0].id)
        try:
            return ToolOutcome("ok", await self._memory.forget(context.session, tuple(dict.fromkeys(ids))))
        except CallerError as refused:
            return ToolOutcome("error", f"Not forgotten: {refused}")


async def _looked_up(
    memory: Remembering, arguments: RecallArguments, context: ToolContext, *, trusted: bool
) -> ToolOutcome:
    try:
        as_of_ms = moment_ms(arguments.as_of, 0)
    except (ValueError, OverflowError):
        return ToolOutcome("error", HOW)
    query = Query(arguments.query, limit=arguments.limit, as_of_ms=as_of_ms, trusted=trusted, chars=_LINE_CHARS)
    found = await memory.recall(context.session, query)
    notes = [f"[not searched by {leg.leg}: {leg.text}]" for leg in found.legs if not leg.alive]
    if found.withheld:
        notes.append(f"[{found.withheld} more came of strangers' words; recall_all has them]")
    text = "\n".join(map(_line, found.hits)) or "Nothing is remembered of it."
    return ToolOutcome("ok", "\n".join((clip(text), *notes)), size_bytes=len(text.encode()))


def _named(text: str) -> tuple[str, str]:
    """The id and the words of ``[m_…] words``, and of either alone; "" for what is not there."""
    match = _NAMED.match(text)
    assert match is not None, "both parts may be missing"
    return match[1] or "", match[2].strip()


def _outcome(done: Sequence[Done]) -> ToolOutcome:
    text = "\n".join(f"{one.change}: {f'[{one.id}] ' if one.id else ''}{' '.join(one.text.split())}" for one in done)
    return ToolOutcome("error" if all(one.change == "refused" for one in done) else "ok", text)


def _line(hit: Hit) -> str:
    when = datetime.fromtimestamp(hit.ts_ms / 1000, UTC).strftime("%Y-%m-%d")
    who = f"{hit.who}: " if hit.who else ""
    marks = "" if hit.label.integrity is not Integrity.UNTRUSTED else " (from strangers' words)"
    text = " ".join(hit.text.split())
    return f"- [{hit.ref}] {when}{marks} {who}{text}"
