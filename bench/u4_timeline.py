"""U4: how soon a session of 5,000 events is there to be read, and how much of the page it takes."""

from __future__ import annotations

import time

from playwright.sync_api import expect

from bench.bar import Bar
from bench.pages import seat
from tests.browser import seeds
from tests.browser.chrome import settled
from tests.browser.history import TALK_EVENTS

COUNT = "() => document.querySelector('main').querySelectorAll('*').length"
LONGEST = """() => new Promise((done) => {
    let longest = 0;
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) longest = Math.max(longest, one.duration);
    }).observe({ type: 'longtask', buffered: true });
    setTimeout(() => done(longest), 100);
})"""


def measure() -> list[Bar]:
    """The last row is in sight; then what is in the page."""
    last = f"Letter {TALK_EVENTS // 9}"
    with seat(before=seeds.plenty) as at:
        at.visit(at.stage)
        page = at.cold("/")
        began = time.perf_counter()
        page.goto(f"{at.stage.origin}/sessions/{at.stage.ids['talk']}")
        expect(page.get_by_role("main").get_by_text(last).last).to_be_visible(timeout=60_000)
        took_s = time.perf_counter() - began
        settled(page)
        nodes, longest = page.evaluate(COUNT), page.evaluate(LONGEST)
        complaints = at.watch.complaints()
    assert not complaints, complaints
    said = f"{TALK_EVENTS} events, from the address to the last row in sight; longest task {longest:.0f} ms"
    return [
        Bar("U4", took_s, "s", "≤ 3", took_s <= 3, {"the spike": 2.06}, said),
        Bar("U4.DOM", nodes, "nodes of the page's content", "≤ 500", nodes <= 500, {"the spike": 196.0}, said),
    ]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
