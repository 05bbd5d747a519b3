"""What a session may do and how it is held, on the page: its folder, its state, its calls by kind and again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.chrome import Visit, settled
from tests.browser.stage import Stage, staged
from tests.browser.test_session_page import SAY, bodies, say, sit_down
from tests.flows.house import use_model
from tests.promises import promise


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model; each test opens a session of its own."""
    with staged(tmp_path_factory.mktemp("rights")) as one:
        use_model(one.house, one.model.openai)
        yield one


@promise("SES-1.confined")
def test_what_lies_beside_the_folder_is_neither_read_nor_shown(stage: Stage, visit: Visit) -> None:
    beside = stage.project.parent / "beside"
    beside.mkdir()
    (beside / "secret.txt").write_text("marmalade-canary", "utf-8")
    session = sit_down(stage, "Confined")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please look outside")
    main = page.get_by_role("main")
    expect(main).to_contain_text("I see nothing there.")
    expect(main).not_to_contain_text("marmalade-canary")
    outcomes = [body["outcome"] for body in bodies(stage, session, "tool.finished")]
    assert len(outcomes) == 2 and set(outcomes) <= {"denied", "error"}
    tree = page.get_by_role("tree")
    expect(tree).to_contain_text("lamps.py")
    expect(tree).not_to_contain_text("beside")


@promise("SES-1.status", "SES-2.reopen")
@pytest.mark.long
def test_a_session_is_idle_closed_and_open_again_with_its_history(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "States")
    page = visit(stage, f"/sessions/{session}")
    main = page.get_by_role("main")
    state = page.get_by_role("status", name="State")
    say(page, "Please tell me of the harbour")
    expect(main).to_contain_text("Turn 1 done")
    expect(state).to_contain_text("Idle")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Close").click()
    expect(state).to_contain_text("Closed")
    page.reload()
    settled(page)
    expect(state).to_contain_text("Closed")
    expect(main).to_contain_text("Please tell me of the harbour")
    page.get_by_role("textbox", name=SAY).fill("Please tell me of the harbour again")
    page.get_by_role("textbox", name=SAY).press("Enter")
    expect(main).to_contain_text("Turn 2 done")
    expect(state).to_contain_text("Idle")
    assert stage.model.requests()[-1].prompt.count(b"Nobody was at the quay") == 1  # it knows its first reply


@promise("SES-3.kind")
def test_one_answer_allows_every_call_of_its_kind(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "A kind")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please write of both quays")
    page.get_by_role("button", name="Allow for this session").click()
    expect(page.get_by_role("main")).to_contain_text("Both are written.")
    assert len(bodies(stage, session, "approval.requested")) == 1
    assert [body["outcome"] for body in bodies(stage, session, "tool.finished")] == ["ok", "ok"]


@promise("SES-3.retry")
@pytest.mark.long
def test_a_call_that_is_done_is_run_again_from_the_queue(stage: Stage, visit: Visit) -> None:
    session = sit_down(stage, "Again")
    page = visit(stage, f"/sessions/{session}")
    say(page, "Please sweep both quays")
    page.get_by_role("button", name="Allow once").click()
    stage.house.until(lambda: len(bodies(stage, session, "tool.finished")) == 1, "the first call to be done")
    page.get_by_role("button", name="Queue (3)").click()
    queue = page.get_by_role("list", name="Call queue").get_by_role("listitem")
    queue.nth(0).get_by_role("button", name="Run again").click()
    stage.house.until(lambda: len(bodies(stage, session, "call.retried")) == 1, "the call to be tried again")
    expect(queue.nth(0)).to_contain_text("needs approval")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Allow once").first.click()
    stage.house.until(lambda: len(bodies(stage, session, "tool.finished")) == 2, "the call to run again")
    first, second = bodies(stage, session, "tool.finished")
    assert first["key"] == second["key"]


@promise("SES-1.budget")
def test_a_session_has_a_budget_of_its_own_that_is_seen_and_set(stage: Stage, visit: Visit) -> None:
    session, other = sit_down(stage, "Budget"), sit_down(stage, "Other budget")
    page = visit(stage, f"/sessions/{session}")
    page.get_by_role("tab", name="Budget").click()
    panel = page.get_by_role("tabpanel", name="Budget")
    expect(panel).to_contain_text("2,000,000")
    panel.get_by_role("textbox", name="Total tokens").fill("3000000")
    panel.get_by_role("button", name="Set budget").click()
    expect(panel).to_contain_text("3,000,000")
    assert stage.house.get(f"/sessions/{session}")["budget"]["tokens"] == 3_000_000
    assert stage.house.get(f"/sessions/{other}")["budget"]["tokens"] == 2_000_000
