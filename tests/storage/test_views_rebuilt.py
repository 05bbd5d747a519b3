"""Read models that were kept up, in whatever bites, are those that a replay gives, and say what the fold says."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stead.domain.sessions import Session, status
from stead.storage.journal import JournalFile, open_journal
from stead.storage.views import Views
from tests.build import START_MS
from tests.storage.drafts import KEYS
from tests.storage.histories import WORDS, History, histories


def _everything(views: Views) -> object:
    """All that a door can see."""
    rows, cursor = views.objectives(limit=500)
    assert cursor == ""
    return (
        rows,
        [views.steps(row.id, limit=500) for row in rows],
        views.approvals(status="all", limit=500),
        views.approvals(limit=500),
        views.open_runs(),
        views.usage(10_000),
        [views.search(word, 500) for word in (*WORDS, "canonical", "null", "ot")],
    )


async def _play(history: History, journal: JournalFile, views: Views, bites: list[int]) -> None:
    """Give the drafts to the journal, look at the views every so often, and erase what was deleted."""
    left = list(history.drafts)
    for bite in bites:
        await journal.append(left[:bite])
        left = left[bite:]
        views.catch_up()
    await journal.append(left)
    for id, story in history.stories.items():
        if story.session.deleted:
            await journal.erase(id)


def _require_what_the_fold_says(views: Views, session: Session) -> None:
    row = views.objective(session.id)
    request = session.open_request or session.open_reading
    reserved = request.reserved.tokens if request else 0
    assert row.status == status(session)
    assert (row.tokens_used, row.tokens_reserved) == (session.spent.tokens - reserved, reserved)
    assert (row.iterations, row.plan, row.budget) == (session.iterations, session.plan, session.budget)
    asking = [call for call in session.calls.values() if call.step == "asking"]
    assert row.pending_approvals == len(asking) == len(views.approvals(session=session.id))
    assert (row.ended_ms > 0) == (session.end is not None)
    if session.end is not None:
        assert (row.reason, row.summary) == (session.end.reason, session.end.summary)
    done = [step for step in views.steps(session.id, limit=500) if step.outcome]
    assert [(step.tool, step.outcome) for step in done] == [(act.tool, act.outcome) for act in session.actions]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories(), bites=st.lists(st.integers(0, 12), max_size=6))
def test_live_views_equal_rebuilt_ones_and_the_fold(history: History, bites: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(Path(folder) / "journal.db", KEYS)

        def views(name: str) -> Views:
            return Views(Path(folder) / name, KEYS, journal, now_ms=lambda: START_MS)

        live = views("live.db")
        asyncio.run(_play(history, journal, live, bites))
        seen = _everything(live)
        assert live.rebuild() == len(history.drafts)
        assert _everything(live) == seen
        fresh = views("fresh.db")
        assert _everything(fresh) == seen
        kept = [story.session for story in history.stories.values() if not story.session.deleted]
        assert len(live.objectives()[0]) == len(kept)
        for session in kept:
            session.id = next(id for id, story in history.stories.items() if story.session is session)
            _require_what_the_fold_says(live, session)
        for opened in (live, fresh, journal):
            opened.close()
