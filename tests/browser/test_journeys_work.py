"""Work that is followed and held on the page: a session with its diff and terminal, STOP, a budget that is used up."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from stead.domain.ends import WELL
from tests.browser.chrome import Visit, settled
from tests.browser.hands import Hands
from tests.browser.stage import Stage
from tests.browser.watching import question, says
from tests.promises import promise

TERMINAL = re.compile("^Terminal")


@promise("SES-1.diff", "SES-1.terminal")
def test_a_session_changes_code_and_its_diff_and_a_terminal_show_it(walked: Stage, visit: Visit, hands: Hands) -> None:
    (walked.project / "lamps.py").write_text('LAMPS = ["north", "south"]\n', "utf-8")
    page = visit(walked, "/sessions/new")
    hands.write(page, "Folder", str(walked.project))
    hands.tick(page, "radio", "Ask before changes")
    hands.press(page, "button", "Open session")
    page.wait_for_url(re.compile(r"/sessions/s_\w+$"))
    settled(page)
    id = page.url.rpartition("/")[2]
    hands.write(page, "Message", "Please add the west lamp")
    hands.press(page, "button", "Send")
    for _ in range(2):  # the edit, then the command
        asked = question(walked, id)
        hands.press(page, "button", "Allow once")
        walked.house.until(lambda asked=asked: walked.house.get(f"/approvals/{asked}")["status"] == "given", "a yes")  # type: ignore[misc]  # the question of this round
    says(page, "The west lamp is in the list now.")
    assert '"west"' in (walked.project / "lamps.py").read_text("utf-8")
    hands.press(page, "tab", "Changes")
    panel = page.get_by_role("tabpanel", name="Changes")
    expect(panel).to_contain_text("lamps.py")
    hands.press(page, "tab", "Terminal")
    hands.press(page, "button", "Open a terminal")
    terminal = page.get_by_role("textbox", name=TERMINAL)
    hands.enter(page, TERMINAL, page.get_by_role("tabpanel", name="Terminal").locator(".xterm-screen"))
    page.keyboard.type("cat lamps.py > from-the-terminal\n")
    walked.house.until((walked.project / "from-the-terminal").exists, "the terminal to write")
    (walked.project / "from-the-terminal").unlink()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(terminal).not_to_be_focused()


@pytest.mark.long
def test_stop_ends_what_runs_at_once_and_it_can_go_on(walked: Stage, visit: Visit, hands: Hands) -> None:
    id = walked.house.give("Please keep watch", walked.project, allow=["shell"])
    walked.house.until(lambda: bool(walked.house.bodies(id, "tool.started")), "the command to run", timeout_s=60)
    page = visit(walked, f"/objectives/{id}")
    hands.press(page, "button", re.compile("^Stop$"))
    walked.house.wait(id, "paused")
    assert walked.house.bodies(id, "session.stopped")
    expect(page.get_by_role("button", name=re.compile("^Stop$"))).to_have_count(0)
    expect(page.get_by_role("status", name="State")).to_contain_text(re.compile("stopped|paused", re.IGNORECASE))
    hands.press(page, "button", "Resume")
    walked.house.wait(id, *WELL, timeout_s=60)


@pytest.mark.long
def test_stop_everything_is_on_every_page(walked: Stage, visit: Visit, hands: Hands) -> None:
    id = walked.house.give("Please keep watch", walked.project, allow=["shell"])
    walked.house.until(lambda: bool(walked.house.bodies(id, "tool.started")), "the command to run", timeout_s=60)
    page = visit(walked, "/rules")
    hands.press(page, "button", "Stop everything")
    dialog = page.get_by_role("alertdialog").or_(page.get_by_role("dialog"))
    expect(dialog).to_contain_text("Stop everything?")
    dialog.get_by_role("button", name="Stop everything").focus()
    page.keyboard.press("Enter")
    walked.house.wait(id, "paused")


@pytest.mark.long
def test_a_budget_that_is_used_up_says_so_and_can_be_raised(walked: Stage, visit: Visit, hands: Hands) -> None:
    small = {"tokens": 300, "usd_micros": "unlimited"}
    id = walked.house.give("Please summarise the tides", walked.project, allow=["write"], budget=small)
    walked.house.wait(id, "incomplete", timeout_s=60)
    page = visit(walked, f"/objectives/{id}")
    says(page, "The budget was used up")
    assert [end["reason"] for end in walked.house.bodies(id, "objective.ended")] == ["budget"]
    hands.press(page, "button", "Add budget and retry")
    hands.write(page, "Tokens at most", "400000")
    hands.press(page, "button", re.compile("^(Try again|Retry|Add budget and retry|Keep running)$"))
    walked.house.wait(id, *WELL, timeout_s=60)
