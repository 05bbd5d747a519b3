"""U3: a table of 10,000 rows, sorted and narrowed: from the key or the press to the next paint."""

from __future__ import annotations

import statistics
import time

from playwright.sync_api import Page, expect

from bench.bar import Bar
from bench.pages import crowding, inputs_to_paint_ms, seat
from stead.domain import events as ev
from stead.domain.ids import RequestNo, SessionId
from stead.domain.messages import Text, Usage
from tests.browser import history
from tests.browser.chrome import settled
from tests.browser.stage import Stage

ROWS = 10_000
RUNS = 5


def measure() -> list[Bar]:
    """The usage page's table of models, which has a row for each model that was ever used."""
    with seat(before=_many_models) as at:
        page = at.visit(at.stage, "/usage")
        page.get_by_role("tab", name="By model").click()
        table = page.get_by_role("table").or_(page.get_by_role("grid")).last
        expect(table).to_have_attribute("aria-rowcount", str(ROWS + 1), timeout=60_000)
        settled(page)
        number = [_sorted(page, "Money") for _ in range(RUNS)]
        text = [_sorted(page, "Model") for _ in range(RUNS)]
        narrowed = [_narrowed(page, str(run)) for run in range(RUNS)]
        nodes = int(table.evaluate("(element) => element.querySelectorAll('*').length"))
        complaints = at.watch.complaints()
    assert not complaints, complaints
    said = f"{ROWS} rows, longest input to paint of each, median of {RUNS}; {nodes} nodes in the table"
    said += f"{crowding()}; no page edits in so long a table, so editing is not measured"
    return [
        _bar("U3.SORT.NUMBER", number, 71.0, said),
        _bar("U3.SORT.TEXT", text, 165.0, said),
        _bar("U3.FILTER", narrowed, 88.0, said),
    ]


def _bar(id: str, times: list[float], spike: float, said: str) -> Bar:
    figure = statistics.median(times)
    return Bar(id, figure, "ms INP", "≤ 200", figure <= 200, {"the spike": spike}, said)


def _sorted(page: Page, heading: str) -> float:
    button = page.get_by_role("columnheader", name=heading).get_by_role("button")
    return inputs_to_paint_ms(page, button.click)


def _narrowed(page: Page, text: str) -> float:
    field = page.get_by_role("searchbox")
    waited = inputs_to_paint_ms(page, lambda: field.press_sequentially(f"m-{text}"))
    field.fill("")
    return waited


def _many_models(stage: Stage) -> None:
    """One reply of each of 10,000 models, today."""
    start = time.time_ns() // 1_000_000 - ROWS * 1000
    id = SessionId("s_00000000000000f3")
    bodies: list[ev.Body] = [next(iter(history.objective("Ask everybody", str(stage.project), turns=1)))]
    for number in range(1, ROWS + 1):
        model = ev.ModelRef(f"vendor{number % 7}", f"m-{number * 7919 % ROWS:05d}")
        usage, spend = Usage(number % 977, 60, 0), ev.Spend(number, number % 613)
        bodies.append(ev.ModelRequested(RequestNo(number), "", 1, 4096, ev.Spend(9000, 2000)))
        bodies.append(ev.ModelReplied(RequestNo(number), (Text("."),), "stop", model, usage, spend, (), 1, 1))
    bodies.append(ev.ObjectiveEnded("unverified", "done", "Everybody was asked."))
    history.fill(stage.house.home, history.drafts(id, start, bodies))


if __name__ == "__main__":
    for bar in measure():
        print(bar.line(), bar.conditions)
