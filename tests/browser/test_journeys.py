"""What people come for, from beginning to end, by mouse and again by the keyboard alone; judged by the journal."""

from __future__ import annotations

from playwright.sync_api import expect

from stead.domain.ends import WELL
from tests.browser.chrome import Visit, settled
from tests.browser.hands import Hands
from tests.browser.stage import Stage
from tests.browser.watching import question, says, status_of
from tests.promises import promise

ASK, ONCE, DENY = "Ask before changes", "Allow once", "Deny"


@promise("UI-1.status", "UI-1.objectives")
def test_a_goal_is_given_on_the_page_its_question_answered_and_its_end_seen(
    walked: Stage, visit: Visit, hands: Hands
) -> None:
    page = visit(walked, "/objectives")
    hands.press(page, "link", "New objective")
    settled(page)
    hands.write(page, "Goal", "Please summarise the tides")
    hands.write(page, "Folder", str(walked.project))
    hands.tick(page, "radio", ASK)
    hands.press(page, "button", "Start")
    page.wait_for_url("**/objectives/s_*")
    id = page.url.rpartition("/")[2]
    question(walked, id)
    assert not (walked.project / "SUMMARY.md").exists()
    hands.press(page, "button", ONCE)
    walked.house.wait(id, *WELL)
    says(page, "high water at 06:10")
    expect(page.get_by_text("high water at 06:10")).to_have_count(1)
    assert "High at 06:10" in (walked.project / "SUMMARY.md").read_text("utf-8")
    (walked.project / "SUMMARY.md").unlink()


def test_an_answer_at_the_command_line_closes_the_question_on_the_page(walked: Stage, visit: Visit) -> None:
    approval = question(walked, walked.house.give("Please light the lamps", walked.project))
    page = visit(walked, f"/approvals/{approval}")
    done = walked.house.cli("approve", approval)
    assert done.returncode == 0, done.stderr
    says(page, "Allowed in the terminal")
    expect(page.get_by_role("button", name=ONCE)).to_have_count(0)


@promise("SES-3.queue")
def test_a_no_carries_its_reason_and_enter_alone_allows_nothing(walked: Stage, visit: Visit, hands: Hands) -> None:
    approval = question(walked, walked.house.give("Please light the lamps", walked.project))
    page = visit(walked, f"/approvals/{approval}")
    for _ in range(5):
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=ONCE)).to_be_enabled()
    for _ in range(5):
        page.keyboard.press("Enter")
    assert status_of(walked, approval) == "pending"
    hands.press(page, "button", DENY)
    hands.write(page, "Reason (shown to the model)", "keep the old notes")
    hands.press(page, "button", "Deny")
    says(page, "Denied in the browser")
    assert status_of(walked, approval) == "denied"
    session = walked.house.get(f"/approvals/{approval}")["session"]
    (denied,) = walked.house.bodies(session, "approval.denied")
    assert denied["reason"] == "keep the old notes"
