"""Looking things up in the record: what was said and done, in this session and in others.

Layer: tools. Knows the record only as the ``History`` port. There are two tools, because they differ in what they let a
model see. A session's own record holds nothing that its model has not read already; it is there for what trimming
and compaction took out of the context. Other sessions may have read what this one has not, so that looking into
them counts as reading an account. Results of either are no hits: they only repeat.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from stead.domain.errors import NotFound
from stead.domain.ids import SessionId
from stead.domain.permits import Permit
from stead.domain.ports import History, HistoryQuery
from stead.domain.rows import HistoryRow
from stead.domain.tools import Declaration, ToolContext, ToolEffect, ToolOutcome
from stead.tools.dates import HOW, moment_ms
from stead.tools.output import OUTPUT_CAP
from stead.tools.tool import StructTool

OWN_TOOLS = "history*"
"""The names of both, as a pattern."""
PAGE_ROWS = 20
_PAGE_CHARACTERS = OUTPUT_CAP - 300
_EVER_MS = 2**62
Date = Annotated[str, msgspec.Meta(max_length=40)]


class HistoryArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words and dates (UTC, like 2026-01-31) to look for, or the number of an event to read whole."""

    query: Annotated[str, msgspec.Meta(max_length=500)] = ""
    event: Annotated[int, msgspec.Meta(ge=0, le=2**62)] = 0
    after: Date = ""
    before: Date = ""
    page: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1


class HistoryAllArguments(HistoryArguments, frozen=True, forbid_unknown_fields=True):
    """As ``HistoryArguments``; and whose session, "all" for every one of the workspace."""

    session: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] = "all"


class HistoryTool(StructTool[HistoryArguments]):
    """``history``: this session's own record.

    Args:
        history: of the workspace.
    """

    def __init__(self, history: History) -> None:
        # It looks at nothing but the session's own notes, which is what its model thinks with.
        declaration = Declaration(ToolEffect.THINK, idempotent=True)
        description = (
            "Look up this session's record, trimmed results included: search by words, then read an event whole."
        )
        super().__init__("history", description, HistoryArguments, declaration, deferred=True)
        self._history = history

    async def work(self, permit: Permit, arguments: HistoryArguments, context: ToolContext) -> ToolOutcome:
        """Look."""
        return await _looked_up(self._history, arguments, context.session, context.session)


class HistoryAllTool(StructTool[HistoryAllArguments]):
    """``history_all``: the record of every session of the folder, as far as memory's scopes let it.

    Args:
        history: of the workspace.
    """

    def __init__(self, history: History) -> None:
        declaration = Declaration(ToolEffect.READ, authority_args=("session",), idempotent=True)
        description = "Look up the record of other sessions of this folder, like history."
        super().__init__("history_all", description, HistoryAllArguments, declaration, deferred=True)
        self._history = history

    async def work(self, permit: Permit, arguments: HistoryAllArguments, context: ToolContext) -> ToolOutcome:
        """Look."""
        session = SessionId("" if arguments.session == "all" else arguments.session)
        return await _looked_up(self._history, arguments, session, context.session)


async def _looked_up(
    history: History, arguments: HistoryArguments, session: SessionId, viewer: SessionId
) -> ToolOutcome:
    if arguments.event:
        return await _read(history, arguments.event, arguments.page, session, viewer)
    try:
        since = moment_ms(arguments.after, 0)
        until = moment_ms(arguments.before, _EVER_MS)
    except (ValueError, OverflowError):
        return ToolOutcome("error", HOW)
    skip = (arguments.page - 1) * PAGE_ROWS
    query = HistoryQuery(arguments.query, session, since, until, skip, viewer)
    rows = await asyncio.to_thread(history.search, query, PAGE_ROWS + 1)
    if not rows:
        return ToolOutcome("ok", "Nothing more." if arguments.page > 1 else "Nothing was found; try fewer words.")
    text = "\n".join(_line(row, " ".join(row.text.split())) for row in rows[:PAGE_ROWS])
    more = f"\n[more on page {arguments.page + 1}]" if len(rows) > PAGE_ROWS else ""
    return ToolOutcome("ok", _cut(text) + more, size_bytes=len(text.encode()))


async def _read(history: History, event: int, page: int, session: SessionId, viewer: SessionId) -> ToolOutcome:
    """The text of one event, a page of it if it is long."""
    try:
        row = await asyncio.to_thread(history.said, event, viewer)
    except NotFound as missing:
        return ToolOutcome("error", str(missing))
    if session and row.session != session:
        return ToolOutcome("error", f"Event {event} is of another session, {row.session}; history_all reads those.")
    start = (page - 1) * _PAGE_CHARACTERS
    part = row.text[start : start + _PAGE_CHARACTERS]
    pages = max(1, -(-len(row.text) // _PAGE_CHARACTERS))
    note = f"\n[page {page} of {pages}]" if pages > 1 else ""
    return ToolOutcome("ok", f"{_line(row, '')}\n{part}{note}", size_bytes=len(row.text.encode()))


def _line(row: HistoryRow, text: str) -> str:
    when = datetime.fromtimestamp(row.ts_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return f"[{row.seq}] {when} {row.session} {row.by} {text}".rstrip()


def _cut(text: str) -> str:
    return text if len(text) <= _PAGE_CHARACTERS else text[:_PAGE_CHARACTERS] + "…"
