"""What leaves as a file for people and other programs: a session as a story, the questions that there were.

Layer: a door. A file that a browser might show is handed out as an attachment and under a policy that lets nothing run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from stead.domain.ids import SessionId
from stead.domain.rows import ApprovalRow
from stead.domain.timeline import Item
from stead.runtime.page import page
from stead.runtime.story import told
from stead.web import backend
from stead.web.errors import Json
from stead.web.routes import Content, Context, get

AnySession = Annotated[str, Meta(pattern=r"^(s_[0-9a-f]{16})?$")]

_PAGE_ITEMS = 500
_MOST_QUESTIONS = 1_000_000
_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
_decode_item: Callable[[bytes], Item] = msgspec.json.Decoder(Item).decode
_ANSWERS = {"pending": "", "given": "allowed", "denied": "denied", "lapsed": "void"}
_WHAT = ("id", "asked", "answered", "answer", "who", "door", "level", "risk", "rule", "reason", "tool", "arguments")
_COLUMNS = (*_WHAT, "digest", "session", "title", "directory")


def export_session(
    context: Context, session: SessionId, format: Literal["markdown", "html", "jsonl"] = "markdown"
) -> Response:
    """The session as a story for people: who said what, which calls with what outcome, what changed.

    ``html`` is one file that stands alone, without scripts and requests; ``jsonl`` has one item of the timeline a line.
    """
    views = context.behind.views
    row = views.objective(session)
    items = _items(views, session)
    match format:
        case "markdown":
            return _file("".join(told(session, items)), "text/markdown", f"{session}.md")
        case "html":
            return _file("".join(page(row.title, told(session, items))), "text/html", f"{session}.html")
        case "jsonl":
            lines = b"".join(msgspec.json.encode(item) + b"\n" for item in items)
            return _file(lines.decode(), "application/jsonl", f"{session}.jsonl")


def export_approvals(context: Context, format: Literal["csv", "json"] = "csv", session: AnySession = "") -> Response:
    """Every question to the person, newest first: what was asked, the answer, who gave it, when, where, its digest.

    In CSV a text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    whose = SessionId(session) if session else None
    rows = context.behind.views.approvals(status="all", session=whose, limit=_MOST_QUESTIONS)
    if format == "json":
        return Json([_record(row) for row in rows])
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    writer.writerows([_cell(value) for value in _record(row).values()] for row in rows)
    return _file(text.getvalue(), "text/csv", "approvals.csv")


def _items(views: backend.Views, session: SessionId) -> Iterator[Item]:
    """Every item of its timeline, in order."""
    items: dict[int, Item] = {}
    after, more = 0, True
    while more:
        found = views.timeline(session, after, _PAGE_ITEMS)
        items |= {item.place: item for item in map(_decode_item, found.items)}
        after, more = found.seq, found.more
    return (items[place] for place in sorted(items))


def _record(row: ApprovalRow) -> dict[str, str]:
    """A question by the names of ``_COLUMNS``; times are UTC, "" for not yet."""
    who = {"given": "person", "denied": "person", "lapsed": "stead", "pending": ""}[row.status]
    answered = {"asked": _at(row.requested_ms), "answered": _at(row.answered_ms), "answer": _ANSWERS[row.status]}
    known = {**msgspec.to_builtins(row), **answered, "who": who}
    return {name: str(known[name]) for name in _COLUMNS}


def _at(ts_ms: int) -> str:
    return datetime.fromtimestamp(ts_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if ts_ms else ""


def _cell(text: str) -> str:
    """A text that no spreadsheet computes (OWASP, "CSV injection")."""
    return f"'{text}" if text.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "content-security-policy": _POLICY}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)


EXPORT_ROUTES = (
    get("/sessions/{session}/export", "export_session", export_session, gives=Content(str, "text/markdown")),
    get("/approvals/export", "export_approvals", export_approvals, gives=Content(Any, "*/*")),
)
