"""Who watches a session: told to those who watch it, by the door that they came through, and never for long."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, SessionId
from stead.domain.live import Presence, Progress
from stead.domain.work_rows import Watcher
from stead.runtime.bus import Bus
from stead.web.presence import SHOWN_LIMIT, Seat, Watchers
from tests.build import desk
from tests.web.door import Door, Json, events_of
from tests.web.simulator import Home, SetClock

DESK, OTHER = SessionId(f"s_{1:016x}"), SessionId(f"s_{2:016x}")


@pytest.fixture
async def session(home: Home) -> SessionId:
    """A session to watch."""
    await home.record(DESK, desk("the desk"))
    return DESK


async def until_watched(door: Door, *doors: str) -> None:
    """Wait until exactly these have the session before their eyes, the longest first."""
    async with asyncio.timeout(10), door.cli() as cli:
        while True:
            rows = (await cli.get(f"/api/v1/sessions/{DESK}/watchers")).json()["items"]
            if [row["door"] for row in rows] == list(doors):
                return


async def frames(socket: ClientConnection, kind: str) -> AsyncIterator[Json]:
    """The bodies of one type, as they come."""
    async for text in socket:
        for envelope in json.loads(text):
            if envelope["body"]["type"] == kind:
                yield envelope["body"]


async def test_whoever_watches_hears_who_comes_and_who_leaves(door: Door, session: SessionId) -> None:
    cookie = await door.sign_in()
    async with asyncio.timeout(20), door.socket(f"?streams={session}") as first:
        heard = frames(first, "presence")
        alone = await anext(heard)
        assert (alone["session"], alone["count"]) == (session, 1)
        assert [watcher["door"] for watcher in alone["watchers"]] == ["cli"]
        async with door.socket(f"?streams={session}", cookie=cookie) as second:
            both = await anext(heard)
            assert [watcher["door"] for watcher in both["watchers"]] == ["cli", "web"]
            assert (await anext(frames(second, "presence")))["count"] == 2
            await until_watched(door, "cli", "web")
        assert (await anext(heard))["count"] == 1
        await until_watched(door, "cli")


async def test_a_stream_of_everything_watches_no_session_and_one_that_looks_elsewhere_has_left(
    door: Door, session: SessionId
) -> None:
    async with (
        asyncio.timeout(20),
        door.socket() as everything,
        door.socket(f"?streams={session}&door=terminal") as one,
    ):
        await until_watched(door, "terminal")
        assert [watcher["door"] for watcher in (await anext(frames(everything, "presence")))["watchers"]] == [
            "terminal"
        ]
        await one.send(json.dumps({"type": "subscribe", "streams": [OTHER]}))
        await until_watched(door)
        await one.send(json.dumps({"type": "subscribe", "streams": [OTHER, session]}))
        await until_watched(door, "terminal")


async def test_a_stream_of_everything_says_which_sessions_it_looks_at_and_is_shown_all_the_same(
    door: Door, session: SessionId
) -> None:
    async with asyncio.timeout(20), door.socket("?door=web") as page:
        await page.send(json.dumps({"type": "look", "streams": [session]}))
        told = await anext(frames(page, "presence"))
        assert (told["session"], [watcher["door"] for watcher in told["watchers"]]) == (session, ["web"])
        await page.send(json.dumps({"type": "look", "streams": []}))
        assert (await anext(frames(page, "presence")))["count"] == 0
        await page.send(json.dumps({"type": "look", "streams": ["../x"]}))
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                await page.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4400


async def test_an_event_stream_counts_and_ends_like_a_socket(door: Door, session: SessionId) -> None:
    async with asyncio.timeout(20), door.cli() as cli:
        url = f"/api/v1/events/stream?streams={session}&door=script-1"
        async with cli.stream("GET", url) as response:
            shown = events_of(response.aiter_lines())
            while not any(envelope["body"]["type"] == "presence" for envelope in (await anext(shown))[1]):
                pass
            await until_watched(door, "script-1")
        await until_watched(door)


@pytest.mark.parametrize("name", ["Web", "a b", "-x", "x" * 33, "<b>", "%0a"])
async def test_a_watcher_has_a_name_or_is_refused(door: Door, session: SessionId, name: str) -> None:
    async with door.cli() as cli:
        answer = await cli.get("/api/v1/events/stream", params={"streams": session, "door": name})
        assert answer.status_code == 400
        assert "door=" in answer.json()["error"]["message"]
        assert (await cli.get(f"/api/v1/sessions/{OTHER}/watchers")).status_code == 404


async def test_a_hundred_who_come_back_at_once_are_one_piece_of_news_of_a_bounded_size(clock: SetClock) -> None:
    bus = Bus()
    heard, watchers = bus.subscribe(), Watchers(bus, clock)
    seats = [Seat("web") for _ in range(100)]
    for seat in seats:
        watchers.look(seat, [DESK])
        watchers.look(seat, [])
        watchers.look(seat, [DESK])
    async with asyncio.timeout(10):
        (news,) = await heard.next()
    assert news == Presence(DESK, (Watcher("web", clock.now_ms()),) * SHOWN_LIMIT, 100)
    assert len(watchers.of(DESK)) == 100
    for seat in seats:
        watchers.look(seat, [])
    async with asyncio.timeout(10):
        assert await heard.next() == [Presence(DESK, (), 0)]
    assert watchers.of(DESK) == ()
    watchers.look(seats[0], [DESK])
    watchers.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.3):
            raise AssertionError(f"told after the end: {await heard.next()}")


async def test_progress_is_shown_while_it_goes_on(door: Door, home: Home, session: SessionId) -> None:
    async with asyncio.timeout(20), door.socket(f"?streams={session}&after=1") as socket:
        await anext(frames(socket, "presence"))
        home.show(Progress(DESK, "checkpoint", 3, 9), Progress(OTHER, "checkpoint", 1, 1))
        await home.record(DESK, ev.SessionPaused("tea"))
        seen: list[Json] = []
        async for text in socket:
            seen += json.loads(text)
            if seen[-1]["body"]["type"] == "session.paused":
                break
    (shown,) = [envelope for envelope in seen if envelope["body"]["type"] == "progress"]
    assert shown["body"] == {"type": "progress", "session": DESK, "what": "checkpoint", "done": 3, "total": 9}
    assert (shown["stream"], shown["workspace"], shown["actor"]) == (DESK, DEFAULT_WORKSPACE, "stead")
