"""Channels on the page: a bot is added with its token, tested, a chat paired, its rights changed, all of it removed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import DESKTOP, PHONE_DARK, Look, Visit
from tests.browser.stage import Stage
from tests.browser.test_settings import holds
from tests.browser.watch import Watch
from tests.flows.chatting import Bot, channel, telegram
from tests.promises import promise


@pytest.fixture
def bot() -> Iterator[Bot]:
    with telegram() as served:
        yield served


def on_telegram(page: Page) -> Locator:
    """The form that is open, for Telegram."""
    form = page.get_by_role("dialog", name="Add a channel")
    form.get_by_role("combobox", name="Platform").click()
    page.get_by_role("option", name="Telegram").click()
    return form


def add(page: Page, bot: Bot, name: str, token: str = "") -> Locator:
    """Fill the form in and send it; gives the channel's panel."""
    page.get_by_role("button", name="Add a channel").click()
    form = on_telegram(page)
    form.get_by_role("textbox", name="Name", exact=True).fill(name)
    form.get_by_label("The token that @BotFather gave").fill(token or bot.server.token)
    form.get_by_role("textbox", name="The address of the Bot API").fill(bot.server.url)
    form.get_by_role("textbox", name="The address of the Bot API").press("Enter")
    expect(form).to_have_count(0)
    return page.get_by_role("region", name=name)


def more(page: Page, panel: Locator, name: str, action: str) -> None:
    panel.get_by_role("button", name=f"More for {name}").click()
    page.get_by_role("menuitem", name=action).click()


def code_of(page: Page, panel: Locator, name: str, folder: str) -> tuple[Locator, str]:
    """Ask for a code; gives the dialog that shows it, and the code."""
    panel.get_by_role("button", name="Pair a chat").click()
    form = page.get_by_role("dialog", name=f"Pair a chat with {name}")
    form.get_by_role("textbox", name="Folder", exact=True).fill(folder)
    form.get_by_role("radio", name="Ask before changes").check()
    axe(page)
    form.get_by_role("button", name="Show the code").click()
    shown = page.get_by_role("dialog", name="Send this code")
    return shown, shown.locator("[data-code]").inner_text()


@promise("CH-4.test")
@pytest.mark.parametrize(
    ("look", "name"),
    [(DESKTOP, "quill"), pytest.param(PHONE_DARK, "heron", marks=pytest.mark.long)],
    ids=["wide", "phone"],
)
def test_a_bot_is_added_tested_paired_changed_switched_off_and_removed(
    walked: Stage, visit: Visit, watch: Watch, bot: Bot, look: Look, name: str
) -> None:
    house, token = walked.house, bot.server.token
    page = visit(walked, "/channels", look)
    expect(page.get_by_text("No channels yet")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Add a channel").click()
    form = on_telegram(page)
    form.get_by_role("textbox", name="The address of the Bot API").fill("here")
    form.get_by_role("button", name="Add a channel").click()
    expect(form.get_by_text("Paste the token.")).to_be_visible()
    expect(form.get_by_text("values do not look like this.")).to_be_visible()
    axe(page)
    page.keyboard.press("Escape")

    panel = add(page, bot, name)
    expect(panel.get_by_text("Connected", exact=True)).to_be_visible(timeout=30_000)
    expect(panel.get_by_text(f"@{bot.server.me['username']}")).to_be_visible()
    everything = json.dumps([house.events(), house.get("/channels"), house.get("/secrets")])
    assert not holds(page, token) and token not in everything
    assert not any(token in url for url in watch.requests)
    panel.get_by_role("button", name="Test", exact=True).click()
    toasts = page.get_by_role("region", name="Notifications", exact=True)
    expect(toasts).to_contain_text(f"{name}: the platform accepts the token")

    shown, code = code_of(page, panel, name, str(walked.project))
    expect(shown.get_by_role("timer")).to_contain_text("Valid for")
    expect(shown.get_by_role("link", name="https://t.me/")).to_be_visible()
    axe(page)
    bot.writes(code)
    expect(shown).to_have_count(0)
    expect(toasts).to_contain_text("ada is paired")
    line = panel.get_by_role("listitem", name="ada")
    expect(line).to_contain_text("Ada (Owner)")
    expect(line).to_contain_text("Ask before changes")
    axe(page)

    line.get_by_role("button", name="Change").click()
    sheet = page.get_by_role("dialog", name="Change ada")
    sheet.get_by_role("textbox", name="Name", exact=True).fill("desk")
    sheet.get_by_role("combobox", name="Role of Ada").click()
    page.get_by_role("option", name="Guest").click()
    sheet.get_by_role("button", name="Save").click()
    expect(sheet.get_by_text("At least one person has to be an owner.")).to_be_visible()
    axe(page)
    sheet.get_by_role("combobox", name="Role of Ada").click()
    page.get_by_role("option", name="Owner").click()
    sheet.get_by_role("radio", name="Read-only").check()
    sheet.get_by_role("button", name="Models and budget").click()
    sheet.get_by_role("checkbox", name="A budget of its own for each session").check()
    sheet.get_by_role("textbox", name="Money at most").fill("2.50")
    sheet.get_by_role("button", name="Save").click()
    expect(sheet).to_have_count(0)
    rights = channel(house, name)["chats"][0]["chat"]["rights"]
    assert (rights["profile"], rights["budget"]["usd_micros"]) == ("readonly", 2_500_000)

    panel.get_by_role("switch", name="Listen and send").click()
    expect(panel.get_by_text("Off", exact=True)).to_be_visible()
    expect(panel.get_by_role("button", name="Pair a chat")).to_be_disabled()
    panel.get_by_role("switch", name="Listen and send").click()
    expect(panel.get_by_text("Connected", exact=True)).to_be_visible(timeout=30_000)

    panel.get_by_role("listitem", name="desk").get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove desk?").get_by_role("button", name="Remove").click()
    expect(panel.get_by_text("No chat is paired yet.")).to_be_visible()
    more(page, panel, name, "Remove")
    asked = page.get_by_role("dialog", name=f"Remove {name}?")
    expect(asked).to_contain_text("What waits to be sent is lost.")
    asked.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No channels yet")).to_be_visible()


@pytest.mark.long
def test_a_refused_token_is_told_and_another_one_takes_its_place(
    walked: Stage, visit: Visit, watch: Watch, bot: Bot
) -> None:
    page = visit(walked, "/channels")
    panel = add(page, bot, "worn", "123456:worn-out")
    expect(panel.get_by_text("Not connected")).to_be_visible(timeout=30_000)
    expect(panel).to_contain_text("refuses the token")
    assert not holds(page, "worn-out")
    more(page, panel, "worn", "Change")
    sheet = page.get_by_role("dialog", name="Change worn")
    expect(sheet.get_by_text("The vault has it as worn-token. Type one only to replace it.")).to_be_visible()
    sheet.get_by_label("The token that @BotFather gave").fill(bot.server.token)
    sheet.get_by_role("button", name="Save").click()
    expect(sheet).to_have_count(0)
    switch = panel.get_by_role("switch", name="Listen and send")
    if not switch.is_checked():
        switch.click()
    expect(panel.get_by_text("Connected", exact=True)).to_be_visible(timeout=30_000)
    walked.house.cli("channel", "remove", "worn", "--yes")
    expect(page.get_by_text("No channels yet")).to_be_visible()


@pytest.mark.long
def test_a_link_of_a_chat_opens_the_form_with_its_kind_and_what_a_channel_may_spend_is_capped_there(
    walked: Stage, visit: Visit, bot: Bot
) -> None:
    page = visit(walked, "/channels?connect=slack")
    form = page.get_by_role("dialog", name="Add a channel")
    expect(form.get_by_role("combobox", name="Platform")).to_have_text("Slack")
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("slack")
    page.keyboard.press("Escape")
    panel = add(page, bot, "swift")
    panel.get_by_role("button", name="Spending limits").click()
    sheet = page.get_by_role("dialog", name="Spending limits")
    day = sheet.get_by_role("group", name="Each day")
    day.get_by_role("checkbox").first.uncheck()
    day.get_by_role("textbox").first.fill("5000")
    axe(page)
    sheet.get_by_role("button", name="Save limit").click()
    expect(panel.get_by_text("0 of 5,000")).to_be_visible()
    assert walked.house.get("/cap")["channels"][0]["daily"]["tokens"] == 5000
    walked.house.cli("channel", "remove", "swift", "--yes")
