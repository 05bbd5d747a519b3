"""Triggers on the page: added there with their secret, tried, sent to from outside, switched off and removed."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit
from tests.browser.stage import Stage
from tests.browser.watch import Watch
from tests.fakes.webhook_senders import delivery, send, signed
from tests.flows.house import Json
from tests.promises import promise


def form_of(page: Page, name: str, walked: Stage) -> Locator:
    """The form, with what runs filled in."""
    page.get_by_role("button", name="Add a trigger").click()
    form = page.get_by_role("dialog", name="Add a trigger")
    form.get_by_role("textbox", name="Name", exact=True).fill(name)
    form.get_by_role("textbox", name="Goal").fill("say hello")
    form.get_by_role("textbox", name="Folder", exact=True).fill(str(walked.project))
    return form


def schedule(walked: Stage, name: str) -> Json:
    (row,) = [row for row in walked.house.get("/schedules")["items"] if row["schedule"]["name"] == name]
    return dict(row)


@promise("SCH-3.webhooks")
def test_a_webhook_is_waited_for_from_the_page_and_its_signed_requests_run(
    walked: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect(409, "/triggers/builds/test$")
    watch.expect(400, "/schedules$")
    page = visit(walked, "/schedules")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Add a trigger").click()
    form = page.get_by_role("dialog", name="Add a trigger")
    form.get_by_role("button", name="Add", exact=True).click()
    for flaw in ("Begin with a small letter; then up to 30", "Say what to reach each time.", "Type the value."):
        expect(form.get_by_text(flaw)).to_be_visible()
    axe(page)
    page.keyboard.press("Escape")
    form = form_of(page, "builds", walked)
    form.get_by_role("combobox", name="Signed as by").click()
    page.get_by_role("option", name="Standard Webhooks").click()
    form.get_by_role("button", name="Generate a value").click()
    expect(form.get_by_role("status").filter(has_text="Generated and copied")).to_be_visible()
    key = str(page.evaluate("navigator.clipboard.readText()"))
    form.get_by_role("button", name="What its runs may do and spend").click()
    form.get_by_role("radio", name="Read-only").check()
    form.get_by_role("textbox", name="Tokens at most").fill("30000")
    expect(form.get_by_role("button", name="What its runs may do and spend")).to_contain_text("2 changed")
    axe(page)
    form.get_by_role("textbox", name="Folder", exact=True).fill(str(walked.project / "none"))
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form.get_by_role("alert")).to_be_in_viewport()
    expect(form.get_by_role("combobox", name="Signing secret")).to_contain_text("builds")
    form.get_by_role("textbox", name="Folder", exact=True).fill(str(walked.project))
    form.get_by_role("button", name="Add", exact=True).click()

    drawer = page.get_by_role("dialog", name="builds")
    expect(drawer.get_by_text("when a webhook comes (Standard Webhooks)")).to_be_visible()
    drawer.get_by_role("button", name="Copy the address to send to").click()
    expect(drawer.get_by_text("Copied", exact=True)).to_be_attached()
    url = str(page.evaluate("navigator.clipboard.readText()"))
    axe(page)
    drawer.get_by_role("button", name="Send a test").click()
    expect(drawer.get_by_text("Something came in.")).to_have_count(1)
    body = delivery("evt_1")
    assert send(url, body, signed("standard", body, "evt_1")) == (404, b""), "signed by another's key"
    assert send(url, body, signed("standard", body, "evt_1", key=key)) == (200, b"")
    expect(drawer.get_by_text("Something came in.")).to_have_count(2)
    expect(drawer.get_by_text("Refused since the start: 1.")).to_be_visible()
    job = schedule(walked, "builds")["schedule"]["job"]
    assert (job["profile"], job["budget"]["tokens"]) == ("readonly", 30_000)
    assert key not in page.content() + json.dumps([walked.house.events(), walked.house.get("/secrets")])
    assert not any(key in asked for asked in watch.requests)

    drawer.get_by_role("switch", name="On").click()
    expect(drawer.get_by_role("switch", name="On")).not_to_be_checked()
    drawer.get_by_role("button", name="Send a test").click()
    expect(drawer.get_by_role("alert")).to_contain_text("builds")
    drawer.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove builds?").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Nothing is scheduled")).to_be_visible()


@promise("SCH-3.files", "SCH-3.mail")
@pytest.mark.long
def test_files_and_mail_are_waited_for_by_keyboard_and_what_cannot_be_is_said_at_its_field(
    walked: Stage, visit: Visit, watch: Watch
) -> None:
    watch.expect(400, "/schedules$")
    inbox = walked.project.parent / "inbox"
    inbox.mkdir()
    page = visit(walked, "/schedules", PHONE)
    form = form_of(page, "letters", walked)
    form.get_by_role("radio", name="a webhook comes in").focus()
    page.keyboard.press("ArrowDown")
    expect(form.get_by_role("textbox", name="Value")).to_have_count(0)
    form.get_by_role("textbox", name="Folder for the files").fill(str(walked.project / "in"))
    form.get_by_role("button", name="Add", exact=True).press("Enter")
    expect(form.get_by_text("could put files there and trigger themselves")).to_be_visible()
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    form = form_of(page, "letters", walked)
    form.get_by_role("radio", name="a file is put into a folder").check()
    form.get_by_role("textbox", name="Folder for the files").fill(str(inbox / "none"))
    form.get_by_role("button", name="Add", exact=True).press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("inbox")
    form.get_by_role("textbox", name="Folder for the files").fill(str(inbox))
    axe(page)
    form.get_by_role("textbox", name="Folder for the files").press("Enter")
    drawer = page.get_by_role("dialog", name="letters")
    expect(drawer.get_by_text(f"when a file comes into {inbox}")).to_be_visible()
    (inbox / "letter.txt").write_text("A letter to file.")
    expect(drawer.get_by_text("Something came in.")).to_be_visible()
    walked.house.until((inbox / "done").is_dir, "the letter to be put away")
    page.keyboard.press("Escape")

    form = form_of(page, "post", walked)
    form.get_by_role("radio", name="mail comes in").check()
    form.get_by_role("textbox", name="IMAP server").fill("imap")
    form.get_by_role("textbox", name="Only from these domains").fill("example.org")
    form.get_by_role("textbox", name="Value").fill("pears-for-pia")
    form.get_by_role("button", name="Add", exact=True).press("Enter")
    for flaw in ("Give the name of a server", "Give the user to sign in as.", "Name the server whose word counts"):
        expect(form.get_by_text(flaw)).to_be_visible()
    axe(page)
    form.get_by_role("textbox", name="IMAP server").fill("127.0.0.1")
    form.get_by_role("spinbutton", name="Port").or_(form.get_by_role("textbox", name="Port")).fill("1")
    form.get_by_role("textbox", name="User").fill("pia@example.com")
    form.get_by_role("textbox", name="Checked by").fill("mx.example.com")
    form.get_by_role("textbox", name="Checked by").press("Enter")
    drawer = page.get_by_role("dialog", name="post")
    expect(drawer.get_by_text("when mail comes to pia@example.com (INBOX)")).to_be_visible()
    expect(drawer.get_by_text("127.0.0.1")).to_be_visible()
    source = schedule(walked, "post")["schedule"]["when"]["source"]
    assert (source["secret"], source["senders"], source["port"]) == ("post", ["example.org"], 1)
