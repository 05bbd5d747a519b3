"""The live streams over the wire: nothing lost, doubled or out of order, whatever breaks on the way."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from stead.domain.events import Draft, Event, ModelFailed, NoticeGiven, SessionDeleted, Spend
from stead.domain.ids import HOME, CallKey, CommandId, RequestNo, SessionId
from stead.domain.live import OutputDelta, TextDelta
from stead.runtime.bus import REPLY_LIMIT
from stead.web.backend import Pace
from stead.web.live import BAD_MESSAGE, SIGNED_OUT, TOO_SLOW
from stead.web.pages import Pages
from tests.web.door import BEARER, DEADLINE_S, Door, Json, events_of, open_door
from tests.web.simulator import Home, MemoryJournal
from tests.web.test_commands import give

EVENTS = 5000
DROPS = 8
LATE = SessionId("s_00000000000000ff")


class Watcher:
    """Sees a stream over one transport, is cut off again and again, and goes on where it was."""

    def __init__(self, door: Door, drops: int, streams: str = "") -> None:
        self.door = door
        self.seen: list[int] = []
        self.connections = 0
        self._streams = streams
        rng = random.Random(f"{drops} {streams}")
        self._cuts = sorted(rng.sample(range(50, EVENTS - 50), drops))

    @property
    def after(self) -> int:
        return self.seen[-1] if self.seen else 0

    async def over(self, transport: str, last: int) -> None:
        """Watch until the event ``last``."""
        while self.after < last:
            self.connections += 1
            stream = self._frames_ws() if transport == "ws" else self._frames_sse()
            async with contextlib.aclosing(stream):
                async for frame in stream:
                    self.seen += [envelope["seq"] for envelope in frame if "seq" in envelope]
                    if self.after >= last or (self._cuts and self.after >= self._cuts[0]):
                        break
            self._cuts = self._cuts[1:]  # one that was passed in the same frame cuts off the next connection at once

    async def _frames_ws(self) -> AsyncGenerator[list[Json]]:
        async with self.door.socket(f"?after={self.after}&streams={self._streams}") as watching:
            try:
                async for text in watching:
                    yield json.loads(text)
            finally:
                if self.connections % 2:
                    watching.transport.abort()  # the network is gone, without a goodbye

    async def _frames_sse(self) -> AsyncGenerator[list[Json]]:
        url = f"/api/v1/events/stream?after=0&streams={self._streams}"
        async with (
            self.door.cli(**{"Last-Event-ID": str(self.after)}) as cli,
            cli.stream("GET", url) as response,
        ):
            assert response.status_code == 200
            async for _, frame in events_of(response.aiter_lines()):
                yield frame


async def write(home: Home, count: int, sessions: tuple[SessionId, ...] = (HOME,)) -> None:
    """Events by several writers at once, in bursts, with transients between."""

    async def writer(session: SessionId, share: int) -> None:
        written = 0
        while written < share:
            burst = min(share - written, 1 + (written * 7) % 13)
            await home.record(session, *(notice(written + index) for index in range(burst)))
            home.show(TextDelta(session, RequestNo(1), written, "…"))
            written += burst
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for place, session in enumerate(sessions):
            share = count // len(sessions) + (place < count % len(sessions))
            group.create_task(writer(session, share))


def notice(number: int) -> NoticeGiven:
    return NoticeGiven(f"notice {number}", "steer")


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_watcher_that_is_dropped_again_and_again_sees_every_event_once_in_order(
    home: Home, transport: str
) -> None:
    async with open_door(home) as door, asyncio.timeout(60):
        watchers = [Watcher(door, DROPS) for _ in range(3)]
        sessions = (SessionId("s_0000000000000001"), SessionId("s_0000000000000002"), HOME)
        await asyncio.gather(write(home, EVENTS, sessions), *(watcher.over(transport, EVENTS) for watcher in watchers))
    for watcher in watchers:
        assert watcher.seen == list(range(1, EVENTS + 1))
        assert watcher.connections == DROPS + 1


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_watcher_of_two_streams_sees_all_of_them_and_nothing_else(home: Home, transport: str) -> None:
    one, two = SessionId("s_0000000000000001"), SessionId("s_0000000000000002")
    async with open_door(home) as door, asyncio.timeout(60):
        watcher = Watcher(door, DROPS, f"{one},{two}")
        await write(home, EVENTS - 1, (one, two, HOME))
        await home.record(one, notice(0))
        await watcher.over(transport, EVENTS)
    wanted = [event.seq for event in home.journal.events() if event.session in (one, two)]
    assert watcher.seen == wanted
    assert watcher.connections == DROPS + 1


async def test_twelve_tabs_watch_at_once(home: Home) -> None:
    async with open_door(home) as door, asyncio.timeout(60):
        watchers = [Watcher(door, 0) for _ in range(12)]
        await asyncio.gather(write(home, 2000), *(watcher.over("ws", 2000) for watcher in watchers))
    assert all(watcher.seen == list(range(1, 2001)) for watcher in watchers)


async def test_events_published_out_of_order_or_twice_are_shown_once_in_order(home: Home) -> None:
    async with open_door(home) as door, asyncio.timeout(DEADLINE_S), door.socket() as watching:
        seen = await listening(home, watching)
        held: list[Event] = []
        for places in ((0,), (2,), (1, 3), (3, 4, 0, 2), (5, 0, 6), (7, 6), (7,)):
            while len(held) <= max(places):
                held += await home.record(HOME, notice(len(held)), published=False)
            home.bus.publish([held[place] for place in places])
            seen += await listening(home, watching)
    assert seen == list(range(1, 9))


class LateJournal(MemoryJournal):
    """A journal in which something always happens right after somebody asked how long it is."""

    def __init__(self, late: int) -> None:
        super().__init__()
        self.late = late

    def head(self) -> int:
        head = super().head()
        if self.late:
            self.late -= 1
            place = sum(1 for _ in self.events(session=LATE)) + 1
            self.write([Draft(LATE, place, 0, "stead", CommandId(""), notice(place))])
        return head


@pytest.mark.parametrize("streams", ["", f"home,{LATE}"])
async def test_what_happens_while_the_journal_is_read_is_neither_lost_nor_doubled(home: Home, streams: str) -> None:
    home.journal = LateJournal(40)
    async with open_door(home) as door, asyncio.timeout(DEADLINE_S), door.socket(f"?streams={streams}") as watching:
        seen: list[int] = []
        while home.journal.late or len(seen) < home.journal.head():
            await home.record(HOME, notice(0))
            seen += await take(watching, 1)
    assert seen == list(range(1, len(seen) + 1))


async def test_a_burst_larger_than_the_queue_is_read_from_the_journal(home: Home) -> None:
    async with open_door(home) as door, asyncio.timeout(DEADLINE_S), door.socket() as watching:
        await watching.recv()
        await home.record(HOME, *(notice(number) for number in range(3500)))
        assert await take(watching, 3500) == list(range(1, 3501))


async def test_frames_gather_what_comes_at_once_and_stay_small(home: Home) -> None:
    async with open_door(home) as door, asyncio.timeout(DEADLINE_S), door.socket() as watching:
        await watching.recv()
        await home.record(HOME, *(notice(number) for number in range(250)))
        sizes: list[int] = []
        while sum(sizes) < 250:
            sizes.append(len(json.loads(await watching.recv())))
        assert sizes == [100, 100, 50]
        await home.record(HOME, *(NoticeGiven("x" * 200_000, "steer") for _ in range(4)))
        assert len(json.loads(await watching.recv())) == 2


async def test_the_first_frame_says_who_speaks_and_where_the_journal_stands(home: Home, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_bytes(b"<!doctype html>")
    await home.record(HOME, notice(1), notice(2))
    hello = {
        "v": 1,
        "body": {
            "type": "hello",
            "server_id": "server-1",
            "epoch": "epoch-1",
            "head_seq": 2,
            "oldest_seq": 1,
            "build": f"test+{Pages(tmp_path).build()}",
        },
    }
    async with (
        asyncio.timeout(DEADLINE_S),
        open_door(home, page=tmp_path) as door,
        door.socket("?after=2") as watching,
        door.cli() as cli,
    ):
        assert json.loads(await watching.recv()) == [hello]
        async with cli.stream("GET", "/api/v1/events/stream?after=2") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            assert await anext(events_of(response.aiter_lines())) == (None, [hello])


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_watcher_that_is_ahead_of_the_journal_is_told_to_read_anew(door: Door, transport: str) -> None:
    await door.home.record(HOME, notice(1))
    reset = {"v": 1, "body": {"type": "reset", "why": "ahead", "head_seq": 1}}
    async with asyncio.timeout(DEADLINE_S), door.cli() as cli, door.socket("?after=900") as watching:
        if transport == "ws":
            assert json.loads(await watching.recv())[1] == reset
            await door.home.record(HOME, notice(2))
            assert [envelope["seq"] for envelope in json.loads(await watching.recv())] == [2]
        else:
            async with cli.stream("GET", "/api/v1/events/stream", headers={"Last-Event-ID": "900"}) as response:
                messages = events_of(response.aiter_lines())
                place, frame = await anext(messages)
                assert (place, frame[1]) == (1, reset)
                await door.home.record(HOME, notice(2))
                place, frame = await anext(messages)
                assert (place, frame[0]["seq"]) == (2, 2)


async def test_envelopes_carry_what_the_page_endpoint_carries(door: Door) -> None:
    session = await give(door, "compare")
    async with asyncio.timeout(DEADLINE_S), door.socket() as watching, door.cli() as cli:
        await watching.recv()
        (shown,) = json.loads(await watching.recv())
        page = (await cli.get("/api/v1/events")).json()
    assert page == {"items": [shown], "head": 1}
    assert (shown["v"], shown["seq"], shown["stream"], shown["workspace"]) == (1, 1, session, "default")
    assert shown["cause"].startswith("key-")
    assert shown["body"]["type"] == "session.opened"


async def test_transients_are_shown_without_a_place(door: Door) -> None:
    session = SessionId("s_0000000000000001")
    async with asyncio.timeout(DEADLINE_S), door.socket(f"?streams={session}") as watching:
        await watching.recv()
        door.home.show(
            TextDelta(SessionId("s_0000000000000002"), RequestNo(1), 0, "of another"),
            TextDelta(session, RequestNo(1), 0, "Rea"),
            OutputDelta(session, CallKey("call_1_0"), 0, "total 4\n"),
        )
        shown: dict[str, Json] = {}
        while len(shown) < 2:
            shown |= {envelope["body"]["type"]: envelope for envelope in json.loads(await watching.recv())}
    text, output = shown["text.delta"], shown["output.delta"]
    assert text["body"] == {"type": "text.delta", "session": session, "number": 1, "offset": 0, "text": "Rea"}
    assert (text["actor"], output["actor"], output["body"]["type"]) == ("model", "stead", "output.delta")
    assert "seq" not in text
    assert "cause" not in text


async def test_what_was_said_before_an_event_that_was_read_already_is_not_shown_after_it(home: Home) -> None:
    async with open_door(home) as door, asyncio.timeout(DEADLINE_S), door.socket() as watching:
        await watching.recv()
        late = await home.record(HOME, notice(1), published=False)
        # A gap makes the watcher read the journal, which has both; the queue then still holds the first and what
        # was said before it.
        home.bus.publish(await home.record(HOME, notice(2), published=False))
        assert await take(watching, 2) == [1, 2]
        home.bus.publish([TextDelta(HOME, RequestNo(1), 0, "stale"), *late, TextDelta(HOME, RequestNo(2), 0, "fresh")])
        (shown,) = json.loads(await watching.recv())
    assert shown["body"]["text"] == "fresh"


async def written(watching: ClientConnection, session: SessionId) -> Json:
    """The next piece of a session's reply that the watcher is sent."""
    while True:
        for envelope in json.loads(await watching.recv()):
            if envelope["body"]["type"] == "text.delta" and envelope["stream"] == session:
                body: Json = envelope["body"]
                return body


def model_failed(number: int) -> ModelFailed:
    return ModelFailed(RequestNo(number), "stopped", "", (), Spend(), 0)


@pytest.mark.parametrize("how", ["looks", "names it", "comes back"])
async def test_whoever_looks_at_a_session_is_sent_the_whole_of_the_reply_under_way(door: Door, how: str) -> None:
    home, session = door.home, SessionId("s_0000000000000001")
    home.show(TextDelta(session, RequestNo(1), 0, "an older one"))
    await home.record(session, model_failed(1))
    for offset, text in ((0, "```py\n"), (6, "def wait"), (14, "():\n")):
        home.show(TextDelta(session, RequestNo(2), offset, text))
    query = {"looks": "?after=1", "names it": f"?streams={session}", "comes back": f"?after=1&streams={session}"}[how]
    async with asyncio.timeout(DEADLINE_S), door.socket(query) as watching:
        if how == "looks":
            await listening(home, watching)  # it has read the journal, and waits
            await watching.send(json.dumps({"type": "look", "streams": [session]}))
        body = await written(watching, session)
        assert (body["number"], body["offset"], body["text"]) == (2, 0, "```py\ndef wait():\n")
        home.show(TextDelta(session, RequestNo(2), 18, "    pass"))
        assert (await written(watching, session))["text"] == "    pass", "and once only"


async def test_pieces_that_a_slow_watcher_lost_are_made_up_for_by_the_whole(home: Home) -> None:
    session = SessionId("s_0000000000000001")
    async with open_door(home) as door, asyncio.timeout(DEADLINE_S), door.socket(f"?streams={session}") as watching:
        await listening(home, watching, session)
        pieces = [TextDelta(session, RequestNo(1), at, "a") for at in range(1500)]
        home.show(*pieces)  # more than its queue holds
        await home.record(session, *(notice(number) for number in range(1001)))
        whole = ""
        while len(whole) < 1500:
            body = await written(watching, session)
            whole = body["text"] if body["offset"] == 0 else whole
    assert whole == "a" * 1500


async def test_a_reply_that_is_over_or_endless_is_not_kept(home: Home) -> None:
    session = SessionId("s_0000000000000001")
    half = "a" * (REPLY_LIMIT // 2 + 1)
    for at in range(4):
        home.show(TextDelta(session, RequestNo(1), at * len(half), half))
    kept = home.bus.reply_of(session)
    assert kept is not None
    assert kept.text == half * 2, "its beginning, up to the limit"
    await home.record(session, model_failed(1))
    assert home.bus.reply_of(session) is None


async def test_a_socket_says_that_it_lives_for_as_long_as_the_daemon_does(home: Home) -> None:
    pace = Pace(beat_s=0.05)
    async with open_door(home, pace) as door, asyncio.timeout(DEADLINE_S), door.socket() as watching:
        await watching.recv()
        assert [await watching.recv() for _ in range(3)] == ["[]", "[]", "[]"]


async def test_an_erased_event_keeps_its_place(door: Door) -> None:
    session = await give(door, "a secret goal")
    await door.home.record(session, SessionDeleted())
    await door.home.journal.erase(session)
    async with door.cli() as cli:
        page = (await cli.get(f"/api/v1/events?streams={session}")).json()
    assert page["items"][0]["body"] == {"type": "erased", "was": "session.opened"}
    assert page["items"][1]["body"]["type"] == "session.deleted"
    assert "secret goal" not in json.dumps(page)


async def test_events_are_read_in_pages(door: Door) -> None:
    one, two = SessionId("s_0000000000000001"), SessionId("s_0000000000000002")
    await write(door.home, 30, (one, two))
    seen: list[int] = []
    async with door.cli() as cli:
        while True:
            page = (await cli.get(f"/api/v1/events?after={seen[-1] if seen else 0}&limit=7&streams={two}")).json()
            if not page["items"]:
                break
            assert len(page["items"]) <= 7
            assert {item["stream"] for item in page["items"]} == {two}
            seen += [item["seq"] for item in page["items"]]
        assert page["head"] == 30
    assert seen == [event.seq for event in door.home.journal.events(session=two)]


@pytest.mark.parametrize(
    "query",
    ["after=-1", "after=x", "after=99999999999999999999", "after=²", "streams=A", "streams=a,,b", "streams=../x"],
)
async def test_a_place_or_a_stream_that_cannot_be_is_refused(door: Door, query: str) -> None:
    async with door.cli() as cli:
        for path in ("/api/v1/events/stream", "/api/v1/events"):
            answer = await cli.get(f"{path}?{query}")
            assert answer.status_code == 400, path
            assert answer.json()["error"]["code"] == "invalid"
    with pytest.raises(InvalidStatus) as refused:
        async with door.socket(f"?{query}"):
            pass
    assert refused.value.response.status_code == 400


async def test_a_watcher_may_choose_other_streams_and_acknowledge(door: Door) -> None:
    one, two = SessionId("s_0000000000000001"), SessionId("s_0000000000000002")
    async with asyncio.timeout(DEADLINE_S), door.socket(f"?streams={one}") as watching:
        await watching.recv()
        await watching.send(json.dumps({"type": "ack", "seq": 1}))
        await watching.send(json.dumps({"type": "subscribe", "streams": [two]}))
        chosen: list[int] = []
        while not chosen:
            await door.home.record(two, notice(0))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    chosen = await take(watching, 1)
        await door.home.record(one, notice(1))
        (last,) = await door.home.record(two, notice(2))
        while chosen[-1] < last.seq:
            chosen += await take(watching, 1)
    assert {event.session for event in door.home.journal.events() if event.seq in chosen} == {two}


@pytest.mark.parametrize(
    "message",
    [
        '{"type":"subscribe","streams":["../x"]}',
        '{"type":"approve","id":"a_1"}',
        "{",
        "",
        '{"type":"ack","seq":1,"x":1}',
    ],
)
async def test_a_socket_takes_no_commands(door: Door, message: str) -> None:
    async with asyncio.timeout(DEADLINE_S), door.socket() as watching:
        await watching.recv()
        await watching.send(message)
        assert await closed(watching) == BAD_MESSAGE
    assert door.home.doors == []


async def test_a_message_that_is_too_long_ends_the_socket(door: Door) -> None:
    async with asyncio.timeout(DEADLINE_S), door.socket() as watching:
        await watching.recv()
        await watching.send("x" * 100_000)
        assert await closed(watching) == 1009


async def test_signing_out_ends_the_browsers_streams(home: Home) -> None:
    async with open_door(home, Pace(ping_s=0.05)) as door, asyncio.timeout(DEADLINE_S):
        cookie, other = await door.sign_in(), await door.sign_in()
        async with door.socket(cookie=cookie) as watching, door.socket(cookie=other) as stays:
            await watching.recv()
            await stays.recv()
            async with door.browser(cookie) as page:
                assert (await door.post(page, "/sign-out")).status_code == 200
            await home.record(HOME, notice(1))
            assert await closed(watching) == SIGNED_OUT
            assert await take(stays, 1) == [1]


async def test_an_idle_event_stream_says_that_it_lives(home: Home) -> None:
    async with (
        open_door(home, Pace(ping_s=0.05)) as door,
        asyncio.timeout(DEADLINE_S),
        door.cli() as cli,
        cli.stream("GET", "/api/v1/events/stream") as response,
    ):
        lines = response.aiter_lines()
        pings = 0
        while pings < 3:
            pings += await anext(lines) == ": ping"


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_reader_that_takes_nothing_holds_nobody_up_and_is_told_to_come_back(home: Home, transport: str) -> None:
    async with open_door(home, Pace(stall_s=0.3)) as door, asyncio.timeout(60):
        slow = await open_slowly(door, transport)
        quick = Watcher(door, 0)
        big = [NoticeGiven("x" * 50_000, "steer") for _ in range(10)]
        watching = asyncio.create_task(quick.over("ws", 400))
        for _ in range(40):
            await home.record(HOME, *big)
        await watching
        assert quick.seen == list(range(1, 401))
        async with asyncio.timeout(DEADLINE_S):
            while home.bus.watchers:  # the quick one leaves by itself, the slow one when it is given up
                await asyncio.sleep(0.05)
        received = await asyncio.to_thread(drain, slow)
    if transport == "ws":
        assert received.endswith(b"\x88\x02" + TOO_SLOW.to_bytes(2, "big"))
    else:
        assert received.endswith(b"\r\n0\r\n\r\n")
    assert 0 < received.count(b'"seq":') < 400


async def test_head_of_a_stream_is_answered_at_once(door: Door) -> None:
    async with door.cli() as cli:
        answer = await cli.head("/api/v1/events/stream")
    assert answer.status_code == 200
    assert answer.content == b""


async def listening(home: Home, watching: ClientConnection, session: SessionId = HOME) -> list[int]:
    """Wait until the watcher shows what happens now, and not what it reads; gives the events that it showed before."""
    seen: list[int] = []
    while True:
        home.show(TextDelta(session, RequestNo(99), 0, "now"))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                while True:
                    frame = json.loads(await watching.recv())
                    seen += [envelope["seq"] for envelope in frame if "seq" in envelope]
                    if any(envelope["body"]["type"] == "text.delta" for envelope in frame):
                        return seen


async def take(watching: ClientConnection, count: int) -> list[int]:
    """The places of the next events, at least so many."""
    seen: list[int] = []
    while len(seen) < count:
        seen += [envelope["seq"] for envelope in json.loads(await watching.recv()) if "seq" in envelope]
    return seen


async def closed(watching: ClientConnection) -> int:
    """Read to the end; gives the close code."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await watching.recv()
    assert watching.close_code is not None
    return watching.close_code


async def open_slowly(door: Door, transport: str) -> socket.socket:
    """A reader with a small buffer that asks for a stream and then reads nothing."""
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(DEADLINE_S)
    slow.connect(("127.0.0.1", door.port))
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    path = "/api/v1/live" if transport == "ws" else "/api/v1/events/stream"
    extra = upgrade + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" if transport == "ws" else ""
    head = f"GET {path} HTTP/1.1\r\nHost: {door.api_host}\r\nAuthorization: Bearer {BEARER}\r\n{extra}\r\n"
    slow.sendall(head.encode())
    async with asyncio.timeout(DEADLINE_S):
        while not door.home.bus.watchers:
            await asyncio.sleep(0.01)
    return slow


def drain(slow: socket.socket) -> bytes:
    """Read at last, to the end."""
    received = bytearray()
    with slow:
        while piece := slow.recv(1 << 20):
            received += piece
            if received.endswith((b"\x88\x02" + TOO_SLOW.to_bytes(2, "big"), b"\r\n0\r\n\r\n")):
                break
    return bytes(received)
