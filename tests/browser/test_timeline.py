"""The timeline in three densities: what is folded, what a turn changed, what was reverted, what was carried over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from playwright.sync_api import Page, Route, expect

from stead.domain.ends import WELL
from tests.browser.axe import axe
from tests.browser.chrome import Visit
from tests.browser.pictures import picture
from tests.browser.plays import BUSY
from tests.browser.stage import Stage, staged
from tests.browser.test_session_page import say, sit_down
from tests.flows.house import use_model

WALK = "Please walk the quays"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens a session of its own."""
    with staged(tmp_path_factory.mktemp("timeline")) as one:
        use_model(one.house, one.model.openai)
        yield one


def walked_quays(stage: Stage, visit: Visit, title: str) -> tuple[Page, str]:
    """A session in which the model looked around, edited a file, ran a command that failed, and said so."""
    (stage.project / "lamps.py").write_text('LAMPS = ["north", "south"]\n', "utf-8")
    session = sit_down(stage, title, allow=["edit", "shell"])
    page = visit(stage, f"/sessions/{session}")
    say(page, WALK)
    expect(page.get_by_role("main")).to_contain_text("Turn 1 done")
    return page, session


def test_normal_folds_looks_and_shows_edits_and_commands(stage: Stage, visit: Visit) -> None:
    page, _ = walked_quays(stage, visit, "Quays")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline.get_by_role("button", name="Review")).to_be_in_viewport(ratio=1)
    picture(page, "timeline-normal")
    expect(timeline).to_contain_text("Explored2 files, 1 search")
    expect(timeline.get_by_role("button", name="Read lamps.py")).to_have_count(0)
    expect(timeline.get_by_role("group", name="lamps.py")).to_contain_text("west")
    expect(timeline.get_by_role("button", name="Run seq 8")).to_contain_text("exit 2")
    tail = timeline.get_by_role("group", name="Output")
    expect(tail).to_contain_text("nowhere")
    assert "1\n" not in tail.inner_text()
    lines = timeline.get_by_role("list").first
    expect(lines).to_have_attribute("aria-live", "polite")  # what comes at the end is read out
    assert tail.evaluate("(box) => getComputedStyle(box).fontVariantLigatures") == "none"  # P3-27
    timeline.get_by_role("button", name="Explored").click()
    expect(lines).to_have_attribute("aria-live", "off")  # a person reads further up
    expect(timeline.get_by_role("button", name="Read lamps.py")).to_be_visible()
    axe(page)


def test_a_turns_card_says_what_changed_and_takes_it_back(stage: Stage, visit: Visit) -> None:
    page, _ = walked_quays(stage, visit, "Cards")
    timeline = page.get_by_role("region", name="Timeline")
    card = timeline.get_by_role("region", name="Changes in turn 1")
    expect(card).to_contain_text("1 file changed+1")
    expect(card.get_by_role("list", name="Commands run")).to_contain_text("exit 2")
    card.get_by_role("button", name="Review").click()
    expect(page.get_by_role("tab", name="Changes")).to_have_attribute("aria-selected", "true")
    card.get_by_role("button", name="Undo…").click()
    dialog = page.get_by_role("dialog", name="Restore this checkpoint")
    expect(dialog).to_contain_text("lamps.py")  # what it would change, before it does
    expect(dialog.get_by_role("group")).to_contain_text("west")  # it makes the dialog larger, and the button moves
    dialog.get_by_role("button", name="Restore 1 file").click()
    expect(page.get_by_role("dialog", name="Restored")).to_contain_text("Undo")  # the way back
    assert "west" not in (stage.project / "lamps.py").read_text("utf-8")
    fold = timeline.get_by_role("button", name="Reverted")
    expect(fold).to_be_visible()
    expect(timeline.get_by_text(WALK)).to_have_count(0)
    picture(page, "timeline-reverted")
    fold.click()
    expect(timeline.get_by_text(WALK)).to_be_visible()
    expect(timeline.get_by_role("button", name="Undo…")).to_have_count(0)
    picture(page, "timeline-reverted-open")
    axe(page)


@pytest.mark.long
def test_density_is_switched_by_key_and_by_menu_and_kept(stage: Stage, visit: Visit) -> None:
    page, _ = walked_quays(stage, visit, "Densities")
    timeline = page.get_by_role("region", name="Timeline")
    page.locator("h1").click()
    page.keyboard.press("t")
    expect(page.get_by_role("button", name="Detail: Detailed")).to_be_visible()
    expect(timeline.get_by_role("button", name="Read lamps.py")).to_be_visible()
    expect(timeline.get_by_text("Turn 1 done")).to_be_visible()
    picture(page, "timeline-detailed")
    page.keyboard.press("t")
    expect(page.get_by_role("button", name="Detail: Summary")).to_be_visible()
    expect(timeline).to_contain_text(WALK)
    expect(timeline).to_contain_text("The west lamp is there")
    expect(timeline).not_to_contain_text("I look around first")
    expect(timeline.get_by_role("button", name="Run seq 8")).to_have_count(0)
    picture(page, "timeline-summary")
    page.reload()
    page.get_by_role("button", name="Detail: Summary").click()
    page.get_by_role("menuitemcheckbox", name="Normal").click()
    expect(timeline).to_contain_text("Explored")


@pytest.mark.long
def test_what_is_found_behind_a_line_comes_out(stage: Stage, visit: Visit) -> None:
    page, _ = walked_quays(stage, visit, "Found")
    page.keyboard.press("Control+f")
    page.get_by_role("searchbox", name="Find in this conversation").fill("Nothing to install")
    expect(page.get_by_role("button", name="Read README.md")).to_be_in_viewport()


@pytest.mark.long
def test_an_objective_has_a_sessions_panels_a_true_plan_and_its_answer_once(stage: Stage, visit: Visit) -> None:
    id = stage.house.give("Please summarise the tides", stage.project, allow=["write"])
    stage.house.wait(id, *WELL, timeout_s=60)
    page = visit(stage, f"/objectives/{id}")
    main = page.get_by_role("main")
    expect(main.get_by_text("The notes say: high water at 06:10")).to_have_count(1)
    task = page.get_by_role("tabpanel", name="Goal and plan")
    expect(task).to_contain_text("The model left 2 steps unmarked when it ended.")
    expect(task).not_to_contain_text("Now:")
    page.get_by_role("tab", name="Files").click()
    expect(page.get_by_role("tabpanel", name="Files")).to_contain_text("SUMMARY.md")
    expect(page.get_by_role("tab", name="Terminal")).to_be_visible()
    picture(page, "timeline-objective")
    axe(page)


def test_a_failing_model_is_one_line_with_a_countdown_and_another_model(stage: Stage, visit: Visit) -> None:
    play, number = stage.model.script, count()
    # The third time it asks to be left alone, so that what is said meanwhile stays until it is read.
    stage.model.script = lambda _: replace(BUSY, headers={"retry-after": "600"} if next(number) == 2 else {})
    session = sit_down(stage, "A busy model")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please be busy")
    timeline = page.get_by_role("region", name="Timeline")
    fold = timeline.get_by_role("button", name="Failed 3 times in a row")
    expect(fold).to_be_visible()
    expect(timeline).to_contain_text(re.compile("Retrying in|Retrying now"))
    expect(page.get_by_role("main").get_by_text("Model error", exact=True)).to_be_visible()
    expect(timeline.get_by_role("button", name="Retry", exact=True)).to_have_count(0)  # it tries by itself
    failures = timeline.get_by_text("503 overloaded")
    expect(failures).to_have_count(1)
    picture(page, "timeline-failing")
    axe(page)
    timeline.get_by_role("button", name="Switch model").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    fold.click()
    expect(failures.nth(1)).to_be_visible()
    stage.house.post(f"/sessions/{session}/stop")
    stage.model.script = play


@pytest.mark.long
def test_raw_markdown_never_shows_on_the_way(stage: Stage, visit: Visit) -> None:
    page, session = walked_quays(stage, visit, "Late Markdown")
    held: list[Route] = []
    page.route("**/Markdown-*.js", lambda route: held.append(route))
    page.goto(f"{stage.origin}/sessions/{session}")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("The west lamp is there")
    assert held, "what reads Markdown was not asked for"
    assert "**" not in timeline.inner_text()
    for route in held:
        route.continue_()
    expect(timeline.get_by_role("img", name="Done:")).to_be_visible()
