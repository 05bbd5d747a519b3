"""Answering in the page: nothing hidden, nothing cut, nothing by accident, and the first answer counts everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import keyboard
from tests.browser.axe import axe
from tests.browser.chrome import DESKTOP_DARK, PHONE, Visit
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch
from tests.flows.house import Json, use_model


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model, in which nothing waits yet."""
    with staged(tmp_path_factory.mktemp("stage")) as stage:
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


@pytest.mark.promise("UI-2.page")
def test_what_hides_is_shown_and_what_was_cut_must_be_opened_before_anything_is_allowed(
    house: Stage, visit: Visit
) -> None:
    row = ask(house, "Please paint the quay")
    page = visit(house, f"/approvals/{row['id']}")
    expect(shown(page)).to_contain_text("U+202E")
    expect(shown(page)).to_contain_text("U+200B")
    for name in ("Allow once", "Allow for this session", "Always allow in this project"):
        expect(button(page, name)).to_be_disabled()
    expect(button(page, "Deny")).to_be_enabled()
    shown(page).focus()
    page.keyboard.press("Shift+A")
    expect(shown(page)).to_contain_text("Review the full content to continue")
    assert status(house, row) == "pending"
    button(page, "Show all").click()
    axe(page)
    button(page, "Allow once").click()
    expect(shown(page)).to_contain_text("Allowed in the browser.")
    assert status(house, row) == "given"


def test_what_is_risky_rests_a_moment_before_the_eyes(house: Stage, visit: Visit) -> None:
    row = ask(house, "Please light the lamps")
    assert row["risk"] == "high"
    page = visit(house, "/approvals")
    page.clock.install()
    page.goto(f"{house.origin}/approvals/{row['id']}")
    expect(shown(page)).to_contain_text("You can allow it in a moment")
    expect(button(page, "Allow once")).to_be_disabled()
    page.clock.run_for(1500)
    expect(button(page, "Allow once")).to_be_enabled()
    button(page, "Deny").click()
    button(page, "Deny").click()
    expect(shown(page)).to_contain_text("Denied in the browser.")


def test_no_enter_allows_anything_and_a_card_takes_its_keys_only_while_it_has_the_focus(
    house: Stage, visit: Visit
) -> None:
    row = ask(house, "Please ring the bell")
    page = visit(house, f"/approvals/{row['id']}")
    expect(button(page, "Allow once")).to_be_enabled()
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+A")
    shown(page).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("a")
    button(page, "Deny").focus()
    page.keyboard.press("Shift+A")
    assert status(house, row) == "pending"
    shown(page).focus()
    page.keyboard.press("Shift+A")
    expect(shown(page)).to_contain_text("Allowed in the browser.")
    assert status(house, row) == "given"


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
    expect(phone.get_by_role("tabpanel").get_by_text("All clear")).to_be_visible()
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
