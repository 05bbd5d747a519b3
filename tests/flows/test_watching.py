"""Several watch one session of a running daemon; the API by itself."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2

from stead.domain.ends import WELL
from tests.flows.house import LivingHome
from tests.flows.watching import Watcher
from tests.promises import promise

GOAL = "read README.md and write SUMMARY.md with its headings"


@promise("SES-5.watchers", "SES-5.reconnect", "API-1.stream")
async def test_all_who_watch_see_the_same_and_one_that_reconnects_misses_nothing(
    house: LivingHome, project: Path
) -> None:
    session = await asyncio.to_thread(house.give, GOAL, project)
    watchers = [
        Watcher(house, session, transport, cuts=cuts, last=("objective.ended", 1))
        for transport in ("ws", "sse")
        for cuts in (0, 7)
    ]
    watching = asyncio.gather(*(watcher.until_the_end() for watcher in watchers))
    row = await asyncio.to_thread(house.finish, session)
    await watching
    assert row["status"] in WELL
    recorded = await asyncio.to_thread(house.events, session)
    ended = next(place for place, event in enumerate(recorded) if event["body"]["type"] == "objective.ended")
    for watcher in watchers:
        assert watcher.seen == recorded[: ended + 1]


@promise("API-1.rest")
def test_a_program_finds_its_way_by_the_document_alone(house: LivingHome, project: Path) -> None:
    address = json.loads(house.home.address.read_text("utf-8"))
    bearer = {"Authorization": f"Bearer {address['bearer']}"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{address['port']}", headers=bearer, trust_env=False) as client:
        document = client.get("/api/v1/openapi.json").json()
        base = document["servers"][0]["url"]
        reads = [path for path, methods in document["paths"].items() if "get" in methods and "{" not in path]
        signed = client.post(f"{base}/audit/head", headers={"Idempotency-Key": "sign-a-head-1"})
        assert signed.status_code == 200, "without one there is none to read"
        for path in reads:
            if path not in ("/events/stream", "/search", "/memories/recall", "/memories/journal"):
                assert client.get(base + path).status_code == 200, path
        assert client.get(f"{base}/search", params={"q": "nothing"}).json()["items"] == []
        body = {"goal": GOAL, "directory": str(project)}
        given = client.post(f"{base}/objectives", json=body, headers={"Idempotency-Key": "by-the-document"})
        again = client.post(f"{base}/objectives", json=body, headers={"Idempotency-Key": "by-the-document"})
        assert (given.status_code, again.text) == (201, given.text)
        wrong = client.post(f"{base}/objectives", json={**body, "goall": 1}, headers={"Idempotency-Key": "misspelt-1"})
        assert wrong.status_code == 400
        assert "goall" in wrong.json()["error"]["message"]
    row = house.finish(given.json()["session"])
    assert row["status"] in WELL
