"""What journeys wait for: what the page says, and what the daemon has."""

from __future__ import annotations

import time

from playwright.sync_api import CDPSession, Page, expect

from tests.browser.chrome import PATIENCE_MS
from tests.browser.stage import Stage

SPAN_S = 0.4
PAUSE = "(ms) => new Promise((done) => setTimeout(done, ms))"


def question(stage: Stage, session: str) -> str:
    """The id of what a session asks, once it asks."""

    def asks() -> bool:
        return bool(stage.house.get("/approvals", session=session)["items"])

    stage.house.until(asks, f"{session} to ask", timeout_s=60)
    return str(stage.house.get("/approvals", session=session)["items"][0]["id"])


def says(page: Page, text: str) -> None:
    """Wait until the page says this."""
    expect(page.get_by_role("main")).to_contain_text(text)


def status_of(stage: Stage, approval: str) -> str:
    """Of a question, as the daemon has it."""
    return str(stage.house.get(f"/approvals/{approval}")["status"])


def rests(page: Page) -> None:
    """Wait until nothing is left to be drawn: for a while the page leaves its thread idle for half of the time.

    A page that draws itself again and again never does, and whatever of it is fetched meanwhile may never be shown.
    """
    devtools = page.context.new_cdp_session(page)
    # In CPU time, which others on this computer do not lengthen much.
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    until = time.monotonic() + PATIENCE_MS / 1000
    share = 1.0
    while share > 0.5:
        assert time.monotonic() < until, f"{page.url} keeps its thread busy for {share:.0%} of the time"
        before, began = _worked_s(devtools), time.monotonic()
        page.evaluate(PAUSE, SPAN_S * 1000)
        share = (_worked_s(devtools) - before) / (time.monotonic() - began)
    devtools.detach()


def _worked_s(devtools: CDPSession) -> float:
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")
