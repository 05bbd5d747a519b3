"""What models are told always, on its page: written, switched, moved, compared, removed and had back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.axe import axe, small_targets, wider_than_the_window
from tests.browser.chrome import DESKTOP, PHONE, Visit
from tests.browser.stage import Stage, staged
from tests.browser.watch import Watch
from tests.browser.watching import says
from tests.flows.house import Json, use_model
from tests.flows.sitting import sit_down
from tests.promises import promise

PLAIN: Json = {"kind": "custom", "title": "Tides", "text": "- Give each tide in metres.\n- Never in feet."}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Stage]:
    """A home with a model, and the directives that Stead brings."""
    with staged(tmp_path) as stage:
        use_model(stage.house, stage.model.openai)
        yield stage


def line(page: Page, title: str) -> Locator:
    """The row of a directive."""
    named = page.get_by_role("heading", name=title, level=2, exact=True)
    return page.get_by_role("list", name="Directives, in order").get_by_role("listitem").filter(has=named)


def titles(stage: Stage) -> list[str]:
    return [row["directive"]["title"] for row in stage.house.get("/directives")["items"]]


def write(stage: Stage, **fields: object) -> str:
    return str(stage.house.post("/directives", {**PLAIN, **fields})["text"])


@promise("MEM-9.directives", "MEM-9.preview")
def test_a_directive_is_written_beside_how_it_reads_and_the_next_turn_is_told_it(home: Stage, visit: Visit) -> None:
    desk = sit_down(home.house, home.project)
    desk.turn("Now tell me of the harbour")
    page = visit(home, "/directives")
    page.get_by_role("button", name="New directive").click()
    dialog = page.get_by_role("dialog", name="New directive")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_contain_text("Enter a title.")
    expect(dialog).to_contain_text("Enter the instructions.")
    dialog.get_by_role("textbox", name="Title").fill("Tides")
    dialog.get_by_role("textbox", name="Text, in Markdown").fill("Give **each tide** in metres.\u202e<img src=x>")
    reads = dialog.get_by_role("region", name="Preview")
    expect(reads.locator("strong")).to_have_text("each tide")
    expect(reads).to_contain_text("U+202E")
    assert reads.locator("img").count() == 0
    expect(dialog).to_contain_text("of them from this directive.")
    axe(page)
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_have_count(0)
    prompt = page.get_by_role("table", name="System prompt")
    expect(prompt.get_by_role("row").filter(has_text="Tides")).to_be_visible()
    expect(prompt.get_by_role("row").filter(has_text="Built-in prompt")).to_be_visible()
    desk.turn("Now tell me of the harbour")
    assert "Give **each tide** in metres." in desk.bodies("instructions.set")[-1]["text"]
    page.goto(f"{home.origin}/sessions/{desk.id}")
    says(page, "Directives changed; the model follows the new ones from here on")


@pytest.mark.long
def test_the_order_is_changed_with_the_keyboard_and_by_hand_and_the_focus_stays(home: Stage, visit: Visit) -> None:
    before = titles(home)
    page = visit(home, "/directives")
    expect(line(page, before[0]).get_by_role("button", name="Move “Soul” down")).to_be_disabled()
    up = line(page, before[3]).get_by_role("button", name=f"Move “{before[3]}” up")
    up.focus()
    page.keyboard.press("Enter")
    says(page, f"“{before[3]}” is now at place 3 of {len(before)}")
    assert titles(home) == [before[0], before[1], before[3], before[2]]
    expect(up).to_be_focused()
    line(page, before[1]).drag_to(line(page, before[2]))
    says(page, f"“{before[1]}” is now at place 4 of {len(before)}")
    assert titles(home) == [before[0], before[3], before[2], before[1]]


@pytest.mark.long
def test_one_is_switched_on_and_removed_and_had_back(home: Stage, visit: Visit) -> None:
    write(home, enabled=False)
    page = visit(home, "/directives")
    switch = line(page, "Tides").get_by_role("switch", name="Enable “Tides”")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    says(page, "version 2")
    line(page, "Tides").get_by_role("button", name="Remove “Tides”").click()
    expect(line(page, "Tides")).to_have_count(0)
    assert "Tides" not in titles(home)
    page.get_by_role("button", name="Undo").click()
    expect(line(page, "Tides")).to_have_count(1)
    assert titles(home)[-1] == "Tides"


@promise("MEM-9.history", "MEM-9.templates")
@pytest.mark.long
def test_a_template_is_used_and_versions_are_compared_and_written_anew(home: Stage, visit: Visit) -> None:
    page = visit(home, "/directives")
    page.get_by_role("button", name="Use a template").click()
    chosen = page.get_by_role("dialog", name="Templates")
    axe(page)
    chosen.get_by_role("button", name="Use template: “Short answers”").click()
    page.get_by_role("dialog", name="New directive").get_by_role("button", name="Save", exact=True).click()
    line(page, "Short answers").get_by_role("button", name="Edit “Short answers”").click()
    dialog = page.get_by_role("dialog", name="Edit directive")
    text = dialog.get_by_role("textbox", name="Text, in Markdown")
    first = text.input_value()
    text.fill(first + "\n- In English.")
    dialog.get_by_role("textbox", name="What changed").fill("the language")
    dialog.get_by_role("button", name="Save", exact=True).click()
    line(page, "Short answers").get_by_role("button", name="Versions of “Short answers”").click()
    versions = page.get_by_role("dialog", name="Versions of “Short answers”")
    expect(versions).to_contain_text("the language")
    expect(versions).to_contain_text("1 line added, none removed")
    versions.get_by_role("button", name="Compare two versions").click()
    expect(
        versions.get_by_role("group", name=re.compile("Compare two versions: Short answers, from version 1 to 2"))
    ).to_contain_text("- In English.")
    axe(page)
    versions.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Version 1 is in effect again.")).to_be_visible()
    row = home.house.get("/directives")["items"][-1]["directive"]
    assert (row["text"], row["version"]) == (first, 3)


def test_what_was_not_saved_is_there_again_and_a_change_made_elsewhere_is_not_written_over(
    home: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect(409, "/directives/")
    id = write(home)
    page = visit(home, "/directives")
    change = line(page, "Tides").get_by_role("button", name="Edit “Tides”")
    change.click()
    dialog = page.get_by_role("dialog", name="Edit directive")
    dialog.get_by_role("textbox", name="Text, in Markdown").fill("- In fathoms.")
    page.keyboard.press("Escape")
    home.house.client().put(f"/directives/{id}", {**PLAIN, "text": "- In yards."})
    expect(line(page, "Tides")).to_contain_text("version 2")
    change.click()
    expect(dialog).to_contain_text("Your unsaved draft was restored.")
    expect(dialog.get_by_role("textbox", name="Text, in Markdown")).to_have_value("- In fathoms.")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("has changed since version 1")
    assert home.house.get("/directives")["items"][-1]["directive"]["text"] == "- In yards."
    dialog.get_by_role("button", name="Discard the draft").click()
    expect(dialog.get_by_role("textbox", name="Text, in Markdown")).to_have_value("- In yards.")


def test_a_sentence_is_made_a_rule_only_by_the_person(home: Stage, visit: Visit) -> None:
    write(home, kind="behavioral_rules", title="Guard rails", text="- Never change infra/\n- Be kind.")
    page = visit(home, "/directives")
    line(page, "Guard rails").get_by_role("button", name="Edit “Guard rails”").click()
    offers = page.get_by_role("dialog").get_by_role("region", name="These could be rules")
    expect(offers.get_by_role("listitem")).to_have_count(1)
    assert home.house.get("/rules")["items"] == []
    offers.get_by_role("button", name="Make it a rule").click()
    expect(page.get_by_text("The rule is in effect.")).to_be_visible()
    assert [rule["decision"] for rule in home.house.get("/rules")["items"]] == ["deny"]
    expect(offers).to_have_count(0)


@pytest.mark.long
def test_what_was_said_before_there_was_a_place_to_show_it_is_shown_then(home: Stage, visit: Visit) -> None:
    held: list[Route] = []
    visit.context(home, DESKTOP).route("**/Overlays-*.js", lambda route: held.append(route))
    write(home, kind="behavioral_rules", title="Guard rails", text="- Never change infra/")
    page = visit(home, "/directives")
    line(page, "Guard rails").get_by_role("button", name="Edit “Guard rails”").click()
    offers = page.get_by_role("dialog").get_by_role("region", name="These could be rules")
    offers.get_by_role("button", name="Make it a rule").click()
    expect(offers).to_have_count(0)
    assert held
    for route in held:
        route.continue_()
    expect(page.get_by_text("The rule is in effect.")).to_be_visible()


@pytest.mark.long
def test_on_a_phone_all_of_it_fits_and_can_be_hit(home: Stage, visit: Visit) -> None:
    write(home, title="Tides of the outer harbour and of the inner one, in metres and never in feet")
    page = visit(home, "/directives", PHONE)
    assert not wider_than_the_window(page)
    assert not small_targets(page)
    line(page, "Soul").get_by_role("button", name="Edit “Soul”").click()
    expect(page.get_by_role("dialog", name="Edit directive")).to_be_visible()
    axe(page)
    assert not wider_than_the_window(page)


@pytest.mark.long
def test_without_directives_and_without_an_answer_the_page_says_so(home: Stage, visit: Visit, watch: Watch) -> None:
    page = visit(home, "/directives")
    watch.expect(503, "/directives$")
    page.route("**/api/v1/directives", lambda route: route.fulfill(status=503, json=AWAY))
    page.reload()
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("The disk is full")
    page.unroute("**/api/v1/directives")
    page.get_by_role("button", name="Try again").click()
    expect(line(page, "Soul")).to_be_visible()
    for row in home.house.get("/directives")["items"]:
        home.house.client().command("DELETE", f"/directives/{row['directive']['id']}")
    says(page, "No directives")


AWAY = {"error": {"code": "storage", "message": "The disk is full; free some space"}}
