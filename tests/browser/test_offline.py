"""A daemon that dies, comes back, or comes back newer: tabs follow by themselves, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chrome import PHONE, Visit, is_live
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch

GOALS = ("count the lines of README.md", "show notes/tides.md", "list the files in notes")

COUNT_ALERTS = """() => {
  window.mostAlerts = 0
  const now = () => document.querySelectorAll("[role=alert]").length
  const count = () => { window.mostAlerts = Math.max(window.mostAlerts, now()) }
  new MutationObserver(count).observe(document.body, { childList: true, subtree: true })
}"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A home of the test's own, as the daemon is killed in it."""
    with staged(tmp_path) as one:
        yield one


def give(stage: Stage, goal: str) -> None:
    """An objective of the rehearsal model, from creation to its end."""
    stage.house.finish(stage.house.give(goal, stage.project))


def sees(page: Page, *titles: str) -> None:
    """Wait until the list shows each of these, once."""
    for title in titles:
        expect(page.get_by_role("main").get_by_text(title, exact=True)).to_have_count(1)


def test_a_tab_comes_back_by_itself_after_a_kill_and_has_lost_nothing(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_outage()
    give(stage, GOALS[0])
    tabs = [visit(stage, "/objectives"), visit(stage, "/objectives", PHONE)]
    for page in tabs:
        sees(page, GOALS[0])
    for goal in GOALS[1:]:
        stage.house.kill()
        for page in tabs:
            is_live(page, "offline")
            sees(page, GOALS[0])  # what was read stays
        stage.house.start()
        give(stage, goal)
        for page in tabs:
            is_live(page)
            sees(page, goal)
    for page in tabs:
        sees(page, *GOALS)
        expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.long
def test_what_happens_while_a_laptop_sleeps_is_there_when_it_wakes(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_outage()
    watch.expect_console("ERR_INTERNET_DISCONNECTED")
    page = visit(stage, "/objectives")
    page.context.set_offline(True)
    give(stage, GOALS[0])
    page.context.set_offline(False)
    is_live(page)
    sees(page, GOALS[0])


@pytest.mark.long
def test_a_link_into_the_page_works_while_the_daemon_starts_again(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_outage()
    page = visit(stage, "/objectives")
    stage.house.kill()
    is_live(page, "offline")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings").click()
    stage.house.start()
    is_live(page)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


@pytest.mark.long
def test_a_page_first_wanted_while_the_daemon_is_away_is_there_when_it_is_back(
    stage: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect_outage()
    page = visit(stage, "/objectives")
    stage.house.kill()
    is_live(page, "offline")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/icon.svg")):
        page.get_by_role("navigation", name="Main").get_by_role("link", name="Security").click()
    page.evaluate("window.before = true")
    stage.house.start()
    expect(page.get_by_role("heading", level=1, name="Audit log")).to_have_count(1)
    assert page.evaluate("window.before"), "it came without a reload"
    is_live(page)
    expect(page.get_by_role("alert")).to_have_count(0)  # the build is the same, and nothing broke


def test_a_page_of_an_older_build_says_so_and_is_new_after_a_reload(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_outage()
    page = visit(stage)
    page.evaluate(COUNT_ALERTS)
    stage.house.stop()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("does not respond")
    stage.house.module = "tests.browser.newer_daemon"
    stage.house.start()
    expect(alert.filter(has_text="updated")).to_have_count(1)
    assert page.evaluate("window.mostAlerts") == 1, "one alert at a time"
    is_live(page)
    alert.get_by_role("button", name="Reload").click()
    is_live(page)
    expect(page.get_by_role("alert")).to_have_count(0)
