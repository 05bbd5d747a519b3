"""U1: what the page weighs before it can do anything, and how soon it shows something."""

from __future__ import annotations

import statistics

from playwright.sync_api import Page

from bench.bar import Bar
from bench.pages import Seat, seat
from tests.browser import seeds
from tests.browser.chrome import settled

RUNS = 5
SPIKE_KB = 125.0
PAINTS = """() => new Promise((done) => {
    const first = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1;
    let largest = -1;
    const watcher = new PerformanceObserver((list) => { largest = list.getEntries().at(-1).startTime; });
    watcher.observe({ type: 'largest-contentful-paint', buffered: true });
    setTimeout(() => done([first, largest]), 200);
})"""
SCRIPTS = """() => performance.getEntriesByType('resource')
    .filter((one) => one.name.endsWith('.js')).map((one) => [one.name, one.encodedBodySize])"""


def measure() -> list[Bar]:
    """Home with work in it, in a browser with an empty cache."""
    with seat(seeds.some) as at:
        shell_kb = _scripts_kb(_signed_out(at))
        paints, home_kb = [], 0.0
        at.visit(at.stage)
        for _ in range(RUNS):
            page = at.cold("/")
            page.goto(at.stage.origin + "/")
            settled(page)
            paints.append(page.evaluate(PAINTS))
            home_kb = _scripts_kb(page)
            page.context.close()
    fcp, lcp = (statistics.median(column) / 1000 for column in zip(*paints, strict=True))
    said = f"gzip, empty cache, loopback, medians of {RUNS}; all scripts of Home {home_kb:.0f} kB"
    beside = {"the spike of the same stack": SPIKE_KB}
    return [
        Bar("U1", shell_kb, "kB of initial JS, gzip", "≤ 150", shell_kb <= 150, beside, said),
        Bar("U1.FCP", fcp, "s to the first content", "≤ 0.8", fcp <= 0.8, {"the spike": 0.49}, said),
        Bar("U1.LCP", lcp, "s to the largest content", "≤ 2.0", lcp <= 2.0, {"the spike": 1.19}, said),
    ]


def _signed_out(at: Seat) -> Page:
    """The page before any page of the app: what every visit loads first."""
    at.watch.expect(401, "^/api/")
    page = at.visit.stranger(at.stage).new_page()
    page.goto(at.stage.origin)
    page.get_by_role("heading", level=1).wait_for()
    return page


def _scripts_kb(page: Page) -> float:
    return float(sum(size for _, size in page.evaluate(SCRIPTS))) / 1000


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
