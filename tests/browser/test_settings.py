"""The settings: whom Stead asks and for how much, and how the page is in this browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit, is_live, settled
from tests.browser.stage import Stage
from tests.browser.watch import Watch
from tests.browser.watching import says
from tests.fakes.receivers import SIGNING, mailbox, receiver
from tests.flows.served import in_thread
from tests.promises import promise

KEY = "an-invented-key-3301"
NEWER = "an-invented-key-4412"
_KEPT = """() => JSON.stringify([
    {...localStorage}, {...sessionStorage}, document.cookie,
    [...document.querySelectorAll('input, textarea')].map((field) => field.value),
])"""


def holds(page: Page, value: str) -> bool:
    """Whether the page, its fields or what it keeps in the browser has this."""
    return value in page.content() or value in str(page.evaluate(_KEPT))


def test_the_order_of_models_is_changed_and_holds(walked: Stage, visit: Visit) -> None:
    walked.house.post("/providers", {"name": "spare", "preset": "compatible", "base_url": walked.model.openai})
    page = visit(walked, "/settings?section=models")
    page.get_by_role("combobox", name="Provider").click()
    page.get_by_role("option", name="spare").click()
    page.get_by_role("textbox", name="Model").fill("scripted")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Move spare/scripted up").click()
    assert [ref["provider"] for ref in walked.house.get("/status")["chain"]] == ["acme"]
    page.get_by_role("button", name="Save").click()
    says(page, "This order is in use.")
    assert [ref["provider"] for ref in walked.house.get("/status")["chain"]] == ["spare", "acme"]
    page.reload()
    settled(page)
    expect(page.get_by_role("listitem").filter(has_text="default")).to_contain_text("spare/scripted")
    walked.house.post("/chain", {"chain": [{"provider": "acme", "model": "scripted"}]})


@pytest.mark.long
def test_what_a_day_may_cost_is_limited_and_an_empty_limit_is_refused(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/settings?section=limits")
    page.get_by_role("group", name="Each day").get_by_role("checkbox", name="No limit").first.uncheck()
    page.get_by_role("button", name="Save").click()
    says(page, "Enter a number, or choose no limit.")
    assert walked.house.get("/cap")["daily"]["tokens"] == "unlimited"
    page.get_by_role("group", name="Each day").get_by_role("textbox", name="Tokens").fill("250000")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Today").get_by_role("meter", name="Tokens")).to_be_visible()
    assert walked.house.get("/cap")["daily"] == {"tokens": 250_000, "usd_micros": "unlimited"}


def test_a_providers_key_is_replaced_and_never_seen_again(walked: Stage, visit: Visit, watch: Watch) -> None:
    wish = {"name": "keyed", "preset": "compatible", "base_url": walked.model.openai, "model": "scripted"}
    walked.house.post("/providers", {**wish, "key": "vault"})
    walked.house.post("/providers/keyed/key", {"key": KEY})
    page = visit(walked, "/settings?section=models")
    page.get_by_role("button", name="More about keyed").click()
    page.get_by_role("menuitem", name="Replace the key").click()
    dialog = page.get_by_role("dialog", name="Replace the key of keyed")
    dialog.get_by_role("textbox", name="Key").fill(NEWER)
    assert holds(page, NEWER)
    dialog.get_by_role("button", name="Save and test").click()
    expect(dialog).to_contain_text("keyed is connected")
    assert walked.model.requests()[-1].request.headers["authorization"] == f"Bearer {NEWER}"
    assert not holds(page, NEWER)
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_have_count(0)
    page.reload()
    settled(page)
    assert not holds(page, NEWER)
    assert not holds(page, KEY)
    assert not any(key in url for key in (KEY, NEWER) for url in watch.requests)
    told = json.dumps([walked.house.events(), walked.house.get("/providers")])
    assert KEY not in told
    assert NEWER not in told


@pytest.mark.long
def test_the_price_and_the_effort_of_a_model_are_the_persons_word(walked: Stage, visit: Visit) -> None:
    wish = {
        "name": "priced",
        "preset": "compatible",
        "base_url": walked.model.openai,
        "model": "scripted",
        "key": "none",
    }
    walked.house.post("/providers", wish)
    page = visit(walked, "/settings?section=models")
    page.get_by_role("button", name="More about priced").click()
    page.get_by_role("menuitem", name="Price, window and effort").click()
    dialog = page.get_by_role("dialog", name="Settings of priced/scripted")
    dialog.get_by_role("textbox", name="Price of tokens in").fill("2.5")
    dialog.get_by_role("textbox", name="Price of tokens out").fill("10")
    dialog.get_by_role("textbox", name="Context window").fill("32000")
    dialog.get_by_role("combobox", name="Reasoning effort").click()
    page.get_by_role("option", name="High").click()
    axe(page)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    (row,) = [row for row in walked.house.get("/providers")["items"] if row["name"] == "priced"]
    (said,) = row["settings"]
    assert said["model"] == "scripted"
    assert said["settings"]["input_price"] == 2_500_000
    assert (said["settings"]["window_tokens"], said["settings"]["effort"]) == (32_000, "high")


@pytest.mark.long
def test_how_the_page_looks_is_kept_in_this_browser(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/settings?section=appearance")
    light = page.evaluate("getComputedStyle(document.body).color")
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("radio", name="Roomy").check()
    page.reload()
    settled(page)
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    expect(page.get_by_role("radio", name="Roomy")).to_be_checked()
    assert page.evaluate("getComputedStyle(document.body).color") != light
    other = visit.stranger(walked, storage=walked.signed_in).new_page()
    other.goto(walked.origin)
    is_live(other)
    assert other.evaluate("getComputedStyle(document.body).color") == light


@pytest.mark.long
def test_a_shortcut_is_given_other_keys_and_keeps_them(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/settings?section=keyboard")
    usage = page.get_by_role("button", name="Change keys for: Go to Usage")
    usage.click()
    page.keyboard.press("?")
    says(page, "Already used for: Show keyboard shortcuts.")
    page.keyboard.press("F8")
    expect(usage).to_contain_text("F8")
    page.evaluate("scrollTo(0, 0)")  # what is half under the line on top is no smaller for it
    axe(page)
    page.reload()
    settled(page)
    page.keyboard.press("F8")
    page.wait_for_url("**/usage")
    page.goto(f"{walked.origin}/settings?section=keyboard")
    page.get_by_role("button", name="Reset to defaults").click()
    expect(usage).not_to_contain_text("F8")


@pytest.mark.long
def test_notices_on_the_desktop_are_off_until_they_are_wanted_and_allowed(walked: Stage, visit: Visit) -> None:
    refused = visit(walked, "/settings?section=notifications")
    switch = refused.get_by_role("switch", name="Notify me on the desktop")
    expect(switch).not_to_be_checked()
    says(refused, "Not asked yet.")
    switch.click()  # a browser without a window refuses by itself
    expect(switch).to_be_disabled()
    says(refused, "Notifications are blocked for this page")
    says(refused, "choose Allow, and come back here")
    axe(refused)
    context = visit.stranger(walked, storage=walked.signed_in)
    context.grant_permissions(["notifications"], origin=walked.origin)
    page = context.new_page()
    page.goto(f"{walked.origin}/settings?section=notifications")
    settled(page)
    switch = page.get_by_role("switch", name="Notify me on the desktop")
    expect(switch).not_to_be_checked()
    says(page, "Notifications are allowed.")
    switch.click()
    page.reload()
    settled(page)
    expect(switch).to_be_checked()


def target_form(page: Page, name: str, kind: str) -> Locator:
    page.get_by_role("button", name="Add a target").click()
    form = page.get_by_role("dialog", name="Add a target")
    form.get_by_role("textbox", name="Name", exact=True).fill(name)
    form.get_by_role("radio", name=kind).check()
    return form


@promise("SCH-3.out")
def test_targets_of_notifications_are_added_tried_changed_and_removed_in_the_settings(
    walked: Stage, visit: Visit, watch: Watch
) -> None:
    house = walked.house
    with in_thread(receiver()) as hook:
        page = visit(walked, "/settings?section=notifications")
        form = target_form(page, "hook", "Webhook")
        form.get_by_role("textbox", name="Address").fill("hooks.example.com")
        form.get_by_role("textbox", name="Value").fill("no key that signs")
        form.get_by_role("button", name="Add", exact=True).click()
        expect(form.get_by_text("Give an address that begins with https:// or http://.")).to_be_visible()
        expect(form.get_by_text("It has to be whsec_")).to_be_visible()
        axe(page)
        form.get_by_role("textbox", name="Address").fill(hook.url)
        form.get_by_role("textbox", name="Value").fill(SIGNING)
        form.get_by_role("textbox", name="Value").press("Enter")
        row = page.get_by_role("listitem", name="hook")
        expect(row).to_contain_text(hook.url)
        assert not holds(page, SIGNING) and SIGNING not in json.dumps([house.events(), house.get("/notifications")])
        assert not any(SIGNING in url for url in watch.requests)
        row.get_by_role("button", name="Send a test").click()
        toasts = page.get_by_role("region", name="Notifications", exact=True)
        expect(toasts).to_contain_text("A test was sent to hook", timeout=15_000)
        assert hook.titles == ["A test of hook"] and not hook.refused
        row.get_by_role("button", name="Change").click()
        sheet = page.get_by_role("dialog", name="Notifications to hook")
        sheet.get_by_label("Quiet from").fill("22:00")
        sheet.get_by_role("button", name="Save").click()
        expect(sheet).to_contain_text("Quiet hours need both times, and they differ.")
        sheet.get_by_label("Quiet until").fill("07:00")
        sheet.get_by_role("checkbox", name="Objectives that ended").uncheck()
        axe(page)
        sheet.get_by_role("button", name="Save").click()
        expect(sheet).to_have_count(0)
        target = house.get("/notifications")["items"][0]["target"]
        assert (target["quiet_from"], target["quiet_to"]) == ("22:00", "07:00") and "ended" not in target["kinds"]
        row.get_by_role("switch", name="Send notifications").click()
        expect(row.get_by_role("switch", name="Send notifications")).not_to_be_checked()
        axe(page)
        row.get_by_role("button", name="Remove").click()
        page.get_by_role("dialog", name="Remove hook?").get_by_role("button", name="Remove").click()
        expect(page.get_by_text("No targets yet")).to_be_visible()
    assert house.get("/notifications")["items"] == []


@promise("SCH-3.out")
def test_a_damaged_outbox_is_said_at_its_targets_with_the_way_out(walked: Stage, visit: Visit) -> None:
    house, box = walked.house, walked.house.home.data / "outbox.db"
    house.post("/notifications", {"name": "desk", "via": {"type": "desktop"}})
    house.stop()
    box.write_bytes(b"damaged" * 9000)
    house.start()
    page = visit(walked, "/settings?section=notifications")
    row = page.get_by_role("listitem", name="desk")
    expect(row).to_contain_text("Failing: ")
    expect(row).to_contain_text("the file is damaged; keep a copy of it, and stop Stead, move the file away")
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove desk?").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No targets yet")).to_be_visible()
    page.close()
    house.stop()
    box.unlink()
    house.start()


@promise("SCH-3.out")
@pytest.mark.long
def test_mail_is_set_up_in_the_settings_and_says_what_went_wrong(walked: Stage, visit: Visit) -> None:
    with mailbox() as box:
        page = visit(walked, "/settings?section=notifications", PHONE)
        form = target_form(page, "post", "Mail")
        form.get_by_role("button", name="Add", exact=True).press("Enter")
        for flaw in ("Give 1 to 5 addresses", "Give a host.", "Give the user to sign in as.", "Type the value."):
            expect(form.get_by_text(flaw)).to_be_visible()
        axe(page)
        form.get_by_role("textbox", name="To", exact=True).fill("ada@example.com, ben@example.com")
        form.get_by_role("textbox", name="Mail server").fill("127.0.0.1")
        form.get_by_role("combobox", name="Connection").click()
        page.get_by_role("option", name="without TLS").click()
        form.get_by_role("textbox", name="Port").fill(str(box.port))
        form.get_by_role("textbox", name="From address").fill("stead@example.com")
        form.get_by_role("textbox", name="From address").press("Enter")
        row = page.get_by_role("listitem", name="post")
        expect(row).to_contain_text("Mail to ada@example.com, ben@example.com")
        row.get_by_role("button", name="Send a test").click()
        toasts = page.get_by_role("region", name="Notifications", exact=True)
        expect(toasts).to_contain_text("A test was sent to post", timeout=15_000)
        assert box.envelopes == [("stead@example.com", ("ada@example.com", "ben@example.com"))]
        box.refusals |= dict.fromkeys(("ada@example.com", "ben@example.com"), "550 there is no ben here")
        row.get_by_role("button", name="Send a test").click()
        expect(row.get_by_role("status")).to_contain_text("there is no ben here")
        axe(page)
    walked.house.cli("notify", "remove", "post", "--yes")


@promise("UI-1.setup")
def test_health_and_the_record_are_looked_at_from_the_settings(walked: Stage, visit: Visit) -> None:
    page = visit(walked, "/settings?section=about")
    says(page, "Everything works.")
    page.get_by_role("link", name="Verify").click()
    page.wait_for_url("**/audit?verify=true")
    expect(page.get_by_role("status").filter(has_text="No problems found")).to_be_visible()
    page.get_by_role("combobox", name="Decision").click()
    page.get_by_role("option", name="Asked you").click()
    expect(page).to_have_url(f"{walked.origin}/audit?verdict=ask")
    expect(page.get_by_role("status").filter(has_text="No problems found")).to_be_visible()


@pytest.mark.long
def test_this_browser_is_signed_out_after_a_question(walked: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect(401, "^/api/")
    watch.expect_outage()
    page = visit.stranger(walked).new_page()
    page.goto(walked.link())
    is_live(page)
    page.goto(f"{walked.origin}/settings?section=browser")
    settled(page)
    page.get_by_role("button", name="Sign this browser out").click()
    sheet = page.get_by_role("dialog", name="Sign this browser out?")
    sheet.get_by_role("button", name=re.compile("^Cancel$")).click()
    is_live(page)
    expect(sheet).to_have_count(0)
    page.get_by_role("button", name="Sign this browser out").click()
    sheet.get_by_role("button", name="Sign this browser out").click()
    says(page, "stead open")
    page.reload()
    says(page, "stead open")
