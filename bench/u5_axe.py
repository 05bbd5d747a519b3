"""U5: what axe-core finds on every route, in both themes, at a desk and on a phone, menus and lists open too."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from bench.bar import Bar
from bench.pages import seat
from tests.browser import seeds
from tests.browser.axe import violations
from tests.browser.chrome import DESKTOP, PHONE
from tests.browser.routes import ADDRESSES, ROUTES, path

THEMES = ("light", "dark")
OPENERS = "[aria-haspopup]:not(:disabled):visible, [role=combobox]:not(input):not(:disabled):visible"

OPENED = ("[data-base-ui-portal]", "[aria-expanded=true]")
"""What is over the page, and what opened it. The page behind it, then hidden, is looked at while nothing is open."""


def measure() -> list[Bar]:
    """Each broken rule at each place counts. What opens under the same name is opened on one page of each size."""
    found: list[str] = []
    opened = 0
    with seat(seeds.some) as at:
        for look in (DESKTOP, PHONE):
            done: set[str] = set()
            for _, address in ADDRESSES:
                page = at.visit(at.stage, path(address, at.stage), look)
                where = f"{address} {look.width}"
                found += [f"{where} {line}" for line in _in_both_themes(page)]
                for name, opener in _openers(page):
                    if name in done:
                        continue
                    done.add(name)
                    opener.click()
                    expect(opener).to_have_attribute("aria-expanded", "true")
                    found += [f"{where}, {name!r} open, {line}" for line in _in_both_themes(page, *OPENED)]
                    page.keyboard.press("Escape")
                    expect(opener).to_have_attribute("aria-expanded", "false")
                page.close()
            opened += len(done)
    for line in found[:20]:
        print(line)
    said = f"{len(ROUTES)} routes at {len(ADDRESSES)} addresses and {opened} menus, lists and dialogs open; both themes"
    said += ", 1440 and 390 px; A, AA, 2.2, best practice"
    return [Bar("U5", len(found), "violations", "0", not found, {"the spike": 5.0}, said)]


def _in_both_themes(page: Page, *within: str) -> list[str]:
    found: list[str] = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        found += [f"{theme}: {line}" for line in violations(page, within=within, colours_alone=theme == "dark")]
    return found


def _openers(page: Page) -> list[tuple[str, Locator]]:
    """What opens something over the page, by its name without figures, so that rows of a list count once."""
    found = []
    for opener in page.locator(OPENERS).all():
        name = opener.get_attribute("aria-label") or opener.inner_text()
        found.append((re.sub(r"\d+|“.*”", "", " ".join(name.split())), opener))
    return found


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
