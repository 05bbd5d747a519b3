"""What must be true before a goal counts as verified, on the page: given, changed as it runs, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE_DARK, Visit
from tests.browser.hands import Hands
from tests.browser.pictures import picture
from tests.browser.stage import Stage
from tests.browser.watching import question
from tests.promises import promise

FREE = {"profile": "work", "limits": {"repetition": 50, "send_backs": 1}}


@pytest.fixture(autouse=True)
def unchanged(walked: Stage) -> Iterator[None]:
    yield
    for name in ("SUMMARY.md", "wicks.txt", "counted.txt"):
        (walked.project / name).unlink(missing_ok=True)


def outcome(page: Page, words: str) -> None:
    expect(page.get_by_role("region", name=re.compile(words))).to_be_visible()


@promise("OBJ-10.checks")
@pytest.mark.long
def test_checks_given_with_the_goal_verify_it(walked: Stage, visit: Visit, hands: Hands) -> None:
    page = visit(walked, "/objectives/new")
    hands.write(page, "Goal", "Please summarise the tides")
    hands.write(page, "Folder", str(walked.project))
    hands.write(page, re.compile("^Done when"), "contains:SUMMARY.md:06:10\nuntouched:notes/\neffect:write:write")
    picture(page, "checks-form")
    hands.press(page, "button", "Start")
    page.wait_for_url("**/objectives/s_*")
    walked.house.wait(page.url.rpartition("/")[2], "verified")
    outcome(page, "Verified")
    expect(page.get_by_text("'SUMMARY.md' contains '06:10'").first).to_be_visible()
    picture(page, "checks-verified")
    axe(page)


@pytest.mark.long
def test_a_check_that_fails_shows_what_it_printed(walked: Stage, visit: Visit) -> None:
    lines = 'for n in 1 2 3 4 5 6; do echo "test $n: ok"; done; echo "test 7: the ebb is missing"; exit 1'
    checks = [{"kind": "command", "subject": lines}, {"kind": "exists", "subject": "SUMMARY.md"}]
    id = walked.house.give("Please summarise the tides", walked.project, checks=checks, **FREE)
    walked.house.wait(id, "incomplete")
    page = visit(walked, f"/objectives/{id}")
    outcome(page, "Incomplete")
    expect(page.get_by_text("the ebb is missing").first).to_be_visible()
    picture(page, "checks-incomplete")
    picture(visit(walked, f"/objectives/{id}", PHONE_DARK), "checks-incomplete-phone", whole=True)


@promise("OBJ-10.person")
@pytest.mark.long
def test_what_the_person_is_asked_is_answered_on_the_page(walked: Stage, visit: Visit, hands: Hands) -> None:
    checks = [{"kind": "person", "subject": "does the summary read well?"}, {"kind": "command", "subject": "true"}]
    id = walked.house.give("Please summarise the tides", walked.project, checks=checks, **FREE)
    walked.house.wait(id, "unverified")
    page = visit(walked, f"/objectives/{id}")
    outcome(page, "nverified")
    picture(page, "checks-confirm")
    hands.press(page, "button", "Yes, it holds")
    walked.house.wait(id, "verified")
    expect(page.get_by_text("Confirmed, from")).to_be_visible()
    outcome(page, "Verified")
    picture(page, "checks-confirmed")


@promise("OBJ-10.plan")
def test_what_the_plan_proposes_is_accepted_removed_and_changed_while_it_runs(
    walked: Stage, visit: Visit, hands: Hands
) -> None:
    id = walked.house.give("Please trim the wicks", walked.project, profile="ask")
    asked = question(walked, id)
    page = visit(walked, f"/objectives/{id}")
    expect(page.get_by_text("'wicks.txt' exists").first).to_be_visible()
    expect(page.get_by_text("The model proposes checks")).to_be_visible()
    expect(page.get_by_text("no words for")).to_have_count(0)
    picture(page, "checks-proposed")
    axe(page)
    hands.press(page, "button", "Accept")
    expect(page.get_by_role("button", name="Accept")).to_have_count(1)
    hands.press(page, "button", "Remove")
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)
    hands.press(page, "button", "Edit checks")
    field = page.get_by_role("textbox", name="Your checks")
    expect(field).to_have_value("exists:wicks.txt")
    hands.write(page, "Your checks", "contains:wicks.txt:trimmed\nuntouched:notes/")
    picture(page, "checks-change")
    axe(page)
    hands.press(page, "button", "Save checks")
    expect(page.get_by_text("'wicks.txt' contains 'trimmed'").first).to_be_visible()
    question_ = walked.house.get(f"/approvals/{asked}")
    answer = {"answer": "once", "digest": question_["digest"], "whole": True}
    walked.house.post(f"/approvals/{asked}/decision", answer)
    walked.house.wait(id, "verified")
    outcome(page, "Verified")


@pytest.mark.long
def test_the_outcome_says_what_it_cost_and_what_ran(walked: Stage, visit: Visit) -> None:
    id = walked.house.give("Please count the boats", walked.project, **FREE)
    walked.house.wait(id, "unverified")
    page = visit(walked, f"/objectives/{id}", PHONE_DARK)
    said = page.get_by_role("region", name=re.compile("Unverified"))
    expect(said).to_contain_text(re.compile(r"counted\.txt.*exit code 0", re.DOTALL))
    expect(said).to_contain_text("240 tokens, $0.00")
    picture(page, "checks-none")
