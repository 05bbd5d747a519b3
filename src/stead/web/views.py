"""Everything that is read: GET, from the read models and the journal.

Layer: a door. It must not know how a row came about. Read models block, so they are called in threads; the live streams
are not here but in ``live.py``.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from stead.domain.events import Budget, CapSet, Event
from stead.domain.ids import HOME, SessionId
from stead.domain.ports import Journal
from stead.domain.rows import ApprovalRow, Kind, ObjectiveRow, ObjectiveStatus, OpenRunRow, SearchRow, StepRow, UsageRow
from stead.runtime.service import ProviderRow, Readiness
from stead.web.backend import Backend, PresetRow
from stead.web.commands import Approval, Behind, DailyCap, ModelChain, Nothing, Session
from stead.web.envelopes import ControlEnvelope, Envelope, TransientEnvelope, encode_event
from stead.web.errors import Json
from stead.web.live import SEQ_MAX, Streams, parse_streams
from stead.web.openapi import array_of, body_of, operation
from stead.web.watch import read

router = APIRouter(generate_unique_id_function=lambda route: route.name)

Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str, Query(pattern=r"^[0-9]{0,18}$", description="The ``next`` of the page before.")]
Place = Annotated[int, Query(ge=0, le=SEQ_MAX)]
StreamNames = Annotated[
    str, Query(max_length=7000, pattern=r"^([a-z0-9_]{1,64}(,[a-z0-9_]{1,64}){0,99})?$", description="Empty for all.")
]
DoorName = Annotated[
    str,
    Query(pattern=r"^([a-z][a-z0-9-]{0,31})?$", description="What the watcher calls itself to those who watch too."),
]
_Row = TypeVar("_Row")
_OF_APPROVAL = dict.fromkeys(("show_approval", "decide"), "approval=$response.body#/items/0/id")
_ENVELOPES = array_of(Envelope, TransientEnvelope, ControlEnvelope)


class Page(msgspec.Struct, Generic[_Row], frozen=True):
    """Rows, and the cursor (``after``) of the page that follows, "" when there is none."""

    items: tuple[_Row, ...]
    next: str = ""


class EventPage(msgspec.Struct, frozen=True):
    """Envelopes in order, and the journal's head when they were read. None means nothing more up to that head."""

    items: tuple[Envelope, ...]
    head: int


@router.get("/objectives", **operation(Page[ObjectiveRow]))
async def list_objectives(
    behind: Behind, status: ObjectiveStatus | Literal[""] = "", after: Cursor = "", limit: Limit = 50
) -> Response:
    """Objectives, newest first."""
    return await list_kind(behind, "objective", status, after, limit)


async def list_kind(
    behind: Backend, kind: Kind, status: ObjectiveStatus | Literal[""], after: str, limit: int
) -> Response:
    """A page of objectives, or of sessions that people work in."""
    rows, next_cursor = await asyncio.to_thread(
        behind.views.objectives, kind=kind, status=status, after=after, limit=limit
    )
    return Json(Page(tuple(rows), next_cursor))


@router.get("/objectives/{session}", **operation(ObjectiveRow))
async def show_objective(session: Session, behind: Behind) -> Response:
    """One objective."""
    return Json(await asyncio.to_thread(behind.views.objective, session))


@router.get("/objectives/{session}/steps", **operation(Page[StepRow]))
async def list_steps(session: Session, behind: Behind, after: Place = 0, limit: Limit = 50) -> Response:
    """Its steps past an index, in order."""
    rows = await asyncio.to_thread(behind.views.steps, session, after, limit)
    return Json(Page(tuple(rows), str(rows[-1].index) if len(rows) == limit else ""))


@router.get("/approvals", **operation(Page[ApprovalRow], leads_to=_OF_APPROVAL))
async def list_approvals(
    behind: Behind,
    status: Literal["pending", "all"] = "pending",
    session: Annotated[str, Query(pattern=r"^(s_[0-9a-f]{16})?$")] = "",
    limit: Limit = 50,
) -> Response:
    """Questions to the person, newest first."""
    whose = SessionId(session) if session else None
    return Json(Page(tuple(await asyncio.to_thread(behind.views.approvals, status=status, session=whose, limit=limit))))


@router.get("/approvals/{approval}", **operation(ApprovalRow))
async def show_approval(approval: Approval, behind: Behind) -> Response:
    """One question, with everything needed to answer it."""
    return Json(await asyncio.to_thread(behind.views.approval, approval))


@router.get("/providers", **operation(Page[ProviderRow]))
async def list_providers(behind: Behind) -> Response:
    """Configured providers, then those that were found."""
    return Json(Page(await behind.service.providers()))


@router.get("/providers/presets", **operation(Page[PresetRow]))
async def list_presets(behind: Behind) -> Response:
    """Providers that can be set up by name."""
    return Json(Page(behind.presets))


@router.get("/chain", **operation(ModelChain))
async def show_chain(behind: Behind) -> Response:
    """The models that new objectives use."""
    return Json(ModelChain((await behind.service.readiness()).chain))


@router.get("/cap", **operation(DailyCap))
async def show_cap(behind: Behind) -> Response:
    """What the whole home may spend in a day."""
    return Json(DailyCap(await asyncio.to_thread(_cap, behind.journal)))


@router.get("/usage", **operation(Page[UsageRow]))
async def list_usage(behind: Behind, days: Annotated[int, Query(ge=1, le=3660)] = 30) -> Response:
    """What each model used on each day."""
    return Json(Page(tuple(await asyncio.to_thread(behind.views.usage, days))))


@router.get("/search", **operation(Page[SearchRow]))
async def search(behind: Behind, q: Annotated[str, Query(min_length=1, max_length=500)], limit: Limit = 50) -> Response:
    """Where the history says it."""
    return Json(Page(tuple(await asyncio.to_thread(behind.views.search, q, limit))))


@router.get("/open-runs", **operation(Page[OpenRunRow]))
async def list_open_runs(behind: Behind) -> Response:
    """What is under way."""
    return Json(Page(tuple(await asyncio.to_thread(behind.views.open_runs))))


@router.get("/events", **operation(EventPage))
async def list_events(behind: Behind, after: Place = 0, streams: StreamNames = "", limit: Limit = 500) -> Response:
    """What happened, from the journal."""
    names = parse_streams(streams)

    def render() -> bytes:
        events, head = read(behind.journal, after, names, limit)
        return b'{"items":[%b],"head":%d}' % (b",".join(map(encode_event, events)), head)

    return Json(await asyncio.to_thread(render))


@router.get("/events/stream", **operation(_ENVELOPES, media_type="text/event-stream"))
async def watch_events(request: Request, after: Place = 0, streams: StreamNames = "", door: DoorName = "") -> Response:
    """What happens, as server-sent events: ``id`` is the place to go on from (``Last-Event-ID``), ``data`` an array."""
    live: Streams = request.app.state.streams
    return await live.events(request)


@router.post("/status/check", **operation(Readiness, takes=Nothing))
async def look_again(body: Annotated[Nothing, body_of(Nothing)], behind: Behind) -> Response:
    """Find out anew what this computer offers, a sandbox and model servers, and say how things stand then."""
    await behind.service.conditions.look_again()
    return Json(await behind.service.readiness())


@router.get("/status", **operation(Readiness))
async def show_status(behind: Behind) -> Response:
    """Whether Stead can do its work."""
    return Json(await behind.service.readiness())


def _cap(journal: Journal) -> Budget:
    cap = Budget("unlimited", "unlimited")
    for event in journal.events(session=HOME):
        if isinstance(event, Event) and isinstance(event.body, CapSet):
            cap = event.body.daily
    return cap
