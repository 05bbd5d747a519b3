"""Home: what is typed there begins a session or an objective; below it what waits, runs and was done."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from stead.domain.ends import WELL
from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit, settled
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.flows.house import use_model
from tests.promises import promise


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model where one objective was done in the folder."""
    with staged(tmp_path_factory.mktemp("stage")) as stage:
        use_model(stage.house, stage.model.openai)
        stage.ids["done"] = stage.house.give("Please tell me of the harbour", stage.project, budget=GENEROUS)
        stage.house.wait(stage.ids["done"], *WELL)
        yield stage


def _id(page: Page) -> str:
    return page.url.rpartition("/")[2]


@promise("UI-1.dashboard")
def test_what_is_typed_on_home_begins_a_session_by_that_name_and_is_answered(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    axe(page)
    page.keyboard.type("Please tell me of the harbour again")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/s_*")
    expect(page.get_by_role("main")).to_contain_text("Trim the wick")
    row = stage.house.get(f"/sessions/{_id(page)}")
    assert (row["title"], row["directory"]) == ("Please tell me of the harbour again", str(stage.project))
    expect(page).to_have_title(re.compile("Please tell me of the harbour again"))
    page.goto(stage.origin)
    settled(page)
    expect(page.get_by_role("region", name="Recent")).to_contain_text("Please tell me of the harbour again")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")


@pytest.mark.long
def test_the_last_folder_and_mode_are_kept_and_the_full_form_gets_what_was_typed(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/")
    page.get_by_role("radio", name="Objective").check(force=True)
    page.get_by_role("button", name="Mode: Auto").click()
    page.get_by_role("radio", name="Read-only").check()
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Goal").fill("Please tell me of the harbour\nand of the sea")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("Please tell me of the harbour\nand of the sea\n")
    page.get_by_role("button", name="More options").click()
    page.wait_for_url("**/objectives/new")
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("Please tell me of the harbour\nand of the sea\n")
    expect(page.get_by_role("radio", name="Read-only")).to_be_checked()
    expect(page.get_by_role("textbox", name="Folder", exact=True)).to_have_value(str(stage.project))
    page.goto(stage.origin)
    settled(page)
    page.get_by_role("textbox", name="Goal").press("Control+Enter")
    page.wait_for_url("**/objectives/s_*")
    opening = stage.house.bodies(_id(page), "session.opened")[0]
    assert opening["profile"] == "readonly"
    stage.house.wait(_id(page), *WELL)


def test_on_a_phone_enter_makes_a_line_and_the_button_sends(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/", PHONE)
    field = page.get_by_role("textbox", name="Message")
    field.fill("Tell it")
    field.press("Enter")
    field.press_sequentially("slowly")
    expect(field).to_have_value("Tell it\nslowly")
    axe(page)
    page.get_by_role("button", name="Send").tap()
    page.wait_for_url("**/sessions/s_*")
    expect(page).to_have_title(re.compile("Tell it"))
    said = page.get_by_role("textbox", name="Message")
    said.fill("One")
    said.press("Enter")
    said.press_sequentially("two")
    expect(said).to_have_value("One\ntwo")
    for place in page.get_by_role("navigation", name="Main").get_by_role("link").all():
        expect(place.locator("svg").first).to_be_visible()  # words alone took longer to find


@pytest.mark.long
def test_home_names_what_runs_however_many_sessions_are_newer(stage: Stage, visit: Visit) -> None:
    old = stage.house.post("/sessions", {"directory": str(stage.project)})["session"]
    stage.house.post(f"/sessions/{old}/messages", {"text": "Please keep watch tonight"})
    stage.house.until(lambda: bool(stage.house.get("/open-runs")["items"]), "a run")
    for _ in range(31):
        stage.house.post("/sessions", {"directory": str(stage.project)})
    page = visit(stage, "/")
    running = page.get_by_role("region", name="In progress")
    expect(running.get_by_role("link", name="Please keep watch tonight")).to_have_attribute("href", f"/sessions/{old}")
    assert "s_" not in running.inner_text()
    page.goto(f"{stage.origin}/objectives/{old}")
    page.wait_for_url(f"**/sessions/{old}")
    stage.house.post(f"/sessions/{old}/stop")


def test_the_composer_offers_commands_and_files_and_escape_stops_what_runs(stage: Stage, visit: Visit) -> None:
    session = stage.house.post("/sessions", {"directory": str(stage.project)})["session"]
    page = visit(stage, f"/sessions/{session}")
    field = page.get_by_role("textbox", name="Message")
    expect(field).to_be_focused()
    page.keyboard.type("/")
    offers = page.get_by_role("listbox", name="Commands")
    expect(offers.get_by_role("option")).to_have_count(4)
    axe(page)
    page.keyboard.type("ren")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Name, tags and goal")).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_have_value("")
    field.press_sequentially("Look at @no")
    files = page.get_by_role("listbox", name="Files")
    expect(files.get_by_role("option")).to_have_text(["notes"])
    field.press("Tab")
    expect(files.get_by_role("option")).to_have_text(["notes/boats.csv", "notes/tides.md"])
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value("Look at @notes/tides.md ")
    field.fill("Please keep watch")
    field.press("Enter")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    field.fill("")
    field.press("Escape")
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("press Resume")
    stage.house.until(lambda: stage.house.get(f"/sessions/{session}")["status"] == "paused", "the stop")
    assert len(stage.house.bodies(session, "session.stopped")) == 1
    page.get_by_role("button", name="Hide the side panel").click()
    page.get_by_role("button", name=re.compile(r"^Context: \d+% used$")).click()
    expect(page.get_by_role("tab", name="Context", selected=True)).to_be_visible()


@pytest.mark.long
def test_a_queued_message_gets_other_words_or_is_withdrawn_above_the_composer(stage: Stage, visit: Visit) -> None:
    session = stage.house.post("/sessions", {"directory": str(stage.project), "allow": ["shell"]})["session"]
    stage.house.post(f"/sessions/{session}/messages", {"text": "Please keep watch"})
    stage.house.until(lambda: bool(stage.house.bodies(session, "tool.started")), "the command")
    page = visit(stage, f"/sessions/{session}")
    field = page.get_by_role("textbox", name="Message", exact=True)
    for words in ("and then rest", "and then sing"):
        field.fill(words)
        field.press("Enter")
        expect(field).to_have_value("")
    queued = page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    expect(queued).to_have_count(2)
    axe(page)
    queued.nth(1).get_by_role("button", name="Withdraw").click()
    expect(queued).to_have_count(1)
    queued.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Queued message").fill("and then sleep")
    page.get_by_role("button", name="Save").click()
    expect(queued).to_contain_text("and then sleep")

    def waiting() -> list[str]:
        return [row["text"] for row in stage.house.get(f"/sessions/{session}/waiting")["items"]]

    stage.house.until(lambda: waiting() == ["and then sleep"], "the other words")
    stage.house.post(f"/sessions/{session}/stop")
