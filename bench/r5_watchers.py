"""R5: a tab whose connection is cut again and again while 5,000 events come; and twelve tabs at once.

The tab is the product's own. Its socket leads through a wire in the browser's driver that changes nothing, notes what
it carries, and is cut after every few hundred events. The daemon is stopped first, so all 5,000 are missed and must
be caught up with.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, WebSocketRoute, expect

from bench.bar import Bar
from bench.pages import Seat, seat
from stead.domain.ids import SessionId
from tests.browser import history
from tests.browser.chrome import DESKTOP, PATIENCE_MS, is_live
from tests.browser.stage import Stage

EVENTS, DROPS, TABS = 5_000, 7, 12
LAST = "the last of many"


@dataclass
class Wire:
    """What one tab's socket carried, over all its connections.

    ``gaps``: each connection that did not ask for what comes after the last event that the tab was given.
    """

    seqs: list[int] = field(default_factory=list)
    connections: int = 0
    gaps: list[str] = field(default_factory=list)
    cut: bool = False

    def open(self, socket: WebSocketRoute) -> None:
        """A connection of the tab; it is cut after its share, until there were enough cuts."""
        self.connections += 1
        after = int(parse_qs(urlsplit(socket.url).query)["after"][0])
        if self.seqs and after != self.seqs[-1]:
            self.gaps.append(f"asked for what comes after {after}, and had {self.seqs[-1]}")
        server = socket.connect_to_server()
        carried = [0]

        def pass_on(message: str | bytes) -> None:
            if carried[0] < 0:
                return
            seqs = [one["seq"] for one in json.loads(message) if "seq" in one]
            socket.send(message)
            self.seqs += seqs
            carried[0] += len(seqs)
            if self.cut and self.connections <= DROPS and carried[0] > EVENTS // (DROPS + 3):
                carried[0] = -1
                socket.close(code=1001, reason="cut")
                server.close()

        server.on_message(pass_on)


def measure() -> list[Bar]:
    """One tab with cuts, then twelve without."""
    with seat() as at:
        return [_cut(at), _many(at)]


def _cut(at: Seat) -> Bar:
    stage, wire = at.stage, Wire()
    at.watch.expect_outage()
    at.visit(stage).close()
    page = at.visit.context(stage, DESKTOP).new_page()
    page.route_web_socket("**/api/v1/live**", wire.open)
    page.goto(f"{stage.origin}/objectives")
    is_live(page)
    head = int(stage.house.get("/status")["head"])
    stage.house.stop()
    is_live(page, "offline")
    _missed(stage)
    wire.cut = True
    began = time.perf_counter()
    stage.house.start()
    expect(page.get_by_role("main").get_by_text(LAST, exact=True)).to_have_count(1, timeout=120_000)
    is_live(page)
    took_s = time.perf_counter() - began
    upto = int(stage.house.get("/status")["head"])
    wanted = list(range(head + 1, upto + 1))
    page.wait_for_timeout(0)
    wrong = len(set(wanted) - set(wire.seqs)) + (len(wire.seqs) - len(set(wire.seqs)))
    wrong += sum(later < earlier for earlier, later in zip(wire.seqs, wire.seqs[1:], strict=False)) + len(wire.gaps)
    for line in [*wire.gaps, *at.watch.complaints()][:10]:
        print(line)
    said = f"{len(wanted)} events over {wire.connections} connections; all there {took_s:.1f} s after the daemon began"
    holds = wrong == 0 and wire.connections > DROPS and not at.watch.complaints()
    return Bar("R5", wrong, "events lost, doubled or out of order", "0", holds, {"a raw WebSocket": 0.0}, said)


def _many(at: Seat) -> Bar:
    stage = at.stage
    tabs: list[Page] = [at.visit(stage, "/objectives") for _ in range(TABS)]
    goal = "show README.md"
    stage.house.finish(stage.house.give(goal, stage.project), timeout_s=120)
    began = time.perf_counter()
    live = 0
    for page in tabs:
        is_live(page)
        expect(page.get_by_role("main").get_by_text(goal, exact=True)).to_have_count(1, timeout=PATIENCE_MS)
        live += 1
    said = f"each showed the same objective, the last {time.perf_counter() - began:.1f} s after its end"
    beside = {"server-sent events": 6.0}
    return Bar("R5.TABS", live, "tabs live at once", f"≥ {TABS}", live >= TABS, beside, said)


def _missed(stage: Stage) -> None:
    """What happens while the tab is cut off: 5,000 events, and then one more objective."""
    now_ms = time.time_ns() // 1_000_000
    long = history.objective("Many steps", str(stage.project), turns=EVENTS // 5)
    short = history.objective(LAST, str(stage.project), turns=1)
    history.fill(
        stage.house.home,
        [
            *history.drafts(SessionId("s_00000000000000a5"), now_ms, long),
            *history.drafts(SessionId("s_00000000000000b5"), now_ms, short),
        ],
    )


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
