"""What is typed while a part of the page, or an answer of the daemon, is still on its way stays where it was meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import FilePayload, Page, Route, expect

from tests.browser.chrome import Visit, is_live, settled
from tests.browser.stage import Stage
from tests.browser.test_session_page import SAY, say, sit_down
from tests.browser.watch import Watch
from tests.browser.watching import question, status_of
from tests.fakes.pictures import png

PALETTE = "Search and commands"


def held(page: Page, pattern: str, method: str = "GET") -> Callable[[], None]:
    """Keep these requests waiting; gives what lets them go on, and those that come later too."""
    waiting: list[Route] | None = []

    def keep(route: Route) -> None:
        if waiting is not None and route.request.method == method:
            waiting.append(route)
        else:
            route.continue_()

    def release() -> None:
        nonlocal waiting
        routes, waiting = waiting, None
        for route in routes or []:
            route.continue_()

    page.route(re.compile(pattern), keep)
    return release


def asking(stage: Stage, goal: str) -> tuple[str, str]:
    """An objective that asks; gives its id and the question's."""
    session = stage.house.give(goal, stage.project)
    return session, question(stage, session)


def test_letters_after_the_palettes_key_are_the_palettes_while_its_code_is_fetched(walked: Stage, visit: Visit) -> None:
    session, approval = asking(walked, "Please light the lamps")
    page = visit(walked)
    release = held(page, r"/assets/Overlays-[^/]*\.js$")
    page.goto(f"{walked.origin}/objectives/{session}")
    is_live(page)
    expect(page.get_by_role("article").get_by_role("button", name="Allow once")).to_be_enabled()
    page.keyboard.press("Control+k")
    page.keyboard.type("Seaa")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    release()
    palette = page.get_by_role("combobox", name=PALETTE)
    expect(palette).to_have_value("Sea")
    expect(palette).to_be_focused()
    page.keyboard.type("rch")
    expect(palette).to_have_value("Search")
    page.keyboard.press("Escape")
    expect(palette).to_have_count(0)
    expect(page.get_by_role("textbox", name=SAY)).to_have_value("")
    assert status_of(walked, approval) == "pending"
    walked.house.post(f"/sessions/{session}/stop", {"why": "enough"})


def test_a_press_on_the_page_calls_off_a_sheet_that_is_still_fetched(walked: Stage, visit: Visit) -> None:
    page = visit(walked)
    release = held(page, r"/assets/Overlays-[^/]*\.js$")
    page.goto(walked.origin)
    is_live(page)
    page.keyboard.press("Control+k")
    prompt = page.locator("main textarea")
    prompt.click()
    page.keyboard.type("sea")
    release()
    expect(page.locator("[id^=toasts-] [aria-label=Notifications]")).to_have_count(1)  # it has loaded
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(prompt).to_have_value("sea")
    prompt.fill("")


def test_a_session_that_comes_late_takes_no_focus_from_the_palette(walked: Stage, visit: Visit) -> None:
    session = sit_down(walked, "Late")
    page = visit(walked)
    release = held(page, rf"/api/v1/sessions/{session}$")
    page.goto(f"{walked.origin}/sessions/{session}")
    is_live(page)
    page.keyboard.press("Control+k")
    palette = page.get_by_role("combobox", name=PALETTE)
    expect(palette).to_be_focused()
    page.keyboard.type("ti")
    release()
    expect(page.locator("main textarea")).to_have_count(1)
    page.keyboard.type("des")
    expect(palette).to_have_value("tides")
    expect(page.locator("main textarea")).to_have_value("")


def test_a_reason_half_written_stays_when_the_inbox_cannot_be_read_again(
    walked: Stage, visit: Visit, watch: Watch
) -> None:
    session, approval = asking(walked, "Please light the lamps")
    for path in (f"/approvals?at={approval}", f"/approvals/{approval}"):
        page = visit(walked, path)
        page.get_by_role("article").get_by_role("button", name="Deny").click()
        reason = page.get_by_role("textbox", name="Reason (shown to the model)")
        reason.fill("not at ni")
        watch.expect(500, "/api/v1/approvals")
        watch.expect_console("500")
        page.route("**/api/v1/approvals*/**", lambda route: route.fulfill(status=500, json={}))
        page.route("**/api/v1/approvals?*", lambda route: route.fulfill(status=500, json={}))
        other, _ = asking(walked, "Please count the boats")
        expect(page.get_by_role("main").get_by_role("alert").first).to_be_visible()
        reason.press_sequentially("ght")
        expect(reason).to_have_value("not at night")
        walked.house.post(f"/sessions/{other}/stop", {"why": "enough"})
        page.close()
    walked.house.post(f"/sessions/{session}/stop", {"why": "enough"})


def test_what_is_written_and_attached_while_a_message_is_sent_stays(walked: Stage, visit: Visit) -> None:
    session = sit_down(walked, "Quick hands")
    page = visit(walked, f"/sessions/{session}")
    release = held(page, r"/messages$", "POST")
    say(page, "Please tell me of the harbour")
    field = page.get_by_role("textbox", name=SAY)
    field.fill("and of the quay")
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Attach images or PDFs").click()
    choosing.value.set_files([FilePayload(name="quay.png", mimeType="image/png", buffer=png(40, 30))])
    attached = page.get_by_role("list", name="Attached files")
    expect(attached).to_contain_text("quay.png")
    release()
    expect(page.get_by_role("main")).to_contain_text("Turn 1 done")
    expect(field).to_have_value("and of the quay")
    expect(attached).to_contain_text("quay.png")


def test_what_is_written_at_home_while_a_session_begins_is_there_on_the_way_back(walked: Stage, visit: Visit) -> None:
    walked.house.post("/sessions", {"directory": str(walked.project)})
    page = visit(walked)
    release = held(page, r"/api/v1/sessions$", "POST")
    prompt = page.locator("main textarea")
    prompt.fill("Please tell me of the harbour")
    prompt.press("Enter")
    expect(page.get_by_role("button", name="Starting")).to_be_visible()
    prompt.fill("and then of the quay")
    release()
    page.wait_for_url("**/sessions/s_*")
    page.goto(walked.origin)
    settled(page)
    expect(prompt).to_have_value("and then of the quay")
