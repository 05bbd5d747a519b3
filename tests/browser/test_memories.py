"""What is remembered, on its page: found, read with its evidence, corrected, pinned, taken back, told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.browser.axe import axe, wider_than_the_window
from tests.browser.chrome import DESKTOP_DARK, PHONE, Visit, settled
from tests.browser.keyboard import tab_to
from tests.browser.plays import FERRY
from tests.browser.seeds import remember
from tests.browser.stage import Stage
from tests.browser.watching import says
from tests.flows.house import Json
from tests.flows.sitting import Sitting


def row(page: Page, text: str) -> Locator:
    """A memory in the list."""
    return page.get_by_role("list", name="memories").get_by_role("listitem").filter(has_text=text).first


def opened(page: Page, text: str) -> Locator:
    """A memory beside the list."""
    row(page, text).get_by_role("button", name=f"Open “{text}”").click()
    return page.get_by_role("dialog", name="Memory")


def close(page: Page) -> None:
    """Whatever lies above the page."""
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def choose(page: Page, field: str, option: str) -> None:
    """Choose from a list of choices."""
    page.get_by_role("combobox", name=field).click()
    page.get_by_role("option", name=option).click()


def live(stage: Stage, words: str) -> list[Json]:
    """The live memories with these words."""
    return [item["memory"] for item in stage.house.get("/memories", words=words)["items"]]


@pytest.mark.promise("MEM-8.search")
def test_memories_are_found_by_meaning_and_by_words_and_narrowed(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories")
    expect(page.get_by_role("status").filter(has_text="5 memories")).to_be_visible()
    page.get_by_role("searchbox", name="Search memories").fill("when does the ferry leave")
    says(page, "1 found, best first")
    found = row(page, FERRY)
    expect(found.get_by_role("list", name="Matched by")).to_contain_text("its words")
    expect(found).to_contain_text("quill")
    says(page, "Semantic search is unavailable")
    page.get_by_role("searchbox", name="Search memories").fill("lantern jaw")
    says(page, "No matches")
    page.get_by_role("main").get_by_role("button", name="By words").click()
    page.get_by_role("searchbox", name="Search memories").fill("wick")
    says(page, "1 memory")
    expect(row(page, "The wick is trimmed on Fridays.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    choose(page, "Kind", "person")
    expect(row(page, "Ada Wharf keeps the lighthouse.")).to_be_visible()
    says(page, "1 memory")
    page.get_by_role("button", name="Clear filters").click()
    choose(page, "Status", "Archived")
    expect(row(page, "The quay is closed in winter.")).to_contain_text("archived")
    page.reload()
    settled(page)
    expect(row(page, "The quay is closed in winter.")).to_be_visible()


@pytest.mark.promise("MEM-1.provenance")
@pytest.mark.long
def test_the_words_that_a_memory_rests_on_are_one_press_away_and_lead_to_where_they_were_said(
    some: Stage, visit: Visit
) -> None:
    page = visit(some, "/memories")
    drawer = opened(page, FERRY)
    expect(drawer.locator("mark")).to_have_text(FERRY)
    expect(drawer).to_contain_text("Please keep the ferry in mind.")
    expect(drawer).to_contain_text("ferry.sunday = nine")
    axe(page)
    drawer.get_by_role("link", name="Ferries").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Ferries")
    expect(page.get_by_role("main")).to_contain_text("Please keep the ferry in mind.")


@pytest.mark.long
def test_what_was_held_before_is_shown_with_what_changed(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories")
    drawer = opened(page, "The wick is trimmed on Fridays.")
    versions = drawer.get_by_role("region", name="History")
    expect(versions.get_by_role("listitem")).to_have_count(2)
    expect(versions.get_by_role("listitem").nth(0)).to_contain_text("superseded")
    expect(versions.locator("del")).to_contain_text("Mondays.")
    expect(versions.locator("ins")).to_contain_text("Fridays.")


@pytest.mark.promise("MEM-8.edit", "UI-1.memories")
def test_a_memory_is_added_and_other_words_take_its_place(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/memories")
    says(page, "No memories yet")
    page.get_by_role("banner").or_(page.get_by_role("main")).get_by_role("button", name="Add").first.click()
    dialog = page.get_by_role("dialog", name="Add a memory")
    dialog.get_by_role("button", name="Save memory").click()
    expect(dialog).to_contain_text("Enter the memory.")
    dialog.get_by_role("textbox", name="Memory").fill("The crane is serviced in March.")
    dialog.get_by_role("radio", name="One folder", exact=False).first.click()
    dialog.get_by_role("button", name="Save memory").click()
    expect(dialog).to_contain_text("Choose a folder.")
    dialog.get_by_role("textbox", name="Folder").fill(str(walked.project))
    axe(page)
    dialog.get_by_role("button", name="Save memory").click()
    expect(dialog).to_have_count(0)
    drawer = opened(page, "The crane is serviced in March.")
    drawer.get_by_role("button", name="Edit").click()
    edit = page.get_by_role("dialog", name="Edit a memory")
    edit.get_by_role("textbox", name="Memory").fill("The crane is serviced in April.")
    edit.get_by_role("checkbox", name="Pin").click()
    edit.get_by_role("button", name="Save").click()
    drawer = page.get_by_role("dialog", name="Memory")
    expect(drawer).to_contain_text("The crane is serviced in April.")
    expect(drawer).to_contain_text("pinned")
    (memory,) = live(walked, "crane")
    assert memory["text"] == "The crane is serviced in April."
    assert memory["pinned"]
    assert memory["scope"]["level"] == "workspace"
    (old,) = memory["supersedes"]
    assert walked.house.get(f"/memories/{old}")["status"] == "superseded"


@pytest.mark.long
def test_many_are_pinned_and_taken_back_at_once_and_had_back(walked: Stage, visit: Visit) -> None:
    ids = remember(walked, *({"text": f"Buoy {number} is green."} for number in range(4)))
    page = visit(walked, "/memories?q=buoy&by=words")
    says(page, "4 memories")
    page.get_by_role("button", name="Select all 4 shown").click()
    says(page, "4 selected")
    page.get_by_role("main").get_by_role("button", name="Pin", exact=True).click()
    expect(row(page, "Buoy 1 is green.")).to_contain_text("pinned")
    assert all(memory["pinned"] for memory in live(walked, "buoy"))
    for number in (0, 2):
        row(page, f"Buoy {number} is green.").get_by_role("checkbox").click()
    page.get_by_role("main").get_by_role("button", name="Archive").click()
    says(page, "2 memories")
    assert [walked.house.get(f"/memories/{id}")["status"] for id in ids] == ["retired", "live", "retired", "live"]
    toast = page.get_by_role("dialog").filter(has_text="2 archived")
    expect(toast.get_by_role("button", name="Dismiss")).to_be_visible()
    axe(page)
    toast.get_by_role("button", name="Undo").click()
    says(page, "4 memories")
    assert {walked.house.get(f"/memories/{id}")["status"] for id in ids} == {"live"}


@pytest.mark.long
def test_the_list_is_worked_through_by_keys_alone(walked: Stage, visit: Visit) -> None:
    first, second, third = remember(walked, *({"text": f"Rope {number} is long."} for number in range(3)))
    page = visit(walked, "/memories?q=rope&by=words")
    tab_to(page, "button", "Open “Rope 2 is long.”")
    for key in ("ArrowDown", "j", "k"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Open “Rope 1 is long.”")).to_be_focused()
    page.keyboard.press("p")
    expect(row(page, "Rope 1")).to_contain_text("pinned")
    assert walked.house.get(f"/memories/{second}")["memory"]["pinned"]
    page.keyboard.press("x")
    says(page, "1 selected")
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Edit a memory")
    expect(dialog.get_by_role("textbox", name="Memory")).to_have_value("Rope 1 is long.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Open “Rope 1 is long.”")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Open “Rope 0 is long.”")).to_be_focused()
    page.keyboard.press("Delete")
    expect(row(page, "Rope 0")).to_have_count(0)
    assert walked.house.get(f"/memories/{first}")["status"] == "retired"
    tab_to(page, "button", "Open “Rope 2 is long.”", back=True)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Memory")).to_contain_text(third)


@pytest.mark.promise("MEM-3.preview")
def test_what_a_session_would_be_told_is_shown_line_by_line_and_nothing_is_counted(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories?view=told")
    page.get_by_role("textbox", name="Message").fill("When is the wick trimmed?")
    page.get_by_role("textbox", name="Folder").fill(str(some.project))
    page.get_by_role("button", name="Show").click()
    told = page.get_by_role("list", name="Recalled")
    expect(told).to_contain_text("Answer in British English.")
    wick = told.get_by_role("listitem").filter(has_text="The wick is trimmed on Fridays.").first
    expect(wick).to_contain_text("its words")
    expect(told).not_to_contain_text("Mondays")
    expect(page.get_by_role("list", name="Retrieval")).to_contain_text("Meaning: unavailable")
    begun = page.get_by_role("region", name="Files loaded at the start")
    begun.get_by_role("button", name="user.md").click()
    expect(begun).to_contain_text("Answer in British English.")
    page.evaluate("scrollTo(0, 0)")  # what is half under the line on top is no smaller for it
    axe(page)
    assert some.house.get(f"/memories/{some.ids['wick']}")["uses"] == 0
    wick.get_by_role("link", name="a memory").click()
    expect(page.get_by_role("dialog", name="Memory")).to_contain_text(some.ids["wick"])


@pytest.mark.long
def test_the_journal_is_read_a_day_at_a_time_by_keys(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories?view=journal")
    entry = page.get_by_role("main").get_by_role("listitem").filter(has_text="Ferries")
    expect(entry).to_contain_text("I keep it in mind.")
    day = page.get_by_role("main").get_by_role("heading", level=2)
    today = day.inner_text()
    page.keyboard.press("ArrowLeft")
    says(page, "Nothing ended here on this day")
    assert day.inner_text() != today
    page.keyboard.press("ArrowRight")
    entry.get_by_role("link", name="Ferries").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Ferries")


@pytest.mark.promise("MEM-8.analytics")
def test_how_memory_grows_is_drawn_and_stands_in_a_table_too(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories?view=figures")
    says(page, "5 active memories of 7 created.")
    expect(page.get_by_role("img", name="Memories created, 30 days. The most was 7")).to_be_visible()
    days = page.get_by_role("grid", name="days")
    expect(days.get_by_role("row").nth(1)).to_contain_text("7")
    page.get_by_role("radio", name="Turns indexed").click()
    expect(page.get_by_role("img", name="Turns indexed, 30 days")).to_be_visible()
    page.get_by_role("tab", name="By kind").click()
    expect(page.get_by_role("grid", name="Kind").get_by_role("row").filter(has_text="preference")).to_contain_text("1")
    assert wider_than_the_window(page) == []


@pytest.mark.long
def test_a_session_says_what_it_was_told_of_memory_and_leads_to_it(some: Stage, visit: Visit) -> None:
    body = {"directory": str(some.project), "title": "A question of ferries"}
    desk = Sitting(some.house, str(some.house.post("/sessions", body)["session"]))
    desk.turn("When does the ferry leave on Sundays? Tell me of the harbour")
    page = visit(some, f"/sessions/{desk.id}")
    page.get_by_role("button", name=re.compile(r"Recalled \d+ memor")).first.click()
    says(page, "found by its words")
    page.get_by_role("link", name=f"Show “{FERRY}”").click()
    expect(page.get_by_role("dialog", name="Memory")).to_contain_text(FERRY)


@pytest.mark.long
def test_what_is_chosen_is_saved_as_a_file(some: Stage, visit: Visit) -> None:
    page = visit(some, "/memories")
    row(page, FERRY).get_by_role("checkbox").click()
    text = saved(page, "As JSON lines")
    (line,) = [json.loads(line) for line in text.splitlines()]
    assert line["text"] == FERRY
    assert "- The ferry leaves at nine on Sundays." in saved(page, "As Markdown")


def saved(page: Page, form: str) -> str:
    """What the page saves of what is chosen."""
    page.get_by_role("main").get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=form).click()
    file: Download = download.value
    return Path(file.path()).read_text("utf-8")


@pytest.mark.parametrize("look", [DESKTOP_DARK, PHONE], ids=lambda look: look.name)
@pytest.mark.long
def test_a_memory_and_its_forms_keep_nobody_out(some: Stage, visit: Visit, look: object) -> None:
    page = visit(some, "/memories", look)  # type: ignore[arg-type]  # a Look; pytest's parameters have no types
    drawer = opened(page, "The wick is trimmed on Fridays.")
    expect(drawer.locator("ins")).to_be_visible()
    axe(page)
    drawer.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("dialog", name="Edit a memory")).to_be_visible()
    axe(page)
    assert wider_than_the_window(page) == []


@pytest.mark.promise("MEM-7.forget")
@pytest.mark.long
def test_what_is_forgotten_for_good_is_shown_first_and_leaves_a_receipt(walked: Stage, visit: Visit) -> None:
    (id,) = remember(walked, {"text": "The harbour master's dog is called Pitch."})
    page = visit(walked, "/memories?q=Pitch&by=words")
    drawer = opened(page, "The harbour master's dog is called Pitch.")
    drawer.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete this permanently?")
    expect(dialog).to_contain_text("The harbour master's dog is called Pitch.")
    expect(dialog.get_by_role("button", name="Delete permanently")).to_be_disabled()
    axe(page)
    dialog.get_by_role("checkbox", name="reviewed what will be deleted").click()
    dialog.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_role("dialog", name="Memory")).to_have_count(0)
    says(page, "No matches")
    page.goto(f"{walked.origin}/memories?view=forgotten")
    settled(page)
    receipts = page.get_by_role("grid", name="receipts")
    expect(receipts.get_by_role("row").nth(1)).to_contain_text("nothing")
    (receipt,) = walked.house.get("/memories/receipts")["items"]
    assert receipt["receipt"]["memories"] == [id]
    receipts.get_by_role("row").nth(1).click()
    expect(page.get_by_role("dialog", name="Receipt")).to_contain_text(receipt["receipt"]["signature"])


@pytest.mark.promise("MEM-8.export")
def test_a_file_of_memories_is_taken_in_and_the_same_come_out(walked: Stage, visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text("# Harbour\n\n- Moor at the north quay.\n- Never feed the gulls.\n", "utf-8")
    page = visit(walked, "/memories?q=quay&by=words")
    page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog", name="Import memories")
    dialog.get_by_role("button", name="Import").click()
    expect(dialog).to_contain_text("Choose a file, or paste its text.")
    dialog.get_by_label("Choose a file").set_input_files(file)
    expect(dialog.get_by_role("textbox", name="Name of the file")).to_have_value("CLAUDE.md")
    axe(page)
    dialog.get_by_role("button", name="Import").click()
    expect(dialog).to_have_count(0)
    expect(row(page, "Moor at the north quay.")).to_contain_text("imported")
    (memory,) = live(walked, "gulls")
    assert (memory["origin"], memory["pinned"]) == ("imported", False)


@pytest.mark.promise("UI-1.memories")
@pytest.mark.long
def test_what_was_said_is_worked_in_when_asked_and_a_run_is_taken_back(fresh: Stage, visit: Visit) -> None:
    body = {"directory": str(fresh.project), "title": "Habits"}
    desk = Sitting(fresh.house, str(fresh.house.post("/sessions", body)["session"]))
    desk.turn("I prefer tea without sugar. Please tell me of the harbour")
    page = visit(fresh, "/memories?view=runs")
    page.get_by_role("button", name="Process now").click()
    runs = page.get_by_role("grid", name="processing runs")
    expect(runs.get_by_role("row").nth(1)).to_contain_text("rules")
    (tea,) = live(fresh, "tea")
    runs.get_by_role("row").nth(1).click()
    dialog = page.get_by_role("dialog", name="Processing run")
    expect(dialog.get_by_role("listitem").filter(has_text="tea without sugar")).to_contain_text("created")
    axe(page)
    dialog.get_by_role("button", name="Revert run").click()
    expect(dialog).to_have_count(0)
    assert fresh.house.get(f"/memories/{tea['id']}")["status"] == "retired"
    runs.get_by_role("row").filter(has_text="reverted").click()
    expect(dialog.get_by_role("listitem").filter(has_text="tea without sugar")).to_contain_text("archived")
    expect(dialog.get_by_role("button", name="Revert run")).to_have_count(0)
    close(page)
    runs.get_by_role("row").filter(has_text="rules").last.click()
    expect(dialog).to_contain_text("Already reverted.")


@pytest.mark.long
def test_a_proposed_soul_is_read_refused_and_accepted(fresh: Stage, visit: Visit) -> None:
    for soul in ("Be as calm as a lighthouse.", "Be as quick as a tern."):
        fresh.house.post("/memories/import", {"name": "soul.md", "text": soul})
    page = visit(fresh, "/memories")
    waiting = page.get_by_role("region", name="Needs your decision")
    calm = waiting.get_by_role("article").filter(has_text="calm as a lighthouse")
    expect(calm).to_contain_text("Change soul.md")
    expect(calm).to_contain_text("A file soul.md was imported.")
    calm.get_by_role("button", name="What would change").click()
    expect(calm.locator("ins").filter(has_text="lighthouse")).to_have_count(1)
    expect(calm.locator("del").first).to_be_visible()
    axe(page)
    calm.get_by_role("button", name="Reject").click()
    expect(calm).to_have_count(0)
    waiting.get_by_role("button", name="Accept").click()
    expect(waiting).to_have_count(0)
    (soul,) = [
        row["directive"] for row in fresh.house.get("/directives")["items"] if row["directive"]["kind"] == "soul"
    ]
    assert soul["text"] == "Be as quick as a tern."
