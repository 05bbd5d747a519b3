"""The audit log and the usage of a home, as a person reads them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit, settled
from tests.browser.reading import REPAINTED
from tests.browser.stage import Stage


def _saved(page: Page, entry: str) -> str:
    """What a file of the export menu holds."""
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=entry).click()
    return Path(download.value.path()).read_text("utf-8")


def _decisions(stage: Stage, **filters: str) -> list[dict[str, object]]:
    return list(stage.house.get("/audit", limit="500", **filters)["items"])


@pytest.mark.promise("UI-1.audit")
def test_each_verdict_is_a_row_and_the_filter_stands_in_the_address(some: Stage, visit: Visit) -> None:
    page = visit(some, "/audit?verdict=ask")
    grid = page.get_by_role("grid", name="decisions")
    asked = _decisions(some, verdict="ask")
    expect(grid.get_by_role("row")).to_have_count(len(asked) + 1)
    page.get_by_role("combobox", name="Decision").click()
    page.get_by_role("option", name="All decisions").click()
    expect(page).to_have_url(f"{some.origin}/audit")
    expect(grid.get_by_role("row")).to_have_count(len(_decisions(some)) + 1)


def test_arrow_keys_lead_to_a_decision_and_why_it_was_made(some: Stage, visit: Visit) -> None:
    page = visit(some, f"/audit?session={some.ids['waiting']}&verdict=ask")
    cell = page.get_by_role("gridcell", name="shell", exact=True)
    cell.focus()
    page.keyboard.press("End")
    expect(cell).not_to_be_focused()
    page.keyboard.press("Home")
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("shell needed approval")
    expect(page.get_by_text("shell-removes", exact=True)).to_be_visible()
    request = page.get_by_role("link", name="Open the request")
    expect(request).to_have_attribute("href", f"/approvals/{some.ids['approval']}")
    expect(page.get_by_text("rm -f notes/old-*.md")).to_be_visible()


def test_a_file_has_all_that_the_filter_lets_through(some: Stage, visit: Visit) -> None:
    page = visit(some, "/audit?verdict=allow")
    allowed = _decisions(some, verdict="allow")
    rows = list(csv.DictReader(io.StringIO(_saved(page, "All of these as CSV"))))
    assert [row["seq"] for row in rows] == [str(one["seq"]) for one in allowed]
    assert json.loads(_saved(page, "All of these as JSON")) == allowed


def test_the_journal_is_checked_and_a_head_is_signed(some: Stage, visit: Visit) -> None:
    page = visit(some, "/audit")
    with page.expect_response("**/api/v1/audit/head"):
        page.get_by_role("button", name="Create a signed checkpoint").click()
    signed = page.get_by_role("region", name="Integrity")
    head = some.house.get("/audit/head")
    expect(signed.get_by_text(str(head["signature"]))).to_be_visible()
    page.get_by_role("button", name="Verify the log").click()
    expect(signed.get_by_text("No problems found")).to_be_visible()
    axe(page)


@pytest.mark.long
def test_what_is_no_decision_says_so(some: Stage, visit: Visit) -> None:
    page = visit(some, "/audit/not-a-number")
    expect(page.get_by_role("heading", level=1)).to_have_text("Decision not-a-number not found")
    page.get_by_role("link", name="All decisions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")


def test_the_cap_is_changed_and_is_what_the_daemon_keeps(some: Stage, visit: Visit) -> None:
    page = visit(some, "/usage", PHONE)
    page.get_by_role("button", name="Edit limit").click()
    dialog = page.get_by_role("dialog", name="Spending limits")
    axe(page)
    day, month = (dialog.get_by_role("group", name=name) for name in ("Each day", "Each month"))
    day.get_by_role("textbox", name="Money").fill("12.5")
    day.get_by_role("checkbox", name="No limit").first.check()
    month.get_by_role("checkbox", name="No limit").last.uncheck()
    month.get_by_role("textbox", name="Money").fill("90")
    dialog.get_by_role("button", name="Save limit").click()
    expect(dialog).to_be_hidden()
    assert some.house.get("/cap")["daily"] == {"tokens": "unlimited", "usd_micros": 12_500_000}
    assert some.house.get("/cap")["monthly"] == {"tokens": "unlimited", "usd_micros": 90_000_000}
    expect(page.get_by_text("of $12.50")).to_be_visible()
    expect(page.get_by_text("of $90.00")).to_be_visible()


@pytest.mark.long
def test_the_numbers_behind_the_bars_are_the_ledgers(some: Stage, visit: Visit) -> None:
    page = visit(some, "/usage?days=7")
    rows = some.house.get("/usage", days="7")["items"]
    expect(page.get_by_role("img", name="Tokens per day, 7 days")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"A reply took .+ on average"))
    expect(page.get_by_role("columnheader", name="Reply time")).to_be_visible()
    page.get_by_role("radio", name="Reply time").click()
    expect(page.get_by_role("img", name="Average reply time per day, 7 days")).to_be_visible()
    saved = list(csv.DictReader(io.StringIO(_saved(page, "As CSV"))))
    assert sum(int(row["Tokens in"]) for row in saved) == sum(row["tokens_in"] for row in rows)
    for tab, told in (("By hour", ":00"), ("By schedule", "none"), ("By door", "cli")):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("cell").or_(page.get_by_role("gridcell")).filter(has_text=told).first).to_be_visible()
        axe(page)
    page.get_by_role("tab", name="By session and objective").click()
    expect(page.get_by_role("link", name="The harbour's code", exact=True)).to_be_visible()
    axe(page)


@pytest.mark.long
def test_a_new_objective_says_what_it_is_likely_to_cost_or_that_nobody_can_know_yet(some: Stage, visit: Visit) -> None:
    directory = some.house.get("/objectives")["items"][0]["directory"]
    likely = some.house.get("/forecast", directory=directory)
    page = visit(some, "/objectives/new")
    page.get_by_role("combobox", name="Folder").or_(page.get_by_role("textbox", name="Folder")).first.fill(directory)
    words = f"from {likely['runs']} run" if likely["basis"] else "No forecast of its cost yet"
    expect(page.get_by_text(words)).to_be_visible()


@pytest.mark.long
def test_bars_take_the_colours_of_a_new_theme_at_once(some: Stage, visit: Visit) -> None:
    page = visit(some, "/usage?days=7")
    drawn = "() => document.querySelector('canvas').toDataURL()"
    page.emulate_media(color_scheme="dark")
    page.evaluate(REPAINTED)
    assert page.evaluate("document.getAnimations().length") == 0
    changed = page.evaluate(drawn)
    page.reload()
    settled(page)
    page.evaluate(REPAINTED)
    assert page.evaluate(drawn) == changed


@pytest.mark.long
def test_nothing_yet_says_what_will_be_here(fresh: Stage, visit: Visit) -> None:
    page = visit(fresh, "/audit")
    expect(page.get_by_text("No decisions yet")).to_be_visible()
    axe(page)
    page = visit(fresh, "/usage")
    expect(page.get_by_text("No model requests in these 30 days")).to_be_visible()
    axe(page)
