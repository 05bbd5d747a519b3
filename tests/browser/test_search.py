"""The search over what happened: a time is chosen by keyboard, stands in the address, and is kept by a link."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import axe
from tests.browser.chrome import PHONE, Visit, settled
from tests.browser.stage import Stage


def address(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def day(days: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).date().isoformat()


@pytest.mark.long
def test_a_search_is_over_the_time_that_is_chosen(some: Stage, visit: Visit) -> None:
    page = visit(some, "/search?q=tides", PHONE)
    results = page.get_by_role("list", name="Results")
    expect(results).to_be_visible()
    found = results.get_by_role("listitem").count()
    page.get_by_role("combobox", name="Time").press("Enter")
    page.get_by_role("option", name="Choose days").press("Enter")
    page.get_by_label("To day").fill(day(-1))
    expect(page.get_by_text("Nothing in this time. Choose another one, or any.")).to_be_visible()
    assert address(page) == {"q": "tides", "to": day(-1)}
    page.get_by_label("From day").fill(day())
    expect(page.get_by_text("The first day is after the last one.")).to_be_visible()
    axe(page)
    page.get_by_label("To day").fill(day(1))
    expect(results.get_by_role("listitem")).to_have_count(found)
    page.reload()
    settled(page)
    expect(page.get_by_label("From day")).to_have_value(day())
    expect(results.get_by_role("listitem")).to_have_count(found)
    assert "to=" in str(page.get_by_role("navigation", name="Where").get_by_role("link").first.get_attribute("href"))
    page.get_by_role("combobox", name="Time").press("Enter")
    page.get_by_role("option", name="The last 7 days").press("Enter")
    expect(page.get_by_label("From day")).to_have_count(0)
    expect(results.get_by_role("listitem")).to_have_count(found)
    assert address(page) == {"q": "tides", "last": "7"}
