"""Answering in the page: nothing hidden, nothing cut, nothing by accident, and the first answer counts everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from stead.domain.ends import WELL
from tests.browser import keyboard
from tests.browser.axe import axe
from tests.browser.chrome import DESKTOP_DARK, PHONE, Visit, settled
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch
from tests.browser.watching import rests
from tests.flows.house import Json, use_model


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model, in which nothing waits yet."""
    with staged(tmp_path_factory.mktemp("stage")) as stage:
        use_model(stage.house, stage.model.openai)
        yield stage


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Stage]:
    """The same for one test, which counts what waits."""
    with staged(tmp_path / "stage") as stage:
        use_model(stage.house, stage.model.openai)
        yield stage


def ask(stage: Stage, goal: str) -> Json:
    """Give a goal whose play asks for something; gives the question."""
    session = stage.house.give(goal, stage.project, budget=GENEROUS)
    stage.house.until(lambda: bool(stage.house.get("/approvals", session=session)["items"]), f"{goal} to ask")
    row: Json = stage.house.get("/approvals", session=session)["items"][0]
    return row


def shown(page: Page) -> Locator:
    """The card of the page."""
    return page.get_by_role("article")


def button(page: Page, name: str) -> Locator:
    """One of the card's answers."""
    return shown(page).get_by_role("button", name=name, exact=True)


def status(stage: Stage, row: Json) -> str:
    return str(stage.house.get(f"/approvals/{row['id']}")["status"])


def read_on(page: Page) -> None:
    """Scroll to the end of what would change."""
    box = shown(page).get_by_role("group", name=re.compile("^Changes to"))
    box.evaluate("element => element.scrollTo(0, element.scrollHeight)")


@pytest.mark.promise("UI-2.page")
def test_what_hides_is_shown_and_what_is_out_of_sight_must_be_scrolled_to_before_anything_is_allowed(
    house: Stage, visit: Visit
) -> None:
    row = ask(house, "Please paint the quay")
    page = visit(house, f"/approvals/{row['id']}")
    expect(shown(page)).to_contain_text("U+202E")
    expect(shown(page)).to_contain_text("U+200B")
    for name in ("Allow once", "Allow for this session", "Always…", "Edit"):
        expect(button(page, name)).to_be_disabled()
    expect(button(page, "Deny")).to_be_enabled()
    for key in ("a", "s", "e"):
        page.keyboard.press(key)
    expect(shown(page)).to_contain_text("Scroll to the end to allow it")
    assert status(house, row) == "pending"
    axe(page)
    read_on(page)
    button(page, "Allow once").click()
    expect(shown(page)).to_contain_text("Allowed in the browser.")
    assert status(house, row) == "given"


@pytest.mark.long
def test_a_command_is_read_at_a_glance_and_all_else_is_folded(house: Stage, visit: Visit) -> None:
    row = ask(house, "Please test the harbour")
    page = visit(house, f"/approvals/{row['id']}")
    expect(shown(page).get_by_role("heading")).to_have_text("python3 -m unittest")
    box = shown(page).bounding_box()
    assert box is not None
    assert box["height"] <= 220
    for word in ("timeout_s", row["digest"][:16], row["rule"], "chosen by the model"):
        expect(shown(page)).not_to_contain_text(word)
    button(page, "Details").click()
    for word in ("hosts [], timeout_s 120", row["digest"][:16], row["rule"], "chosen by the model"):
        expect(shown(page)).to_contain_text(word)
    axe(page)


@pytest.mark.long
def test_a_change_of_a_file_is_shown_as_its_diff_among_the_lines_around_it(house: Stage, visit: Visit) -> None:
    row = ask(house, "Please add the west lamp")
    page = visit(house, f"/approvals/{row['id']}")
    expect(shown(page).get_by_role("heading")).to_contain_text("lamps.py")
    expect(shown(page).get_by_role("heading")).to_contain_text("+1 \u22121")
    expect(shown(page).get_by_role("group", name=re.compile("added.*lamps.py"))).to_contain_text(
        "def lit(name: str) -> bool:"
    )
    rests(page)
    row = ask(house, "Please correct the tides")
    page.goto(f"{house.origin}/approvals/{row['id']}")
    diff = shown(page).get_by_role("group", name=re.compile("added.*tides.md"))
    expect(diff).to_contain_text("- low at 12:25")
    expect(diff).to_contain_text("- low at 12:52")
    expect(diff).to_contain_text("The line break at the end is removed")
    expect(shown(page).get_by_role("heading")).to_contain_text("+2 \u22121")


def test_a_question_rests_a_moment_before_the_eyes_and_a_risky_one_longer(house: Stage, visit: Visit) -> None:
    ask(house, "Please ring the bell early")
    row = ask(house, "Please light the lamps")
    assert row["risk"] == "high"
    page = visit(house, "/approvals")
    page.clock.install()
    page.reload()
    settled(page)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)  # it would go on by itself
    page.get_by_role("list", name="Pending").get_by_role("link", name=re.compile("touch lit")).click()
    expect(shown(page).get_by_role("heading")).to_contain_text("touch lit")
    expect(button(page, "Allow once")).to_be_disabled()
    page.clock.run_for(1000)
    expect(button(page, "Allow once")).to_be_disabled()
    page.keyboard.press("a")
    page.clock.run_for(500)
    expect(button(page, "Allow once")).to_be_enabled()
    assert status(house, row) == "pending"
    button(page, "Deny").click()
    button(page, "Deny").click()
    house.house.until(lambda: status(house, row) == "denied", "the no")


def test_letters_answer_the_card_and_never_while_somebody_types_or_chooses(house: Stage, visit: Visit) -> None:
    row = ask(house, "Please ring the bell")
    page = visit(house, f"/objectives/{row['session']}")
    expect(button(page, "Allow once")).to_be_enabled()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Message").click()
    page.keyboard.type("As Deeds")
    page.keyboard.press("Shift+A")
    page.keyboard.press("Control+K")
    page.get_by_role("combobox").wait_for()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    assert status(house, row) == "pending"
    expect(page.get_by_role("textbox", name="Message")).to_have_value("As DeedsA")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url("**/approvals")
    assert status(house, row) == "pending"
    page.goto(f"{house.origin}/objectives/{row['session']}")
    expect(button(page, "Allow once")).to_be_enabled()
    page.keyboard.press("d")
    expect(page.get_by_role("textbox", name="Reason (shown to the model)")).to_be_focused()
    page.keyboard.press("Escape")
    expect(shown(page)).to_be_focused()
    page.keyboard.press("a")
    house.house.until(lambda: status(house, row) == "given", "the yes")


def test_a_call_is_edited_on_its_card_and_runs_as_it_was_edited(house: Stage, visit: Visit) -> None:
    row = ask(house, "Please count the boats")
    page = visit(house, f"/approvals/{row['id']}")
    expect(button(page, "Edit")).to_be_enabled()
    page.keyboard.press("e")
    form = page.get_by_role("dialog", name="Edit and run")
    command = form.get_by_role("textbox", name="command")
    expect(command).to_be_focused()
    expect(form.get_by_role("button", name="Run")).to_be_disabled()
    form.get_by_role("textbox", name="timeout_s").fill("soon")
    expect(form).to_contain_text("Invalid JSON")
    form.get_by_role("textbox", name="timeout_s").fill("60")
    command.fill("wc -l notes/boats.csv > edited.txt")
    axe(page)
    form.get_by_role("button", name="Run").click()
    expect(shown(page)).to_contain_text("Edited by you")
    house.house.until((house.project / "edited.txt").exists, "the edited command to have run")
    assert not (house.project / "counted.txt").exists()


@pytest.mark.long
def test_the_sheet_offers_one_question_after_the_other_with_the_focus_on_its_card(bare: Stage, visit: Visit) -> None:
    first, second = ask(bare, "Please ring the bell"), ask(bare, "Please weigh the boats")
    page = visit(bare, "/settings")
    page.keyboard.press("g")
    page.keyboard.press("q")
    sheet = page.get_by_role("dialog", name="Approval request")
    expect(shown(page)).to_be_focused()
    expect(sheet.get_by_role("button", name="Allow once")).to_be_enabled()
    page.keyboard.press("a")
    expect(sheet).to_contain_text("wc -c")
    expect(shown(page)).to_be_focused()
    assert (status(bare, first), status(bare, second)) == ("given", "pending")
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    bare.house.until(lambda: status(bare, second) == "denied", "the no")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    third = ask(bare, "Please light the lamps")
    page.goto(f"{bare.origin}/objectives/{third['session']}")
    expect(button(page, "Deny")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("q")
    expect(shown(page)).to_be_focused()
    expect(sheet).to_have_count(0)


@pytest.mark.long
def test_the_inbox_is_walked_by_keys_goes_on_by_itself_and_answers_what_is_alike_at_once(
    bare: Stage, visit: Visit
) -> None:
    goals = ("ring the bell", "weigh the boats", "weigh the nets", "weigh the ropes", "write the log")
    rows = [ask(bare, f"Please {goal}") for goal in goals]
    page = visit(bare, "/approvals")
    heading = shown(page).get_by_role("heading")
    lines = page.get_by_role("list", name="Pending").get_by_role("link")
    expect(lines).to_have_count(5)
    expect(heading).to_contain_text("touch bell")
    page.keyboard.press("j")
    expect(heading).to_contain_text("wc -c")
    page.keyboard.press("k")
    expect(heading).to_contain_text("touch bell")
    expect(button(page, "Allow once")).to_be_enabled()
    page.keyboard.press("a")
    expect(heading).to_contain_text("wc -c")
    expect(shown(page)).to_be_focused()
    expect(button(page, "Allow these 3 commands")).to_be_enabled()
    expect(shown(page)).to_contain_text("Please weigh the ropes")
    axe(page)
    page.keyboard.press("Shift+A")
    expect(heading).to_contain_text("log.md")
    given = [status(bare, row) for row in rows]
    assert given == ["given"] * 4 + ["pending"]
    page.get_by_role("tab", name="History").click()
    answered = page.get_by_role("tabpanel").get_by_role("listitem")
    expect(answered).to_have_count(4)
    expect(answered.filter(has_text="touch bell")).to_contain_text("in the browser")
    times = [bare.house.get(f"/approvals/{row['id']}")["answered_ms"] for row in rows]
    assert all(at > row["requested_ms"] for at, row in zip(times[:4], rows[:4], strict=True))
    assert times[4] == 0


@pytest.mark.parametrize(
    "places",
    [
        ("/sessions/{elsewhere}",),
        pytest.param(("/", "/settings", "/memories?view=journal", "/sessions/{elsewhere}"), marks=pytest.mark.long),
    ],
    ids=["one", "all"],
)
def test_a_phone_allows_in_two_taps_from_anywhere_and_has_the_whole_diff(
    bare: Stage, visit: Visit, places: tuple[str, ...]
) -> None:
    elsewhere = bare.house.post("/sessions", {"directory": str(bare.project)})["session"]
    for place in (one.format(elsewhere=elsewhere) for one in places):
        row = ask(bare, f"Please write the log for {place}")
        page = visit(bare, place, PHONE)
        page.get_by_role("navigation", name="Main").get_by_role("link", name=re.compile("^Inbox")).tap()
        expect(button(page, "Allow once")).to_be_disabled()
        expect(button(page, "Allow once")).to_be_in_viewport()
        for line in ("day 1", "day 30", "day 60"):
            shown(page).get_by_text(line, exact=False).first.scroll_into_view_if_needed()
        expect(shown(page).get_by_text("day 60")).to_be_in_viewport()
        page.mouse.wheel(0, 2000)
        button(page, "Allow once").tap()
        bare.house.until(lambda row=row: status(bare, row) == "given", "the yes")  # type: ignore[misc]  # of this round
        bare.house.wait(str(row["session"]), *WELL)
        (bare.project / "log.md").unlink()
        page.close()


@pytest.mark.long
def test_a_phone_has_the_other_requests_below_the_card(bare: Stage, visit: Visit) -> None:
    rows = [ask(bare, f"Please {goal}") for goal in ("write the log", "ring the bell", "light the lamps")]
    page = visit(bare, "/approvals", PHONE)
    axe(page)
    page.get_by_role("list", name="Pending").get_by_role("link", name=re.compile("touch bell")).tap()
    expect(shown(page).get_by_role("heading")).to_contain_text("touch bell")
    expect(shown(page).get_by_role("heading")).to_be_in_viewport()
    button(page, "Allow once").tap()
    expect(shown(page).get_by_role("heading")).to_contain_text("touch lit")
    expect(shown(page).get_by_role("heading")).to_be_in_viewport()
    assert [status(bare, row) for row in rows] == ["pending", "given", "pending"]


def test_the_first_answer_counts_and_every_other_tab_browser_and_terminal_says_so(house: Stage, visit: Visit) -> None:
    row = ask(house, "Please ring the bell again")
    path = f"/approvals/{row['id']}"
    here, there, phone = visit(house, path), visit(house, path, DESKTOP_DARK), visit(house, "/approvals", PHONE)
    assert "bell" in house.house.cli("approvals").stdout
    keyboard.press(there, "button", "Deny")
    keyboard.fill(there, "textbox", "Reason (shown to the model)", "not at night")
    keyboard.press(there, "button", "Deny")
    for page in (here, there):
        expect(shown(page)).to_contain_text("Denied in the browser.")
        expect(shown(page).get_by_role("button", name="Allow once")).to_have_count(0)
    expect(phone.get_by_role("link").filter(has_text="touch bell")).to_have_count(0)
    assert house.house.get(f"/approvals/{row['id']}")["status"] == "denied"


def test_an_answer_that_comes_too_late_is_told_so_and_runs_nothing(house: Stage, visit: Visit, watch: Watch) -> None:
    row = ask(house, "Please ring the bell at last")
    page = visit(house, f"/approvals/{row['id']}")
    expect(button(page, "Allow once")).to_be_enabled()
    watch.expect(409, r"/decision$")
    watch.expect_console(r"409")
    page.route(
        "**/api/v1/approvals/*", lambda route: route.abort() if route.request.method == "GET" else route.continue_()
    )
    watch.expect_console(r"ERR_FAILED")
    house.house.post(
        f"/approvals/{row['id']}/decision", {"answer": "deny", "digest": row["digest"], "reason": "", "whole": True}
    )
    button(page, "Allow once").click()
    expect(shown(page).get_by_role("alert")).to_contain_text("too late")
    assert status(house, row) == "denied"
    assert not (house.project / "bell").exists()
