"""Schedules on the page: made, read back, run by hand, switched off and removed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit
from tests.browser.stage import Stage
from tests.promises import promise


@promise("SCH-1.manage", "SCH-1.agenda")
def test_a_schedule_is_made_run_switched_off_and_removed(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/schedules")
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog", name="Add a schedule")
    axe(page)
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_text("Say what to reach each time.")).to_be_visible()
    dialog.get_by_role("textbox", name="Name").fill("morning")
    dialog.get_by_role("textbox", name="Goal").fill("say hello")
    dialog.get_by_role("textbox", name="Folder").fill(str(walked.project))
    dialog.get_by_label("Time", exact=True).fill("06:30")
    dialog.get_by_role("button", name="Add").click()

    drawer = page.get_by_role("dialog", name="morning")
    expect(drawer.get_by_text("every day at 06:30")).to_be_visible()
    expect(drawer.get_by_role("listitem")).to_have_count(5)
    (row,) = walked.house.get("/schedules")["items"]
    assert (row["schedule"]["when"]["expression"], row["on"]) == ("30 6 * * *", True)
    axe(page)
    drawer.get_by_role("button", name="Run now").click()
    expect(drawer.get_by_text("Started by you.")).to_be_visible()
    drawer.get_by_role("button", name="Run again").click()
    expect(drawer.get_by_text("Started by you.")).to_have_count(2)
    drawer.get_by_role("button", name="Snooze").click()
    page.get_by_role("menuitem", name="For a week").click()
    expect(drawer.get_by_text("Snoozed until")).to_be_visible()
    snoozed = walked.house.get("/schedules")["items"][0]
    assert snoozed["next_ms"][0] > snoozed["snoozed_ms"] > 0
    page.keyboard.press("Escape")
    agenda = page.get_by_role("region", name="Coming up")
    days = agenda.get_by_role("heading", level=3)
    expect(days.nth(7)).to_have_count(0)  # the second of the two weeks
    expect(days.nth(5)).to_be_visible()
    axe(page)
    agenda.get_by_role("button", name="morning").first.press("Enter")
    drawer.get_by_role("button", name="Snooze").click()
    page.get_by_role("menuitem", name="End the snooze").click()
    expect(drawer.get_by_text("Snoozed until")).to_have_count(0)
    drawer.get_by_role("link", name="Open this run").first.click()
    page.wait_for_url("**/objectives/s_*")

    page = visit(walked, "/schedules", PHONE)
    page.get_by_text("morning").first.click()
    page.get_by_role("switch", name="On").click()
    expect(page.get_by_role("heading", name="Next times")).to_have_count(0)
    assert walked.house.get("/schedules")["items"][0]["on"] is False
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove morning?").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Nothing is scheduled")).to_be_visible()
    assert walked.house.get("/schedules")["items"] == []


@pytest.mark.long
def test_what_a_command_prints_is_watched_and_a_port_that_is_none_is_said(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/schedules")
    page.get_by_role("button", name="Add a schedule").first.click()
    form = page.get_by_role("dialog", name="Add a schedule")
    form.get_by_role("textbox", name="Name").fill("notes")
    form.get_by_role("textbox", name="Goal").fill("say hello")
    form.get_by_role("textbox", name="Folder").fill(str(walked.project))
    form.get_by_role("combobox", name="Only if this has changed").click()
    page.get_by_role("option", name="A port").click()
    form.get_by_role("textbox", name="Host and port").fill("shop.example.com")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form.get_by_text("Say what to watch.")).to_be_visible()
    expect(form.get_by_role("textbox", name="Host and port")).to_be_focused()
    form.get_by_role("combobox", name="Only if this has changed").click()
    page.get_by_role("option", name="What a command prints").click()
    form.get_by_role("textbox", name="Command").fill("ls")
    form.get_by_role("button", name="Add", exact=True).click()
    drawer = page.get_by_role("dialog", name="notes")
    drawer.get_by_role("button", name="Compare now").click()
    expect(drawer.get_by_text("First look:")).to_be_visible()
    (row,) = walked.house.get("/schedules")["items"]
    assert row["schedule"]["watches"] == [{"type": "command", "command": "ls"}]
