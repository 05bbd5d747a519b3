"""U8: from a key or a press to the next paint beside a session that streams, and what moves while a page loads."""

from __future__ import annotations

import statistics

from playwright.sync_api import Page, expect

from bench.bar import Bar
from bench.pages import Seat, crowding, inputs_to_paint_ms, seat
from stead.domain.ids import SessionId
from tests.browser import seeds
from tests.browser.chrome import DESKTOP, PHONE, settled
from tests.browser.routes import ROUTES, path
from tests.browser.stage import Stage
from tests.browser.watching import question

RUNS = 5
WORDS = "then trim the wick and fill the oil"
STILL = """() => new Promise((done) => {
    // What is said of a shift comes some time after it: nothing new for a while is the end of it.
    let shifts = [], last = performance.now();
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) {
            if (one.hadRecentInput) continue;
            shifts.push(one);
            last = performance.now();
        }
    }).observe({ type: 'layout-shift', buffered: true });
    const look = () => {
        if (performance.now() - last < 600) return setTimeout(look, 50);
        const moved = shifts.flatMap((one) => one.sources.map(({ node, previousRect: from, currentRect: to }) =>
            `${one.value.toFixed(3)} ${node?.nodeName ?? '?'}.${String(node?.className ?? '').slice(0, 50)}: `
            + `${from.x},${from.y} ${from.width}x${from.height} to ${to.x},${to.y} ${to.width}x${to.height}`));
        done([shifts.reduce((sum, one) => sum + one.value, 0), moved]);
    };
    look();
})"""


def measure() -> list[Bar]:
    """INP of typing, sending and allowing; then the shifts of every route, at a desk and on a phone."""
    with seat(seeds.some) as at:
        at.visit(at.stage)
        bars = _inputs(at) + _shifts(at)
        complaints = at.watch.complaints()
    assert not complaints, complaints
    return bars


def streaming(stage: Stage) -> SessionId:
    """A session whose model writes for a minute or two."""
    id = SessionId(stage.house.post("/sessions", {"directory": str(stage.project), "title": "Streams"})["session"])
    stage.house.post(f"/sessions/{id}/messages", {"text": "Please tell it at length"})
    return id


def typed_and_sent_ms(page: Page) -> tuple[float, float]:
    """The longest wait of typing in the composer of a session that streams, and that of sending it."""
    field = page.get_by_role("textbox", name="Message", exact=True)
    expect(page.get_by_role("main")).to_contain_text("Nobody was at the quay.")
    typing = inputs_to_paint_ms(page, lambda: field.press_sequentially(WORDS, delay=20))
    sending = inputs_to_paint_ms(page, lambda: field.press("Enter"))
    expect(field).to_have_value("")
    return typing, sending


def allowed_ms(page: Page) -> float:
    """The longest wait of the press that allows what the page asks."""
    allow = page.get_by_role("button", name="Allow once")
    expect(allow).to_be_enabled()
    return inputs_to_paint_ms(page, allow.click)


def shift(page: Page) -> tuple[float, list[str]]:
    """How much of a page moved since it began to load, and what: all shifts together, at least its CLS."""
    total, moved = page.evaluate(STILL)
    return float(total), [str(line) for line in moved]


def _inputs(at: Seat) -> list[Bar]:
    typing, sending, allowing = [], [], []
    for _ in range(RUNS):
        id = streaming(at.stage)
        page = at.visit(at.stage, f"/sessions/{id}")
        typed, sent = typed_and_sent_ms(page)
        typing.append(typed)
        sending.append(sent)
        asking = at.stage.house.post("/sessions", {"directory": str(at.stage.project), "profile": "ask"})["session"]
        at.stage.house.post(f"/sessions/{asking}/messages", {"text": "Please count the boats"})
        page.goto(f"{at.stage.origin}/approvals?at={question(at.stage, asking)}")
        settled(page)
        allowing.append(allowed_ms(page))
        at.stage.house.post(f"/sessions/{id}/stop")
        page.close()
    said = f"beside a session that streams; longest input to paint of each run, median of {RUNS}{crowding()}"
    return [_bar("TYPE", typing, said), _bar("SEND", sending, said), _bar("ALLOW", allowing, said)]


def _bar(what: str, times: list[float], said: str) -> Bar:
    figure = statistics.median(times)
    return Bar(f"U8.INP.{what}", figure, "ms INP", "≤ 100", figure <= 100, {}, said)


def _shifts(at: Seat) -> list[Bar]:
    worst, where, count = 0.0, "nowhere", 0
    for look in (DESKTOP, PHONE):
        for address in (addresses[0] for addresses in ROUTES.values()):
            page = at.cold("/", look)
            page.goto(at.stage.origin + path(address, at.stage))
            settled(page)
            total, moved = shift(page)
            page.context.close()
            count += 1
            if total > 0.001:
                print(f"{address} at {look.width} px: {total:.3f}", *moved, sep="\n    ", flush=True)
            if total > worst:
                worst, where = total, f"{address} at {look.width} px"
    said = f"the worst of {count} loads with an empty cache, every route, 1440 and 390 px: {where}{crowding()}"
    return [Bar("U8.CLS", worst, "of the window moved (CLS)", "≤ 0.02", worst <= 0.02, {}, said)]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
