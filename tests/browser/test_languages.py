"""The page in German, and written from right to left."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import wider_than_the_window
from tests.browser.chrome import DESKTOP, PHONE, Visit
from tests.browser.languages import english_on
from tests.browser.pictures import picture
from tests.browser.reading import NARROWEST
from tests.browser.routes import ADDRESSES, path
from tests.browser.stage import Stage

pytestmark = pytest.mark.timeout(600)

SOME_OR_ALL = pytest.mark.parametrize(
    "addresses",
    [("/", "/sessions/{asking}", "/settings"), pytest.param(tuple(at for _, at in ADDRESSES), marks=pytest.mark.long)],
    ids=["some", "all"],
)

LIVE = re.compile("^(live|⟦lívé⟧)$")
READS_LEFT_TO_RIGHT = """() => [...document.querySelectorAll('code, pre, kbd, .font-mono, .cm-editor, .xterm')]
    .filter((one) => getComputedStyle(one).direction !== 'ltr').map((one) => one.outerHTML.slice(0, 120))"""


@pytest.mark.promise("UI-3.words")
@SOME_OR_ALL
def test_the_page_is_wholly_german_once_that_is_chosen_and_stays_so(
    some: Stage, visit: Visit, addresses: tuple[str, ...]
) -> None:
    page = visit(some, "/settings?section=appearance")
    assert "Appearance" in english_on(page)
    page.get_by_role("combobox", name="Language").click()
    page.get_by_role("option", name="Deutsch").click()
    expect(page.get_by_role("heading", level=1, name="Einstellungen")).to_be_visible()
    page.reload()
    expect(page.get_by_role("combobox", name="Sprache")).to_contain_text("Deutsch")
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["de", "ltr"]
    found = []
    for address in addresses:
        page.set_viewport_size({"width": DESKTOP.width, "height": DESKTOP.height})
        _opened(page, some, address)
        picture(page, _file("de", address))
        found += [f"{address} says in English: {text}" for text in english_on(page)]
        page.set_viewport_size({"width": NARROWEST, "height": PHONE.height})
        _settled(page)
        picture(page, _file("de-320", address))
        found += [f"{address} at {NARROWEST}: {line}" for line in wider_than_the_window(page)]
    assert not found, "\n".join(found)


@pytest.mark.long
def test_numbers_and_dates_are_written_as_the_language_does(some: Stage, visit: Visit) -> None:
    page = visit(some, "/usage")
    expect(page.get_by_text("$0.00").first).to_be_visible()
    _speak(page, "de")
    _opened(page, some, "/usage")
    expect(page.get_by_text("0,00 $").first).to_be_visible()
    expect(page.get_by_text("$0.00")).to_have_count(0)


@pytest.mark.promise("UI-3.words")
@SOME_OR_ALL
def test_a_page_from_right_to_left_is_the_mirror_of_itself_but_for_code_and_paths(
    some: Stage, visit: Visit, addresses: tuple[str, ...]
) -> None:
    page = visit(some)
    _speak(page, "ar-XB")
    assert page.evaluate("document.documentElement.dir") == "rtl"
    found = []
    for address in addresses:
        page.set_viewport_size({"width": DESKTOP.width, "height": DESKTOP.height})
        _opened(page, some, address)
        rail, main = (page.get_by_role(role).first.bounding_box() for role in ("navigation", "main"))
        assert rail is not None and main is not None
        if rail["x"] < main["x"] + main["width"] / 2:
            found.append(f"{address}: the rail is not on the right")
        found += [f"{address} turns code: {line}" for line in page.evaluate(READS_LEFT_TO_RIGHT)]
        found += [f"{address}: {line}" for line in wider_than_the_window(page)]
        picture(page, _file("rtl", address))
        page.set_viewport_size({"width": PHONE.width, "height": PHONE.height})
        _settled(page)
        picture(page, _file("rtl-390", address))
        found += [f"{address} at {PHONE.width}: {line}" for line in wider_than_the_window(page)]
    assert not found, "\n".join(found)


def _speak(page: Page, language: str) -> None:
    page.evaluate("language => localStorage.setItem('stead.locale', language)", language)
    page.reload()
    _settled(page)


def _settled(page: Page) -> None:
    expect(page.get_by_role("status").filter(has_text=LIVE)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def _opened(page: Page, stage: Stage, address: str) -> None:
    page.goto(stage.origin + path(address, stage))
    _settled(page)


def _file(look: str, address: str) -> str:
    return f"{look}-{re.sub(r'[^a-z]+', '-', address).strip('-') or 'home'}"
