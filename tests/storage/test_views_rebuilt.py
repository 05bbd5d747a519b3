"""Read models that were kept up, in whatever bites, are those that a replay gives, and say what the fold says."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stead.domain import events as ev
from stead.domain.sessions import status
from stead.storage.journal import JournalFile, open_journal
from stead.storage.views import Views
from tests.build import START_MS, Story
from tests.storage.drafts import KEYS
from tests.storage.histories import WORDS, History, histories


def _everything(views: Views) -> object:
    """All that a door can see."""
    pages = [views.objectives(kind="objective", limit=500), views.objectives(kind="session", limit=500)]
    assert [cursor for _, cursor in pages] == ["", ""]
    rows = [row for page, _ in pages for row in page]
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


def _require_what_the_fold_says(views: Views, story: Story) -> None:
    session = story.session
    row = views.objective(session.id)
    request = session.open_request or session.open_reading
    reserved = request.reserved.tokens if request else 0
    assert row.status == status(session)
    assert (row.kind == "session", row.turns) == (session.spec.interactive, session.turn)
    assert (row.tokens_used, row.tokens_reserved) == (session.spent.tokens - reserved, reserved)
    assert (row.iterations, row.plan, row.budget) == (session.iterations, session.plan, session.budget)
    asking = [call for call in session.calls.values() if call.step == "asking"]
    assert row.pending_approvals == len(asking) == len(views.approvals(session=session.id))
    assert (row.ended_ms > 0) == (session.end is not None)
    if session.end is not None:
        assert (row.reason, row.summary) == (session.end.reason, session.end.summary)
    steps = views.steps(session.id, limit=500)
    assert {step.key: (step.tool, step.outcome) for step in steps if step.outcome} == _outcomes(story)
    shown = {step.key: (step.tool, step.edited, step.cancelled) for step in steps}
    for call in session.calls.values():
        assert shown[call.key] == (call.tool, bool(call.edited), call.cancelled)


def _outcomes(story: Story) -> dict[str, tuple[str, str]]:
    """By call: which tool, and how it ended, as far as nothing was said against that since."""
    found: dict[str, tuple[str, str]] = {}
    for event in story.events:
        match event.body:
            case ev.ToolFinished(key=key, tool=tool, outcome=outcome):
                found[key] = (tool, outcome)
            case ev.CallRetried(key=key) | ev.CallEdited(key=key):
                found.pop(key, None)
            case _:
                pass
    return found


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
        kept = {id: story for id, story in history.stories.items() if not story.session.deleted}
        assert len(live.objectives()[0]) + len(live.objectives(kind="session")[0]) == len(kept)
        for id, story in kept.items():
            story.session.id = id
            _require_what_the_fold_says(live, story)
        for opened in (live, fresh, journal):
            opened.close()
