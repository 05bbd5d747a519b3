"""What a request could slip past the table of routes: misplaced fields, ids that are none, odd queries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import product
from typing import Any

import pytest

from stead.domain.ids import SessionId
from tests.web.door import Door, open_door
from tests.web.simulator import Home, SetClock


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    async with open_door(Home(SetClock())) as opened:
        yield opened


async def give(door: Door) -> SessionId:
    async with door.cli() as cli:
        answer = await door.post(cli, "/objectives", {"goal": "read", "directory": "/"})
    assert answer.status_code == 201
    return SessionId(answer.json()["session"])


BODIES: Sequence[tuple[str, Any]] = (
    ("/objectives/{mine}/stop", {"session": "*"}),
    ("/objectives/{mine}/stop", {"session": "{other}", "why": ""}),
    ("/objectives/{mine}/messages", {"text": "now", "interrupt": True}),
    ("/objectives/{mine}/pause", {"type": "session.stop"}),
    ("/stop", {"session": "s_0000000000000001"}),
    ("/directives", {"kind": "soul", "title": "a", "text": "b", "id": "d_0000000000000001", "version": 1}),
    ("/sessions/{mine}/plan", {"steps": [{"title": "a", "by": "person"}]}),
    ("/sessions/{mine}/budget", {"budget": {"tokens": 1, "usd_micros": 1}}),
)


async def test_a_body_names_no_field_that_the_path_or_the_row_decides(door: Door) -> None:
    mine, other = await give(door), await give(door)
    before = door.home.journal.head()
    async with door.cli() as cli:
        for path, told in BODIES:
            body = {name: other if value == "{other}" else value for name, value in told.items()}
            if path.endswith("/plan"):
                headers = {"Idempotency-Key": door.key()}
                answer = await cli.put(f"/api/v1{path.format(mine=mine)}", json=body, headers=headers)
            else:
                answer = await door.post(cli, path.format(mine=mine), body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid"), (path, body, answer.text)
    assert door.home.journal.head() == before


PATHS = (
    "/objectives/{session}",
    "/objectives/%7Bsession%7D",
    "/objectives/*",
    "/objectives/home",
    "/objectives/{mine}%0a",
    "/objectives/{mine}%00",
    "/objectives/{mine};x=1",
    "/objectives/{mine}/steps/",
    "/objectives//steps",
    "/audit/decisions/0",
    "/audit/decisions/-1",
    "/audit/decisions/1.0",
    "/audit/decisions/9223372036854775807",
    "/audit/decisions/99999999999999999999999",
    "/audit/decisions/%D9%A1",
    "/openapi_json",
    "/memories/m_000000000000000g",
    "/rules/%72_0000000",
)


async def test_a_path_with_an_id_that_cannot_be_leads_nowhere(door: Door) -> None:
    mine = await give(door)
    async with door.cli() as cli:
        for method, path in product(("GET", "POST", "DELETE"), PATHS):
            sent = f"/api/v1{path.replace('{mine}', mine)}"
            answer = await cli.request(method, sent, headers={"Idempotency-Key": door.key()})
            assert answer.status_code in (404, 405), (method, path, answer.text)
            assert answer.json()["error"]["message"]


QUERIES = (
    ("/objectives", "limit=0", 400),
    ("/objectives", "limit=501", 400),
    ("/objectives", "limit=", 400),
    ("/objectives", "limit=null", 400),
    ("/objectives", "limit=9999999999999999999999", 400),
    ("/objectives", "status=nothing", 400),
    ("/objectives", "after=-1", 400),
    ("/objectives", "after=1%20or%201", 400),
    ("/approvals", "session=home", 400),
    ("/approvals", "session=s_0000000000000001%0a", 200),
    ("/events", "after=9223372036854775808", 400),
    ("/events", "streams=..%2f..", 400),
    ("/search", "q=", 400),
    ("/search", f"q={'x' * 501}", 400),
    ("/search", "", 400),
    ("/usage", "days=0", 400),
    ("/folders", "path=relative", 400),
    ("/objectives", "limit=1&limit=2", 200),
    ("/objectives", "unknown=1", 200),
)


async def test_a_query_is_held_to_its_bounds(door: Door) -> None:
    await give(door)
    await give(door)
    async with door.cli() as cli:
        for path, query, status in QUERIES:
            answer = await cli.get(f"/api/v1{path}?{query}")
            assert answer.status_code == status, (path, query, answer.text)
            if query.startswith("limit=1&"):
                assert len(answer.json()["items"]) == 2, "the last of several counts"


async def test_a_query_does_not_choose_what_the_row_has_chosen(door: Door) -> None:
    mine = await give(door)
    async with door.cli() as cli:
        for query in ("kind=objective", "session=x", "kind=objective&kind=session"):
            assert (await cli.get(f"/api/v1/sessions?{query}")).json()["items"] == []
        (row,) = (await cli.get("/api/v1/objectives?kind=session")).json()["items"]
    assert row["id"] == mine
