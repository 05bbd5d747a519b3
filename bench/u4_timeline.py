"""U4: how soon a session of 5,000 events is there to be read, and how much of the page it takes."""

from __future__ import annotations

import statistics
import time

from playwright.sync_api import expect

from bench.bar import Bar
from bench.pages import crowding, renderers_cpu_s, seat
from tests.browser import dropped
from tests.browser.chrome import settled
from tests.browser.stage import Stage
from tests.flows.house import use_model

EVENTS, RUNS = 5_000, 5
COUNT = "() => document.querySelector('main').querySelectorAll('*').length"
LONGEST = """() => new Promise((done) => {
    let longest = 0;
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) longest = Math.max(longest, one.duration);
    }).observe({ type: 'longtask', buffered: true });
    setTimeout(() => done(longest), 100);
})"""


def measure() -> list[Bar]:
    """From the address to the last row in sight, the browser's cache empty; then what is in the page."""
    last = f"Turn {EVENTS // 9} done"
    seen: list[tuple[float, float, float, float]] = []
    with seat(_model, before=lambda stage: dropped.begin(stage, EVENTS)) as at:
        at.visit(at.stage)
        for _ in range(RUNS):
            page, before_s = at.cold("/"), renderers_cpu_s(at.browser)
            began = time.perf_counter()
            page.goto(f"{at.stage.origin}/sessions/{dropped.TALK}")
            expect(page.get_by_role("main").get_by_text(last)).to_be_visible(timeout=60_000)
            took_s = time.perf_counter() - began
            cpu_s = renderers_cpu_s(at.browser) - before_s
            settled(page)
            seen.append((took_s, cpu_s, page.evaluate(COUNT), page.evaluate(LONGEST)))
            page.context.close()
        complaints = at.watch.complaints()
    assert not complaints, complaints
    took_s, cpu_s, nodes, longest = (statistics.median(column) for column in zip(*seen, strict=True))
    said = (
        f"{EVENTS} events, from the address to the last row in sight, medians of {RUNS}; longest task {longest:.0f} ms"
    )
    spent = f"{said}; the page's own CPU until then"
    return [
        Bar("U4", took_s, "s", "≤ 3", took_s <= 3, {"the spike": 2.06}, said + crowding()),
        Bar("U4.CPU", cpu_s, "s of CPU", "≤ 3", cpu_s <= 3, {}, spent),
        Bar("U4.DOM", nodes, "nodes of the page's content", "≤ 500", nodes <= 500, {"the spike": 196.0}, said),
    ]


def _model(stage: Stage) -> None:
    """The model that the session asks: what fills its window is fetched with the page."""
    use_model(stage.house, stage.model.openai)


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
