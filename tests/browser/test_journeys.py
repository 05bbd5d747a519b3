"""What people come for, from beginning to end, by mouse and again by the keyboard alone; judged by the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chrome import PHONE, Visit, settled
from tests.browser.hands import Hands, Keys, Mouse
from tests.browser.stage import Stage, staged
from tests.flows.house import use_model
from tests.promises import promise

ONCE, DENY = "Allow once", "Deny"


@pytest.fixture(params=[Mouse(), Keys()], ids=["mouse", "keyboard"])
def hands(request: pytest.FixtureRequest) -> Hands:
    """How this walk is done."""
    made: Hands = request.param
    return made


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model and nothing else; each journey brings its own work."""
    with staged(tmp_path_factory.mktemp("journeys")) as one:
        use_model(one.house, one.model.openai)
        yield one


def question(stage: Stage, session: str) -> str:
    """The id of what a session asks, once it asks."""

    def asks() -> bool:
        return bool(stage.house.get("/approvals", session=session)["items"])

    stage.house.until(asks, f"{session} to ask", timeout_s=60)
    return str(stage.house.get("/approvals", session=session)["items"][0]["id"])


def says(page: Page, text: str) -> None:
    """Wait until the page says this."""
    expect(page.get_by_role("main")).to_contain_text(text)


def status_of(stage: Stage, approval: str) -> str:
    """Of a question, as the daemon has it."""
    return str(stage.house.get(f"/approvals/{approval}")["status"])


@promise("UI-1.status")
def test_a_goal_is_given_on_the_page_its_question_answered_and_its_end_seen(
    stage: Stage, visit: Visit, hands: Hands, tmp_path: Path
) -> None:
    page = visit(stage, "/objectives")
    hands.press(page, "link", "New objective")
    settled(page)
    hands.write(page, "Goal", "Please summarise the tides")
    hands.write(page, "Folder", str(stage.project))
    hands.press(page, "button", "Start")
    page.wait_for_url("**/objectives/s_*")
    id = page.url.rpartition("/")[2]
    question(stage, id)
    assert not (stage.project / "SUMMARY.md").exists()
    hands.press(page, "button", ONCE)
    stage.house.wait(id, "completed")
    says(page, "high water at 06:10")
    assert "High at 06:10" in (stage.project / "SUMMARY.md").read_text("utf-8")
    (stage.project / "SUMMARY.md").unlink()


def test_a_yes_in_one_tab_is_seen_in_the_other_and_on_the_phone(stage: Stage, visit: Visit, hands: Hands) -> None:
    id = stage.house.give("Please count the boats", stage.project)
    approval = question(stage, id)
    first, second = visit(stage, f"/approvals/{approval}"), visit(stage, f"/approvals/{approval}")
    phone = visit(stage, "/approvals", PHONE)
    says(phone, "counted.txt")
    hands.press(second, "button", ONCE)
    for page in (first, second):
        says(page, "Allowed in a browser")
        expect(page.get_by_role("button", name=ONCE)).to_have_count(0)
    expect(phone.get_by_role("article")).to_have_count(0)
    stage.house.wait(id, "completed")
    assert status_of(stage, approval) == "given"
    assert (stage.project / "counted.txt").exists()


def test_an_answer_at_the_command_line_closes_the_question_on_the_page(stage: Stage, visit: Visit) -> None:
    approval = question(stage, stage.house.give("Please light the lamps", stage.project))
    page = visit(stage, f"/approvals/{approval}")
    done = stage.house.cli("approve", approval)
    assert done.returncode == 0, done.stderr
    says(page, "Allowed at the command line")
    expect(page.get_by_role("button", name=ONCE)).to_have_count(0)


def test_a_no_carries_its_reason_and_enter_alone_allows_nothing(stage: Stage, visit: Visit, hands: Hands) -> None:
    approval = question(stage, stage.house.give("Please light the lamps", stage.project))
    page = visit(stage, f"/approvals/{approval}")
    for _ in range(5):
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=ONCE)).to_be_enabled()
    for _ in range(5):
        page.keyboard.press("Enter")
    assert status_of(stage, approval) == "pending"
    hands.press(page, "button", DENY)
    hands.write(page, "Reason (the model reads it)", "keep the old notes")
    hands.press(page, "button", "Deny it")
    says(page, "Denied in a browser")
    assert status_of(stage, approval) == "denied"
    session = stage.house.get(f"/approvals/{approval}")["session"]
    (denied,) = stage.house.bodies(session, "approval.denied")
    assert denied["reason"] == "keep the old notes"


def test_a_phone_is_enough_to_answer(stage: Stage, visit: Visit) -> None:
    id = stage.house.give("Please count the boats", stage.project)
    approval = question(stage, id)
    page = visit(stage, "/", PHONE)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Approvals").tap()
    settled(page)
    card = page.get_by_role("article").filter(has_text="counted.txt").first
    card.get_by_role("button", name=ONCE).tap()
    stage.house.wait(id, "completed")
    assert status_of(stage, approval) == "given"
