"""The questions about memory and directives in the table of routes.

Layer: a door. It must not know what a memory or a directive means; who may see what is decided below. Who comes through
this door is the person, and sees every place.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from stead.domain import memory_ports as ports
from stead.domain.directive_commands import DirectiveText, DirectiveTitle
from stead.domain.directives import Directive, DirectiveId, DirectiveKind, DirectiveVersion, Prompt, Template
from stead.domain.events import Event
from stead.domain.forget_commands import Forget, Needles, Seqs
from stead.domain.forgetting import Preview
from stead.domain.memory import MEMORY, Kind, MemoryId, MemoryRow, Origin, PlaceId, Recalled, RunId, Source, Standing
from stead.domain.memory import Query as Recall
from stead.domain.memory_commands import Memories
from stead.domain.memory_events import ForgetReceipt, MemoryConsolidated, MemoryForgotten
from stead.runtime.directives import DirectiveRoom
from stead.runtime.memory_service import MemoryQueries
from stead.runtime.reverting import Runs
from stead.runtime.starting_points import TEMPLATES
from stead.web.queries import Cursor, Folder, Limit
from stead.web.routes import Content, Context, Field, get, post

Where = Annotated[PlaceId, Meta(pattern=r"^(global|[wc]_[0-9a-f]{16})?$", description='"" for every place.')]
EVERY_PLACE = PlaceId("")
Moment = Annotated[int, Meta(ge=0, le=2**53, description="Milliseconds since 1970; 0 for now.")]
_MemoryCursor = Annotated[
    str,
    Meta(
        pattern=r"^(((global|[wc]_[0-9a-f]{16})-)?[0-9]{1,16}_[0-9]{1,18})?$",
        description="The ``next`` of the page before.",
    ),
]
_OnePlace = Annotated[PlaceId, Meta(pattern=r"^[wc]_[0-9a-f]{16}$")]
_PREVIEW = "What a session or an objective of a folder would be given before all else, part by part."
_SESSION = {"directory": Field(Folder, ""), "attended": Field(bool, True)}
_DAYS = {"place": Field(_OnePlace), "since_ms": Field(Moment), "until_ms": Field(Moment)}
_PAIR = dict.fromkeys(("old", "new"), Field(Annotated[int, Meta(ge=0, le=2**31)]))
_NO_DRAFT = {"draft": None}
_MEMORY, _REPORTS = attrgetter("service.memory"), attrgetter("service.memory.reports")
_REMEMBERED, _INSIGHTS = attrgetter("service.memory.remembered"), attrgetter("service.memory.insights")
_RUNS, _DIRECTIVES = attrgetter("service.memory.runs"), attrgetter("service.directives")


class RunRow(msgspec.Struct, frozen=True):
    """A run of consolidation, and when it ended."""

    ended_ms: int
    run: MemoryConsolidated


class ForgetReceiptRow(msgspec.Struct, frozen=True):
    """A receipt, and when it was signed."""

    ended_ms: int
    receipt: ForgetReceipt


class ForgetReceipts(msgspec.Struct, frozen=True):
    """All receipts, newest first, and the public key (Ed25519, hex) that they are signed with."""

    items: tuple[ForgetReceiptRow, ...]
    public_key: str


class Draft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A directive that is not saved; ``id`` is "" for a new one."""

    kind: DirectiveKind
    title: DirectiveTitle
    text: DirectiveText
    directory: str = ""
    enabled: bool = True
    why: str = ""
    id: str = ""


# -- memory ---------------------------------------------------------------------------------------------------------


def list_memories(
    context: Context,
    place: Where = EVERY_PLACE,
    kind: tuple[Kind, ...] = (),
    status: tuple[Standing, ...] = ("live",),
    origin: tuple[Origin, ...] = (),
    pinned: bool = False,
    words: Annotated[str, Meta(max_length=500)] = "",
    run: Annotated[str, Meta(pattern=r"^(c_[0-9a-f]{16})?$")] = "",
    after: _MemoryCursor = "",
    limit: Limit = 50,
) -> tuple[tuple[MemoryRow, ...], str]:
    """Memories, newest first; the live ones if no status is named."""
    wanted = ports.RowsWanted(place, kind, status, origin, pinned, words, RunId(run), after, limit)
    return context.behind.service.memory.remembered.rows(wanted)


async def preview_recall(
    context: Context,
    query: Annotated[str, Meta(max_length=4000)],
    directory: Folder = "",
    attended: bool = True,
    as_of_ms: Moment = 0,
    known_ms: Moment = 0,
    source: tuple[Source, ...] = (),
    kind: tuple[Kind, ...] = (),
    trusted: bool = True,
    superseded: bool = False,
    nearest: bool = False,
    limit: Annotated[int, Meta(ge=1, le=100)] = 10,
) -> Recalled:
    """What a session in a folder would be given for these words, and why; it does not count as a use.

    With ``nearest``, where no memory matches: those that come nearest by meaning, which no session is given.
    """
    asked = Recall(
        query, limit, as_of_ms, known_ms, source, kind, trusted=trusted, superseded=superseded, nearest=nearest
    )
    return await context.behind.service.memory.preview(asked, directory, attended=attended)


def show_memory_analytics(
    context: Context, place: Where = EVERY_PLACE, days: Annotated[int, Meta(ge=1, le=3660)] = 90
) -> ports.Analytics:
    """How memory grows, what is used, and what share is junk."""
    now_ms = context.behind.clock.now_ms()
    return context.behind.service.memory.insights.analytics(place, now_ms - days * 86_400_000, now_ms)


def export_memories(
    context: Context, format: Literal["jsonl", "markdown"] = "jsonl", place: Where = EVERY_PLACE
) -> Response:
    """What is remembered, as text: lines of JSON that this home can import as they were, or Markdown to be read."""
    lines = context.behind.service.memory.export.lines(format, place, context.behind.clock.now_ms())
    return Response(b"".join(lines), media_type="text/plain; charset=utf-8")


def list_memory_proposals(
    context: Context, status: Literal["waiting", "all"] = "waiting"
) -> tuple[ports.ProposalRow, ...]:
    """What Stead, a file or a model would change and only the person may, newest first."""
    return context.behind.service.memory.reports.proposals(waiting=status == "waiting")


def list_memory_runs(context: Context, limit: Limit = 50) -> tuple[RunRow, ...]:
    """Runs of consolidation, newest first."""
    return tuple(RunRow(*run) for run in context.behind.service.memory.reports.runs(limit))


def list_memory_evidence(context: Context, id: MemoryId) -> tuple[ports.Quote, ...]:
    """The words that it rests on."""
    memory = context.behind.service.memory
    return memory.insights.quotes(memory.remembered.row(id).memory)


def list_forget_receipts(context: Context) -> ForgetReceipts:
    """Proof of everything that was forgotten, newest first, and the key by which it is verified."""
    rows = [
        ForgetReceiptRow(event.ts_ms, event.body.receipt)
        for event in context.behind.journal.events(session=MEMORY)
        if isinstance(event, Event) and isinstance(event.body, MemoryForgotten)
    ]
    return ForgetReceipts(tuple(reversed(rows)), context.behind.service.memory.forgetting.public_key())


async def preview_forgetting(
    context: Context,
    memories: Memories = (),
    events: Seqs = (),
    words: Needles = (),
    match: Literal["exact", "any_case"] = "any_case",
    nearly: str = "",
) -> Preview:
    """What would be forgotten, and where it stands; nothing is done.

    ``nearly``: words that are nearly said, instead of all else; the other fields are those of ``Forget``.
    """
    forgetting = context.behind.service.memory.forgetting
    return await (forgetting.near(nearly) if nearly else forgetting.preview(Forget(memories, events, words, match)))


MEMORY_ROUTES = (
    get("/memories", "list_memories", list_memories),
    get("/memories/recall", "preview_recall", preview_recall),
    get("/memories/loaded", "list_loaded_files", MemoryQueries.loaded, _MEMORY, bounds=_SESSION),
    get("/memories/state", "show_memory_state", MemoryQueries.state, _MEMORY),
    get("/memories/places", "list_memory_places", ports.MemoryReports.places, _REPORTS),
    get("/memories/analytics", "show_memory_analytics", show_memory_analytics),
    get("/memories/journal", "list_memory_journal", ports.MemoryReports.days, _REPORTS, bounds=_DAYS),
    get("/memories/export", "export_memories", export_memories, gives=Content(str, "text/plain")),
    get("/memories/proposals", "list_memory_proposals", list_memory_proposals),
    get("/memories/runs", "list_memory_runs", list_memory_runs),
    get("/memories/runs/{run}/diff", "show_memory_run", Runs.diff, _RUNS),
    get("/memories/receipts", "list_forget_receipts", list_forget_receipts),
    post("/memories/forget/preview", "preview_forgetting", preview_forgetting, "WantedGone"),
    get("/memories/{id:memory}", "show_memory", ports.Remembered.row, _REMEMBERED),
    get("/memories/{id:memory}/evidence", "list_memory_evidence", list_memory_evidence),
    get("/memories/{id:memory}/versions", "list_memory_versions", ports.MemoryInsights.chain, _INSIGHTS),
)


# -- directives -----------------------------------------------------------------------------------------------------


def list_templates(context: Context) -> tuple[Template, ...]:
    """Starting points; brackets in them are for the person to fill in."""
    return TEMPLATES


async def preview_draft(
    context: Context, directory: Folder = "", attended: bool = True, draft: Draft | None = None
) -> Prompt:
    """What a session or an objective of a folder would be given before all else, with a directive that is not saved.

    ``attended``: for an interactive session, else for an objective. ``draft`` is taken for saved.
    """
    wanted = None
    if draft is not None:
        id, order, version = DirectiveId(draft.id), 0, 0
        wanted = Directive(id, draft.kind, draft.title, draft.text, draft.enabled, order, draft.directory, version)
    return await context.behind.service.directives.prompt(directory, interactive=attended, draft=wanted)


async def list_directive_versions(
    context: Context, id: DirectiveId, after: Cursor = "", limit: Annotated[int, Meta(ge=1, le=50)] = 20
) -> tuple[tuple[DirectiveVersion, ...], str]:
    """What it was, newest first, each with its diff to the one before; also of one that was removed."""
    found = await context.behind.service.directives.versions(id, before=int(after or 0), limit=limit)
    oldest = found[-1].directive.version if found else 1
    return found, str(oldest) if oldest > 1 else ""


DIRECTIVE_ROUTES = (
    get(
        "/directives",
        "list_directives",
        DirectiveRoom.rows,
        _DIRECTIVES,
        leads_to="$response.body#/items/0/directive/id",
    ),
    get("/directives/templates", "list_templates", list_templates),
    get("/directives/preview", "preview_prompt", preview_draft, says=_PREVIEW, fixed=_NO_DRAFT),
    post("/directives/preview", "preview_draft", preview_draft, "WantedPrompt"),
    get("/directives/{id:directive}/rules", "list_offered_rules", DirectiveRoom.offers, _DIRECTIVES),
    get("/directives/{id:directive}/versions", "list_directive_versions", list_directive_versions),
    get("/directives/{id:directive}/diff", "compare_directive", DirectiveRoom.difference, _DIRECTIVES, bounds=_PAIR),
)
