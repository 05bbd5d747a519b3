"""What is on every page: where to go, what waits, what happened, and the one button that stops everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from stead.domain.ends import WELL
from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit, settled
from tests.browser.seeds import GENEROUS
from tests.browser.stage import Stage, staged
from tests.flows.house import use_model
from tests.promises import promise


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model and one objective that is done."""
    with staged(tmp_path_factory.mktemp("stage")) as stage:
        use_model(stage.house, stage.model.openai)
        stage.ids["done"] = stage.house.give("Please tell me of the harbour", stage.project, budget=GENEROUS)
        stage.house.wait(stage.ids["done"], *WELL)
        yield stage


@promise("UI-3.keyboard")
def test_the_palette_leads_everywhere_and_does_things_without_a_mouse(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/usage")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search and commands")
    expect(field).to_be_focused()
    axe(page)
    page.keyboard.type("audit")
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit")
    settled(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("tell me of the har")
    expect(page.get_by_role("option", name="Please tell me of the harbour")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/objectives/{stage.ids['done']}")
    page.keyboard.press("Control+k")
    page.keyboard.type("dark theme")
    expect(page.get_by_role("option", name="Dark theme", exact=True)).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)


@pytest.mark.long
def test_a_sheet_that_is_still_loading_is_called_off_by_escape(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/usage")
    held: list[Route] = []
    page.route("**/assets/Overlays-*.js", lambda route: held.append(route))
    page.reload()
    expect(page.get_by_role("navigation").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    for route in held:
        route.continue_()
    expect(page.locator("[id^=toasts-] [aria-label=Notifications]")).to_have_count(1)  # it has loaded
    expect(page.get_by_role("dialog")).to_have_count(0)


@promise("UI-3.keyboard")
def test_keys_go_to_pages_can_be_changed_and_do_nothing_while_one_types(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/objectives")
    settled(page)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    axe(page)
    sheet.get_by_role("button", name="Change keys for: Go to Usage").click()
    page.keyboard.press("F8")
    expect(sheet.get_by_role("button", name="Change keys for: Go to Usage")).to_contain_text("F8")
    page.keyboard.press("Escape")
    page.keyboard.press("F8")
    page.wait_for_url("**/usage")
    page.goto(stage.origin + "/objectives/new")
    settled(page)
    page.get_by_role("textbox", name="Goal").fill("")
    page.keyboard.type("go on?")
    expect(page.get_by_role("textbox", name="Goal")).to_have_value("go on?")
    assert page.url.endswith("/objectives/new")


@promise("UI-1.dashboard")
def test_home_says_what_waits_what_runs_and_what_happened(stage: Stage, visit: Visit) -> None:
    session = stage.house.give("Please ring the bell", stage.project, budget=GENEROUS)
    stage.house.until(lambda: bool(stage.house.get("/approvals", session=session)["items"]), "a question")
    page = visit(stage, "/")
    main = page.get_by_role("main")
    expect(main.get_by_role("region", name="Needs your approval")).to_contain_text("touch bell")
    expect(main.get_by_role("region", name="Needs your approval")).to_contain_text("U+2066")
    expect(main.get_by_role("region", name="Recent")).to_contain_text("Please tell me of the harbour")
    main.get_by_role("button", name="Answer").first.click()
    page.get_by_role("button", name="Deny").click()
    axe(page)
    page.get_by_role("button", name="Deny").click()
    expect(main.get_by_role("region", name="Needs your approval")).to_contain_text("all caught up")


def test_a_question_comes_to_whatever_page_is_open_and_stays_in_the_list_of_notices(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/usage")
    expect(page.get_by_role("region", name="Notifications")).to_be_attached()
    session = stage.house.give("Please ring the bell once", stage.project, budget=GENEROUS)
    page.get_by_role("button", name="Review").click()
    sheet = page.get_by_role("dialog", name="Approval request")
    axe(page)
    sheet.get_by_role("button", name="Allow once").click()
    expect(sheet).to_have_count(0)
    stage.house.wait(session, *WELL)
    page.get_by_role("button", name="Notifications").click()
    notices = page.get_by_role("dialog", name="Notifications")
    expect(notices).to_contain_text("Run a shell command in quill")
    expect(notices).to_contain_text("Answered: Please ring the bell once")


def test_everything_is_stopped_from_any_page_and_not_by_one_press(stage: Stage, visit: Visit) -> None:
    session = stage.house.give("Please keep watch", stage.project, budget=GENEROUS)
    page = visit(stage, "/settings", PHONE)
    page.get_by_role("button", name="Stop everything").click()
    sheet = page.get_by_role("dialog", name="Stop everything?")
    assert stage.house.get(f"/objectives/{session}")["status"] != "paused"
    sheet.get_by_role("button", name="Stop everything").click()
    expect(sheet).to_have_count(0)
    stage.house.wait(session, "paused")
    expect(page.get_by_role("button", name="Stop everything")).to_have_count(0)
    stage.house.post(f"/objectives/{session}/cancel")


@promise("UI-3.responsive")
def test_a_phone_reaches_every_page_by_its_menu(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/", PHONE)
    page.get_by_role("button", name="All pages").click()
    places = page.get_by_role("navigation", name="All pages")
    axe(page)
    places.get_by_role("link", name="Usage").click()
    page.wait_for_url("**/usage")
    expect(places).to_have_count(0)


@pytest.mark.long
def test_the_rail_has_the_newest_work_by_folder_with_its_state_and_leads_there(stage: Stage, visit: Visit) -> None:
    folder = stage.project.parent / "ropes"
    folder.mkdir()
    session = stage.house.post("/sessions", {"directory": str(folder)})["session"]
    page = visit(stage, "/usage")
    rail = page.get_by_role("navigation", name="Main")
    link = rail.get_by_role("region", name="ropes").get_by_role("link")
    expect(link).to_contain_text("Idle: ropes")
    stage.house.post(f"/sessions/{session}/messages", {"text": "Please tell me of the harbour once more"})
    expect(link).to_contain_text("Please tell me of the harbour once more")
    expect(rail.get_by_role("region", name="quill")).to_contain_text("Answered: Please tell me of the harbour")
    link.click()
    page.wait_for_url(f"**/sessions/{session}")
    expect(link).to_have_attribute("aria-current", "page")
    axe(page)
    stage.house.post(f"/sessions/{session}/stop")
    page.goto(f"{stage.origin}/usage")
    settled(page)
    page.keyboard.press("Control+Shift+O")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()


@pytest.mark.long
def test_security_and_memory_are_one_place_each_with_their_pages_as_tabs(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Security").click()
    page.wait_for_url("**/audit")
    tabs = page.get_by_role("navigation", name="Security")
    tabs.get_by_role("link", name="Network").click()
    page.wait_for_url("**/network")
    settled(page)
    expect(tabs.get_by_role("link", name="Network")).to_have_attribute("aria-current", "page")
    axe(page)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Memory").click()
    page.get_by_role("navigation", name="Memory").get_by_role("link", name="Directives").click()
    page.wait_for_url("**/directives")


@promise("UI-3.responsive")
@pytest.mark.long
def test_content_begins_at_the_same_edge_on_every_page(stage: Stage, visit: Visit) -> None:
    paths = ["/", "/sessions", "/objectives", "/approvals", "/audit", "/rules", "/secrets", "/network", "/memories"]
    paths += ["/directives", "/usage", "/settings", "/search", "/sessions/new", f"/objectives/{stage.ids['done']}"]
    page = visit(stage, "/")
    edges = {}
    for path in paths:
        page.goto(stage.origin + path)
        settled(page)
        box = page.get_by_role("main").get_by_role("heading", level=1).bounding_box()
        assert box is not None
        edges[path] = round(box["x"])
    assert set(edges.values()) == {264}, edges
