"""U1: what a browser must load before the page can show anything, and how soon it shows something."""

from __future__ import annotations

import statistics

from playwright.sync_api import Page

from bench.bar import Bar
from bench.pages import Seat, crowding, renderers_cpu_s, seat
from scripts.check_page_size import measure as page_size
from tests.browser import seeds
from tests.browser.chrome import settled

RUNS = 5
PLACES = {"home": "/", "session": "/sessions/{desk}"}
PAINTS = """() => new Promise((done) => {
    const first = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1;
    let largest = -1;
    const watcher = new PerformanceObserver((list) => { largest = list.getEntries().at(-1).startTime; });
    watcher.observe({ type: 'largest-contentful-paint', buffered: true });
    setTimeout(() => done([first / 1000, largest / 1000]), 200);
})"""
SCRIPTS = """() => performance.getEntriesByType('resource')
    .filter((one) => one.name.endsWith('.js')).reduce((sum, one) => sum + one.encodedBodySize, 0)"""
SPIKE = {"home": (0.49, None), "session": (0.55, 1.55)}
"""What the spike of the same stack reached on a quieter computer: first and largest paint, in s."""


def measure() -> list[Bar]:
    """The size from the built files; the paints from Home and a session with work in them, with an empty cache."""
    sizes = page_size()
    weight = sizes.script / 1000
    said = f"gzip, {sum(name.endswith('.js') for name in sizes.files)} files, and {sizes.style / 1000:.0f} kB of style"
    bars = [Bar("U1", weight, "kB of initial JS", "≤ 150", weight <= 150, {"the spike": 125.0}, said)]
    with seat(seeds.some) as at:
        at.visit(at.stage)
        for name, path in PLACES.items():
            bars += _paints(at, name, path.format(**at.stage.ids))
        complaints = at.watch.complaints()
    assert not complaints, complaints
    return bars


def _paints(at: Seat, name: str, path: str) -> list[Bar]:
    seen: list[tuple[float, float, float, float]] = []
    for _ in range(RUNS):
        page, before_s = at.cold("/"), renderers_cpu_s(at.browser)
        page.goto(at.stage.origin + path)
        settled(page)
        first, largest = _told(page)
        seen.append((first, largest, renderers_cpu_s(at.browser) - before_s, float(page.evaluate(SCRIPTS)) / 1000))
        page.context.close()
    first, largest, cpu_s, weight = (statistics.median(column) for column in zip(*seen, strict=True))
    said = f"empty cache, loopback, medians of {RUNS}; {weight:.0f} kB of JS and {cpu_s:.2f} s of CPU until settled"
    said += crowding()
    spike_first, spike_largest = SPIKE[name]
    beside = {"the spike": spike_largest} if spike_largest else {}
    return [
        Bar(f"U1.FCP.{name}", first, "s", "≤ 0.8", first <= 0.8, {"the spike": spike_first or 0}, said),
        Bar(f"U1.LCP.{name}", largest, "s", "≤ 2.0", largest <= 2.0, beside, said),
    ]


def _told(page: Page) -> tuple[float, float]:
    first, largest = page.evaluate(PAINTS)
    return float(first), float(largest)


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
