"""Defects that a review of the page found, each as the person would meet it; see the names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import Look, Visit, settled
from tests.browser.pictures import picture
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.browser.test_session_page import bodies, say, sit_down
from tests.browser.watch import Watch
from tests.flows.house import use_model


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens work of its own.

    ``ids``: ``failing``, a session, and ``failed``, an objective, whose model fails again and again from the start on.
    """
    with staged(tmp_path_factory.mktemp("defects")) as one:
        use_model(one.house, one.model.openai)
        one.house.post("/rules", {"text": "never run `git push`", "confirmed": True})
        one.ids["failing"] = sit_down(one, "A failing model")
        one.house.post(f"/sessions/{one.ids['failing']}/messages", {"text": "Please be busy"})
        one.ids["failed"] = one.house.give("Please be busy", one.project, budget=GENEROUS)
        yield one


def test_what_lies_over_what_is_named_and_no_number_of_a_component() -> None:
    source = Path(__file__).parents[2] / "frontend" / "src"
    numbered = [
        f"{file.name}: {found[0]}"
        for file in source.rglob("*.tsx")
        for found in re.finditer(r"\bz-[1-9]\d+\b", file.read_text("utf-8"))
    ]
    assert numbered == []


def on_top(page: Page, box: Locator) -> bool:
    """Whether what stands in the middle of a box is the box itself, or in it."""
    shown: bool = box.evaluate(
        """(box) => {
          const at = box.getBoundingClientRect()
          const top = document.elementFromPoint(at.left + at.width / 2, at.top + 12)
          return top !== null && box.contains(top)
        }"""
    )
    return shown


@pytest.mark.long
def test_a_dialog_lies_over_whatever_was_open_before_it(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories")
    page.get_by_role("button", name="The wick is trimmed on Fridays.").first.click()
    drawer = page.locator("[role=dialog]").first  # hidden from others while a dialog lies over it
    expect(drawer).to_contain_text("The wick is trimmed on Fridays.")
    assert on_top(page, drawer)
    foot = {drawer.get_by_role("button", name=name).bounding_box()["y"] for name in ("Delete…", "Pin", "Edit")}  # type: ignore[index]  # they are seen
    assert len(foot) == 1, "its buttons stand in one line"
    drawer.get_by_role("button", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog", name="Edit")
    expect(dialog).to_be_visible()
    picture(page, "defect-layers-drawer")
    assert on_top(page, dialog)
    assert not on_top(page, drawer), "the drawer is dimmed"
    dialog.get_by_role("combobox").first.click()
    choices = page.get_by_role("listbox")
    expect(choices).to_be_visible()
    assert on_top(page, choices), "what a dialog opens lies over it"


def test_what_stops_or_deletes_for_good_is_red_where_it_is_confirmed(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/usage")
    page.get_by_role("button", name="Stop everything").click()
    button = page.get_by_role("dialog").get_by_role("button", name="Stop everything")
    ink = "(element) => getComputedStyle(element).backgroundColor"
    cancel = page.get_by_role("dialog").get_by_role("button", name="Cancel")
    assert button.evaluate(ink) != cancel.evaluate(ink)
    axe(page)
    picture(page, "defect-stop")
    page.goto(f"{stage.origin}/sessions/{sit_down(stage, 'To be deleted')}")
    settled(page)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete this session?")
    assert dialog.get_by_role("button", name="Delete…").evaluate(ink) != dialog.get_by_role(
        "button", name="Cancel"
    ).evaluate(ink)


def copied(page: Page, text: str) -> None:
    """Wait until the clipboard has this: a press only begins to put it there."""
    page.wait_for_function("(text) => navigator.clipboard.readText().then((has) => has === text)", arg=text)


def test_signing_in_comes_back_to_the_page_that_was_wanted(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(401, "^/api/")
    wanted = f"{stage.origin}/sessions/{sit_down(stage, 'Wanted')}?at=3"
    context = visit.stranger(stage)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(wanted)
    page.get_by_role("button", name="Copy the command").click()
    copied(page, "stead open")
    axe(page)
    picture(page, "defect-sign-in")
    page.goto("about:blank")
    page.goto(stage.link())
    settled(page)
    assert page.url == wanted
    page.goto(f"{stage.origin}/")
    settled(page)
    assert page.url == f"{stage.origin}/", "once"


@pytest.mark.long
def test_a_fork_shows_what_it_goes_on_from_and_where_that_is(some: Stage, visit: Visit) -> None:
    body = {"at": 0, "directory": "", "title": "Another way"}
    fork = some.house.post(f"/sessions/{some.ids['desk']}/fork", body)["session"]
    page = visit(some, f"/sessions/{fork}")
    expect(page).to_have_title(re.compile("Another way"))
    timeline = page.get_by_role("region", name="Timeline")
    for said in ("Please add the west lamp", "The west lamp is in the list now.", "Nobody was at the quay."):
        expect(timeline.get_by_text(said)).to_be_visible()
    expect(timeline).to_contain_text(re.compile(r"Forked from.*\d+ messages"))
    timeline.get_by_role("link", name="The harbour's code").click()
    page.wait_for_url(f"**/sessions/{some.ids['desk']}")


@pytest.mark.long
def test_a_card_is_as_wide_as_the_conversation_on_a_very_wide_screen(some: Stage, visit: Visit) -> None:
    page = visit(some, f"/sessions/{some.ids['asking']}", Look(2560, 1300))
    timeline = page.get_by_role("region", name="Timeline")
    card = timeline.get_by_role("article").bounding_box()
    message = timeline.get_by_role("listitem").filter(has_text="Please count the boats").bounding_box()
    assert card is not None and message is not None
    assert message["width"] - card["width"] < 80, (card, message)
    picture(page, "defect-wide")


@pytest.mark.long
def test_an_address_of_no_request_says_so_and_leads_to_the_others(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(404, "/approvals/")
    page = visit(stage, "/approvals/a_0000000000000000")
    expect(page.get_by_role("main")).to_contain_text("Request not found")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("link", name="All approvals").click()
    page.wait_for_url("**/approvals")


@pytest.mark.long
def test_an_empty_search_says_what_it_searches(some: Stage, visit: Visit) -> None:
    page = visit(some, "/search")
    expect(page.get_by_role("main")).to_contain_text("Search sessions and objectives")
    axe(page)


@pytest.mark.long
def test_a_reply_is_copied_and_colours_of_a_command_are_no_alarm(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Colours", allow=["shell"])
    page = visit(stage, f"/sessions/{session}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    say(page, "Please colour the list")
    timeline = page.get_by_role("region", name="Timeline")
    reply = timeline.get_by_text("It is red.")
    reply.hover()
    timeline.get_by_role("button", name="Copy the reply").last.click()
    copied(page, "It is red.")
    run = timeline.get_by_role("button", name="Run printf")
    expect(run).to_contain_text("exit 0")
    run.click()
    expect(timeline).to_contain_text("Terminal formatting was removed.")
    expect(timeline).not_to_contain_text("hidden parts")
    expect(timeline).not_to_contain_text("hosts")  # an empty list says nothing
    expect(timeline).not_to_contain_text("call_")
    picture(page, "defect-colours")
    axe(page)


@pytest.mark.long
def test_a_terminal_has_the_focus_when_it_opens(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Terminal")
    page = visit(stage, f"/sessions/{session}")
    page.get_by_role("tab", name="Terminal").click()
    page.get_by_role("button", name="Open a terminal").click()
    expect(page.locator(".xterm textarea")).to_be_focused()


@pytest.mark.long
def test_the_palette_offers_what_the_page_can_do_memories_and_single_settings(some: Stage, visit: Visit) -> None:
    page = visit(some, f"/sessions/{some.ids['desk']}")
    here = page.get_by_role("group", name="This page")
    page.keyboard.press("Control+k")
    for name in (
        "Write a message",
        "Review changes",
        "Switch model",
        "Rename, tags and goal…",
        "Archive",
        "Fork from here",
    ):
        expect(here.get_by_role("option", name=name)).to_be_visible()
    for name in ("Export as Markdown", "Delete…", "Close", "Create a checkpoint", "Find in this conversation"):
        expect(here.get_by_role("option", name=name)).to_be_attached()
    axe(page)
    picture(page, "defect-palette-session")
    page.keyboard.type("switch model")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Switch model")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("wick is")
    page.get_by_role("option", name="The wick is trimmed on Fridays.").click()
    expect(page.get_by_role("dialog")).to_contain_text("The wick is trimmed on Fridays.")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(here.get_by_role("option", name="Import")).to_be_visible()  # what the page's head has
    expect(here.get_by_role("option", name="Fork from here")).to_have_count(0)
    page.keyboard.type("spending limit")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings?section=limits")


@pytest.mark.long
def test_a_session_is_worked_by_keys_and_archived_from_its_menu(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "By keys", allow=["shell"])
    page = visit(stage, f"/sessions/{session}")
    page.keyboard.press("Escape")
    panel = page.get_by_role("region", name="Session panels")
    expect(panel).to_be_visible()
    page.keyboard.press("p")
    expect(panel).to_have_count(0)
    page.keyboard.press("p")
    page.keyboard.press("m")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    say(page, "Please keep watch")
    expect(page.get_by_role("main")).to_contain_text("running")
    page.keyboard.press("Control+.")
    expect(page.get_by_role("status", name="State")).to_contain_text("Paused")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Archive").click()
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.get_by_role("menuitem", name="Move out of the archive")).to_be_visible()
    assert bodies(stage, session, "session.labelled")[0]["archived"] is True
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/memories")


def test_a_blocked_call_says_why_and_leads_to_the_rule(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Blocked", allow=["shell"])
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please push it")
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("A standing rule of the person forbids it: 'never run `git push`'")
    expect(timeline.get_by_role("button", name="Run git status")).to_contain_text("exit")  # another command of git
    picture(page, "defect-blocked")
    timeline.get_by_role("link", name="Rules").click()
    page.wait_for_url("**/rules")


@pytest.mark.long
def test_a_new_session_and_a_folder_with_git_show_what_matters_first(stage: Stage, visit: Visit) -> None:
    (stage.project / ".git").mkdir(exist_ok=True)
    session = sit_down(stage, "New here")
    page = visit(stage, f"/sessions/{session}")
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("Write a message below to start.")
    rows = page.get_by_role("treeitem")
    expect(rows.last).to_contain_text(".git")
    expect(rows.first).to_contain_text("notes")
    picture(page, "defect-new-session")
    (stage.project / ".git").rmdir()


@pytest.mark.long
def test_the_journal_and_the_list_of_memories_say_what_they_show(some: Stage, visit: Visit) -> None:
    long = "The lighthouse keeps its spare mantles, wicks, oil and the log of each watch behind the third door. " * 3
    some.house.post("/memories", {"items": [{"text": long.strip()}], "level": "global", "directory": ""})
    page = visit(some, "/memories?view=journal")
    lines = page.get_by_role("region", name="day").or_(page.get_by_role("main"))
    expect(lines.first).to_contain_text("lamp · lit · since")
    assert "---" not in page.get_by_role("main").inner_text()
    expect(page.get_by_role("main")).not_to_contain_text("untrusted source")
    page.goto(f"{some.origin}/memories")
    settled(page)
    expect(page.get_by_role("button", name=long.strip())).to_be_attached()  # its name has the words that are seen


@pytest.mark.long
def test_what_draws_replies_is_fetched_with_the_page_and_not_after_it(some: Stage, visit: Visit) -> None:
    page = visit(some, f"/sessions/{some.ids['desk']}")
    expect(page.get_by_role("region", name="Timeline").get_by_role("heading", name="The harbour")).to_be_visible()
    began, page_there = page.evaluate(
        """() => {
          const of = (name) => performance.getEntriesByType("resource").find((one) => one.name.includes(name))
          return [of("/Markdown-").startTime, of("/SessionPage-").responseEnd]
        }"""
    )
    assert began < page_there


def test_an_error_without_words_of_its_own_says_its_kind_and_code(stage: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(409, "/model$")
    page = visit(stage, f"/sessions/{sit_down(stage, 'The same model')}")
    page.get_by_role("button", name="Model acme/scripted; switch model").click()
    dialog = page.get_by_role("dialog", name="Switch model")
    dialog.get_by_role("button", name="Switch", exact=True).click()
    note = dialog.get_by_role("alert")
    expect(note).to_contain_text("Not possible right now")
    expect(note).to_contain_text("it uses these models already")
    expect(note).to_contain_text("Code: conflict")
    axe(page)
    picture(page, "defect-error")


def test_after_a_models_failure_the_turn_is_tried_again_by_a_button(stage: Stage, visit: Visit) -> None:
    session = stage.ids["failing"]
    stage.house.until(lambda: bool(bodies(stage, session, "turn.ended")), "the turn to fail", timeout_s=60)
    page = visit(stage, f"/sessions/{session}")
    timeline = page.get_by_role("region", name="Timeline")
    expect(page.get_by_role("status", name="State")).to_contain_text("Failed")
    expect(timeline.get_by_role("button", name="Switch model")).to_be_visible()
    picture(page, "defect-failed-model")
    axe(page)
    expect(timeline.get_by_role("link", name="Check the provider")).to_be_visible()
    timeline.get_by_role("button", name="Retry").click()
    expect(timeline.get_by_role("button", name="Retry")).to_have_count(0)
    stage.house.until(lambda: bool(bodies(stage, session, "session.resumed")), "the turn to go on")
    assert [body["again"] for body in bodies(stage, session, "session.resumed")] == [True]
    assert len(bodies(stage, session, "message.received")) == 1, "nobody said anything"


def test_an_objective_that_its_model_failed_gets_another_model_before_it_is_tried_again(
    stage: Stage, visit: Visit
) -> None:
    id = stage.ids["failed"]
    stage.house.wait(id, "failed", timeout_s=60)
    page = visit(stage, f"/objectives/{id}")
    outcome = page.get_by_role("region", name="Failed")
    expect(outcome.get_by_role("button", name="Retry")).to_be_visible()
    picture(page, "defect-failed-objective")
    outcome.get_by_role("button", name="Switch model").click()
    dialog = page.get_by_role("dialog", name="Switch model")
    dialog.get_by_role("textbox", name="Model").fill("another")
    dialog.get_by_role("button", name="Switch", exact=True).click()
    expect(dialog).to_have_count(0)
    settled(page)
    assert stage.house.get(f"/objectives/{id}")["chain"][0]["model"] == "another"
