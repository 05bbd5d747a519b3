"""A tab whose connection is cut again and again while it catches up, and what it was given over all its connections."""

from __future__ import annotations

import asyncio
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Page, WebSocket, expect

from stead.domain import events as ev
from stead.domain.ids import SessionId
from tests.browser import history
from tests.browser.chrome import Visit, is_live, settled
from tests.browser.stage import Stage
from tests.browser.watch import Watch
from tests.browser.wire import wired
from tests.flows.watching import Watcher

TALK = SessionId("s_0000000000007a1c")
_EVENT_BYTES = 300
"""About what an event takes on the wire, so that all cuts come before all events have."""


@dataclass
class Heard:
    """What a tab's socket was given.

    ``seqs``: of every event, as they came. ``asked``: the ``after`` of each connection, with how many events had come.
    """

    seqs: list[int] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)

    def socket(self, socket: WebSocket) -> None:
        """Hear a connection from its beginning."""
        self.asked.append((int(parse_qs(urlsplit(socket.url).query)["after"][0]), len(self.seqs)))
        socket.on("framereceived", self._frame)

    def _frame(self, message: str | bytes) -> None:
        self.seqs += [one["seq"] for one in json.loads(message) if "seq" in one]

    def wrong(self, head: int, upto: int) -> list[str]:
        """What was lost, came twice or out of order between two places of the journal; each line is one event."""
        had = set(self.seqs)
        found = [f"{seq} was lost" for seq in range(head + 1, upto + 1) if seq not in had]
        pairs = zip(self.seqs, self.seqs[1:], strict=False)
        found += [f"{later} came after {earlier}" for earlier, later in pairs if later <= earlier]
        for after, place in self.asked:
            last = self.seqs[place - 1] if place else head
            if after < last:
                found.append(f"what comes after {after} was asked for again, when {last} had come")
        return found


@dataclass(frozen=True)
class CaughtUp:
    """How a tab came through.

    Args:
        events: how many it missed.
        drops: how often its connection was cut while it caught up.
        wrong: events lost, doubled or out of order, and differences between its story and that of a fresh tab.
        took_s: from the daemon's first answer to the last event in sight.
    """

    events: int
    drops: int
    wrong: tuple[str, ...]
    took_s: float


def catch_up(browser: Browser, stage: Stage, watch: Watch, *, events: int, drops: int) -> CaughtUp:
    """A session's tab misses events because the daemon is killed, and is cut off ``drops`` times while it reads them.

    The home's journal must hold the beginning of the session: see ``begin``.
    """
    watch.expect_outage()
    rng = random.Random(events)
    with wired(browser, stage) as (wire, other):
        visit, heard = Visit(other, watch), Heard()
        page = visit(stage, "/")
        page.on("websocket", heard.socket)
        page.goto(f"{stage.origin}/sessions/{TALK}")
        settled(page)
        page.wait_for_load_state("networkidle")  # a part of the page that is still being fetched is another matter
        head = int(stage.house.get("/status")["head"])
        stage.house.kill()
        is_live(page, "offline")
        letters = _append(stage, events)
        share = _EVENT_BYTES * events // (drops + 2)
        wire.cuts += [rng.randrange(500, 2 * share) for _ in range(drops)]
        stage.house.start()
        began = time.perf_counter()
        _sees(page, letters)
        took_s = time.perf_counter() - began
        is_live(page)
        upto = int(stage.house.get("/status")["head"])
        wrong = heard.wrong(head, upto)
        wrong += _differences(page, visit(stage, f"/sessions/{TALK}"), letters)
        visit.close()
        return CaughtUp(upto - head, wire.done, tuple(wrong), took_s)


def begin(stage: Stage, events: int = 9) -> None:
    """Write the session's first letter, or more of them, before the daemon starts."""
    history.fill(stage.house.home, _drafts(stage, events))


def told_to_scripts(stage: Stage, transport: str, *, drops: int) -> tuple[int, int, int]:
    """The same session, told to a script that hangs up again and again.

    Args:
        transport: "ws" or "sse".

    Returns:
        How many events it heard, over how many connections, and how many were lost, doubled or out of order.
    """
    wanted = [event["seq"] for event in stage.house.events(TALK)]
    turns = len(stage.house.bodies(TALK, "turn.ended"))
    watcher = Watcher(stage.house, TALK, transport, cuts=drops, last=("turn.ended", turns))
    with ThreadPoolExecutor(1) as thread:  # an open browser keeps an event loop in this one
        thread.submit(asyncio.run, watcher.until_the_end()).result()
    seen = [event["seq"] for event in watcher.seen]
    wrong = len(set(wanted) ^ set(seen)) + len(seen) - len(set(seen))
    wrong += sum(later < earlier for earlier, later in pairwise(seen))
    return len(seen), watcher.connections, wrong


def _append(stage: Stage, events: int) -> int:
    """The rest of the letters; gives the last one's number."""
    known = len(_drafts(stage, 9))
    history.fill(stage.house.home, _drafts(stage, events + 9)[known:])
    return (events + 9) // 9


def _drafts(stage: Stage, events: int) -> list[ev.Draft]:
    start_ms = time.time_ns() // 1_000_000 - history.DAY_MS
    return history.drafts(TALK, start_ms, history.talk("Ten years of letters", str(stage.project), events))


def _sees(page: Page, letter: int) -> None:
    last = page.get_by_role("main").get_by_text(f"Letter {letter} says")
    expect(last.first).to_be_visible(timeout=60_000)


def _differences(page: Page, fresh: Page, letters: int) -> list[str]:
    """Between the story of the tab that was cut off and that of a tab which read it all at once."""
    _sees(fresh, letters)
    ours, theirs = (
        int(one.get_by_role("region", name="Timeline").get_by_role("listitem").last.get_attribute("aria-setsize") or 0)
        for one in (page, fresh)
    )
    return [] if ours == theirs else [f"the tab tells {ours} things, a fresh one {theirs}"]
