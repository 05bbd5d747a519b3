"""What the page may cost, in short and with room for a loaded machine; ``make bench-ui`` holds the bars themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from bench.pages import renderers_cpu_s
from scripts.check_page_size import INITIAL_SCRIPT_BYTES, PAGE, measure
from stead.domain.ends import WELL
from tests.browser import dropped, first_answer
from tests.browser.chrome import Visit, is_live
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch

EVENTS, DROPS = 1_200, 8
REPLAY_CPU_S = 2 * 3.0
"""Twice the bar of 5,000 events, in CPU time, which others on this computer do not lengthen much."""
NODES = 500


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with the first letter of a long session."""
    with staged(tmp_path_factory.mktemp("letters"), start=False) as stage:
        dropped.begin(stage)
        stage.house.start()
        yield stage


def test_the_first_paint_waits_for_little() -> None:
    if not (PAGE / "index.html").exists():
        pytest.skip("the page is not built; make ui builds it")
    assert 50_000 < measure().script <= INITIAL_SCRIPT_BYTES


def test_a_tab_and_scripts_that_are_cut_off_again_and_again_lose_nothing(
    letters: Stage, browser: Browser, watch: Watch
) -> None:
    found = dropped.catch_up(browser, letters, watch, events=EVENTS, drops=DROPS)
    assert (found.wrong, watch.complaints()) == ((), [])
    assert found.events >= EVENTS - 9 and found.drops >= DROPS - 1
    for transport in ("ws", "sse"):
        events, connections, wrong = dropped.told_to_scripts(letters, transport, drops=DROPS)
        assert (events >= EVENTS - 9, connections > DROPS - 1, wrong) == (True, True, 0), transport


def test_a_long_session_is_there_soon_and_little_of_it_in_the_page(letters: Stage, visit: Visit) -> None:
    visit(letters)
    before_s = renderers_cpu_s(visit.browser)
    page = visit(letters, f"/sessions/{dropped.TALK}")
    expect(page.get_by_role("main").get_by_text(f"Turn {(EVENTS + 9) // 9} done")).to_be_visible()
    assert renderers_cpu_s(visit.browser) - before_s <= REPLAY_CPU_S
    assert page.get_by_role("main").evaluate("(main) => main.querySelectorAll('*').length") <= NODES


@pytest.mark.long
def test_twelve_tabs_are_live_at_once(letters: Stage, visit: Visit) -> None:
    tabs = [visit(letters, "/objectives") for _ in range(12)]
    letters.house.finish(letters.house.give("show README.md", letters.project))
    for page in tabs:
        is_live(page)
        expect(page.get_by_role("main").get_by_text("show README.md", exact=True)).to_have_count(1)


@pytest.mark.long
def test_a_first_objective_is_answered_soon_after_few_questions(fresh: Stage, visit: Visit) -> None:
    done = first_answer.walk(visit, fresh)
    assert len(done.prompts) <= 5
    assert done.took_s <= 180
    (row,) = fresh.house.get("/objectives")["items"]
    assert row["status"] in WELL and not fresh.house.bodies(row["id"], "approval.requested")
    assert (fresh.project / "FILES.txt").exists()
