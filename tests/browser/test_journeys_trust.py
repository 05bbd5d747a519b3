"""Why people can trust it, found on the page: why a call was allowed, and where a secret may go."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from stead.domain.ends import WELL
from tests.browser.chrome import Visit, settled
from tests.browser.hands import Hands
from tests.browser.stage import Stage
from tests.browser.watch import Watch
from tests.browser.watching import question, says

VALUE = "an-invented-value-0815"


@pytest.mark.long
def test_the_audit_log_says_why_a_call_was_allowed_and_that_it_is_whole(
    walked: Stage, visit: Visit, hands: Hands
) -> None:
    id = walked.house.give("Please count the boats", walked.project)
    asked = question(walked, id)
    digest = walked.house.get(f"/approvals/{asked}")["digest"]
    walked.house.post(f"/approvals/{asked}/decision", {"answer": "once", "digest": digest, "whole": True})
    walked.house.wait(id, *WELL, timeout_s=60)
    page = visit(walked, "/audit")
    grid = page.get_by_role("grid", name="decisions")
    expect(grid.get_by_role("row").filter(has_text="approved").first).to_be_visible()
    hands.open_row(page, "decisions", "shell")
    page.wait_for_url(re.compile(r"/audit/\d+$"))
    settled(page)
    says(page, "wc -l notes/boats.csv")
    says(page, "Why")
    decision = walked.house.get(f"/audit/decisions/{page.url.rpartition('/')[2]}")
    assert decision["tool"] == "shell"


def test_a_secret_is_kept_and_bound_to_a_host_and_its_value_is_shown_nowhere(
    walked: Stage, visit: Visit, hands: Hands, watch: Watch
) -> None:
    name = f"quay-{type(hands).__name__.lower()}"
    page = visit(walked, "/secrets")
    hands.press(page, "button", "Add a secret")
    hands.write(page, re.compile("^Name"), name)
    hands.write(page, re.compile("^Value"), VALUE)
    hands.press(page, "button", "Save secret")
    dialog = page.get_by_role("dialog").filter(has_text="Destinations")
    expect(dialog).to_contain_text("None. Until a destination")
    hands.write(page, re.compile("^Host"), "api.quay.example.com")
    hands.press(page, "button", "Add destination")
    expect(dialog).to_contain_text("api.quay.example.com")
    (row,) = [one for one in walked.house.get("/secrets")["items"] if one["name"] == name]
    assert [binding["host"] for binding in row["bindings"]] == ["api.quay.example.com"]
    assert VALUE not in page.content()
    assert not any(VALUE in url for url in watch.requests)
