"""What benches of the page share: a home in a size, and a browser whose pages are watched as in tests."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.browser.chrome import DESKTOP, Look, Visit, chromium
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch

_LISTEN = """() => {
    window.benchWaits = [];
    window.benchWatcher?.disconnect();
    window.benchWatcher = new PerformanceObserver((list) => {
        for (const one of list.getEntries()) if (one.interactionId) window.benchWaits.push(one.duration);
    });
    window.benchWatcher.observe({ type: 'event', durationThreshold: 16 });
}"""
_LONGEST = """async () => {
    // An entry comes some time after its paint: it is waited for until none came for a while.
    const least = 16, still = 400, most = 3000;
    const began = performance.now();
    let count = -1, changed = began;
    while (performance.now() - changed < still || (count === 0 && performance.now() - began < most)) {
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
        if (window.benchWaits.length !== count) [count, changed] = [window.benchWaits.length, performance.now()];
    }
    return Math.max(least, ...window.benchWaits);
}"""

_WORK_S = 0.25


@dataclass
class Seat:
    """A stage, and the browser in front of it."""

    stage: Stage
    browser: Browser
    watch: Watch
    visit: Visit

    def cold(self, path: str, look: Look = DESKTOP) -> Page:
        """A tab of a browser that is signed in and has nothing in its cache, not yet anywhere."""
        if self.stage.signed_in is None:
            self.visit(self.stage, path, look)
        return self.visit.stranger(self.stage, look, self.stage.signed_in).new_page()


@contextlib.contextmanager
def seat(
    fill: Callable[[Stage], None] | None = None, *, before: Callable[[Stage], None] | None = None
) -> Iterator[Seat]:
    """A home and a browser.

    Args:
        fill: puts things into it through its API.
        before: writes its past, before the daemon starts.
    """
    with (
        tempfile.TemporaryDirectory(prefix="stead-bench-") as name,
        chromium() as browser,
        staged(Path(name), start=before is None) as stage,
    ):
        if before is not None:
            before(stage)
            stage.house.start()
        if fill is not None:
            fill(stage)
        watch = Watch()
        visit = Visit(browser, watch)
        yield Seat(stage, browser, watch, visit)
        visit.close()


def inputs_to_paint_ms(page: Page, act: Callable[[], None]) -> float:
    """Do something in a page; gives the longest wait from an input of it to the next paint (INP), in ms.

    What takes less than 16 ms, which is one frame and the least that a browser tells of, counts as 16.
    """
    page.evaluate(_LISTEN)
    act()
    return float(page.evaluate(_LONGEST))


def crowding() -> str:
    """How crowded this computer is, said after a figure in wall time."""
    return f"; just then work took {crowd():.1f} times its CPU time here"


def crowd() -> float:
    """How many times longer than its CPU time work takes on this computer now; 1 where nothing else runs."""
    began, cpu = time.perf_counter(), time.thread_time()
    while time.thread_time() - cpu < _WORK_S:
        pass
    return (time.perf_counter() - began) / _WORK_S


def renderers_cpu_s(browser: Browser) -> float:
    """CPU seconds of all pages of the browser so far, which do not depend on who else works on this computer."""
    session = browser.new_browser_cdp_session()
    rows = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return float(sum(row["cpuTime"] for row in rows if row["type"] == "renderer"))
