"""The two ways to work a page: a mouse, or the keyboard alone. A journey is told once and walked with both."""

from __future__ import annotations

import re
from typing import Literal, Protocol

from playwright.sync_api import Locator, Page, expect

from tests.browser import keyboard

Name = str | re.Pattern[str]
Pressed = Literal["button", "link", "tab", "option", "menuitem"]
Ticked = Literal["checkbox", "radio", "switch"]


class Hands(Protocol):
    """What a person does with what they find by role and name; of several it is the first."""

    def press(self, page: Page, role: Pressed, name: Name) -> None:
        """Press a button or follow a link, as soon as it can be pressed."""

    def tick(self, page: Page, role: Ticked, name: Name) -> None:
        """Choose a box, a radio button or a switch."""

    def write(self, page: Page, name: Name, text: str) -> None:
        """Put text into a field, in place of what it held."""

    def open_row(self, page: Page, grid: Name, link: Name) -> None:
        """Follow the first link of this name in a grid of rows."""

    def enter(self, page: Page, name: Name, within: Locator) -> None:
        """Give the focus to a field that is drawn by a script, such as a terminal's, inside what shows it."""


class Mouse:
    """Clicks."""

    def press(self, page: Page, role: Pressed, name: Name) -> None:
        """A click."""
        page.get_by_role(role, name=name).first.click()

    def tick(self, page: Page, role: Ticked, name: Name) -> None:
        """A click on what says it, unless it is so already."""
        page.get_by_role(role, name=name).first.check()

    def write(self, page: Page, name: Name, text: str) -> None:
        """A click into the field, then its text."""
        field = _field(page, name)
        field.click()
        field.fill(text)

    def open_row(self, page: Page, grid: Name, link: Name) -> None:
        """A click."""
        page.get_by_role("grid", name=grid).get_by_role("link", name=link).first.click()

    def enter(self, page: Page, name: Name, within: Locator) -> None:
        """A click into what shows it."""
        within.click()
        expect(_field(page, name)).to_be_focused()


class Keys:
    """Tab to it, then a key; no mouse, no script that gives the focus."""

    def press(self, page: Page, role: Pressed, name: Name) -> None:
        """Enter; a tab of a list of tabs by the arrows, after the one that is chosen."""
        wanted = page.get_by_role(role, name=name).first
        expect(wanted).to_be_enabled()
        if role == "tab" and wanted.get_attribute("tabindex") == "-1":
            keyboard.tab_to(page, "tab", re.compile("."), among=page.get_by_role("tab", selected=True))
            for _ in range(10):
                if keyboard.has_focus(wanted):
                    break
                page.keyboard.press("ArrowRight")
        else:
            keyboard.tab_to(page, role, name)
        page.keyboard.press("Enter")

    def tick(self, page: Page, role: Ticked, name: Name) -> None:
        """The space bar; of a group of radio buttons the arrows, after the one that is chosen."""
        wanted = page.get_by_role(role, name=name).first
        if wanted.is_checked():
            return
        if role == "radio" and wanted.get_attribute("tabindex") == "-1":
            keyboard.tab_to(page, "radio", re.compile("."), among=page.locator("[role=radio][tabindex='0']"))
            for _ in range(10):
                if keyboard.has_focus(wanted):
                    break
                page.keyboard.press("ArrowDown")
        else:
            keyboard.tab_to(page, role, name)
        if not wanted.is_checked():
            page.keyboard.press("Space")
        expect(wanted).to_be_checked()

    def write(self, page: Page, name: Name, text: str) -> None:
        """Typed, letter by letter."""
        field = _field(page, name)
        keyboard.tab_to(page, "textbox", name, among=field)
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(text)

    def open_row(self, page: Page, grid: Name, link: Name) -> None:
        """Tab into the grid, which has one place for it, then the arrows to the row, and Enter."""
        rows = page.get_by_role("grid", name=grid)
        wanted = rows.get_by_role("row").filter(has=page.get_by_role("link", name=link)).first
        keyboard.tab_to(page, "grid", grid, among=rows.locator("tbody"))
        for _ in range(50):
            if keyboard.has_focus(wanted):
                break
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")

    def enter(self, page: Page, name: Name, within: Locator) -> None:
        """Tab."""
        keyboard.tab_to(page, "textbox", name, among=_field(page, name), seen=False)


def _field(page: Page, name: Name) -> Locator:
    found = page.get_by_role("textbox", name=name)
    for other in (
        page.get_by_role("combobox", name=name),
        page.get_by_role("searchbox", name=name),
        page.get_by_role("spinbutton", name=name),
    ):
        found = found.or_(other)
    return found.first
