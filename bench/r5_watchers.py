"""R5: watchers that are cut off again and again while 5,000 events come; twelve tabs at once; a daemon that restarts.

The tab is the product's own, in front of a session. Its connections lead through a wire that ends them in the middle of
a message. The daemon is killed first, so that all the events are missed and have to be caught up with. Afterwards the
same session is told to scripts over a WebSocket and over server-sent events, which hang up as often.
"""

from __future__ import annotations

import time

from playwright.sync_api import expect

from bench.bar import Bar
from bench.pages import Seat, crowding, seat
from tests.browser import dropped
from tests.browser.chrome import is_live

EVENTS, DROPS, TABS, RESTARTS = 5_000, 8, 12, 5
GOAL = "show README.md"


def measure() -> list[Bar]:
    """A tab with cuts, scripts with cuts, then twelve tabs whose daemon is killed."""
    with seat(before=dropped.begin) as at:
        bars = [_tab(at), *(_script(at, transport) for transport in ("ws", "sse")), *_many(at)]
        for line in at.watch.complaints():
            print(line)
    return bars


def _tab(at: Seat) -> Bar:
    found = dropped.catch_up(at.browser, at.stage, at.watch, events=EVENTS, drops=DROPS)
    for line in found.wrong[:10]:
        print(line)
    said = (
        f"a session's tab, {found.events} events missed, {found.drops} times cut off in the middle of a message; the "
        f"last is in sight {found.took_s:.1f} s after the daemon's return{crowding()}"
    )
    holds = not found.wrong and found.drops >= 7 and found.events >= EVENTS - 9
    return Bar("R5", len(found.wrong), "events lost, doubled or out of order", "0", holds, {}, said)


def _script(at: Seat, transport: str) -> Bar:
    events, connections, wrong = dropped.told_to_scripts(at.stage, transport, drops=DROPS)
    said = f"a script over {transport}, {events} events over {connections} connections"
    holds = wrong == 0 and connections > 7 and events >= EVENTS - 9
    return Bar(f"R5.{transport.upper()}", wrong, "events lost, doubled or out of order", "0", holds, {}, said)


def _many(at: Seat) -> list[Bar]:
    stage = at.stage
    tabs = [at.visit(stage, "/objectives") for _ in range(TABS)]
    at.watch.expect_outage()
    took_s = []
    for _ in range(RESTARTS):
        stage.house.kill()
        for page in tabs:
            is_live(page, "offline")
        stage.house.start()
        began = time.perf_counter()
        for page in tabs:
            is_live(page)
        took_s.append(time.perf_counter() - began)
    stage.house.finish(stage.house.give(GOAL, stage.project), timeout_s=120)
    for page in tabs:
        expect(page.get_by_role("main").get_by_text(GOAL, exact=True)).to_have_count(1)
    said = f"{TABS} tabs of one browser, each then shows the same new objective"
    middle = sorted(took_s)[RESTARTS // 2]
    slowest = f"from the daemon's first answer until {TABS} tabs are live, median of {RESTARTS} kills"
    slowest += f", slowest {max(took_s):.1f} s"
    return [
        Bar("R5.TABS", len(tabs), "tabs live at once", f"≥ {TABS}", True, {"server-sent events": 6.0}, said),
        Bar("R5.RESTART", middle, "s", "≤ 3", middle <= 3, {}, slowest + crowding()),
    ]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
