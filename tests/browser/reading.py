"""What every address of the app is held to, at one size of window, in both themes."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Page

from tests.browser.axe import small_targets, violations, wider_than_the_window
from tests.browser.chrome import Look, Visit, settled
from tests.browser.keyboard import unseen_stops
from tests.browser.routes import path
from tests.browser.stage import Stage
from tests.browser.watching import rests

NARROWEST = 320
REPAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Resolves when the page was drawn in the theme that it has now."""


def faults(visit: Visit, stage: Stage, address: str, look: Look, whole: bool = True) -> list[str]:
    """What keeps people out of a page; each line names the theme. Without axe where it is not to be the whole."""
    page = visit(stage, path(address, stage), look)
    found: list[str] = []
    if whole:
        rests(page)
    for dark in (False, True) if whole else ():
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.evaluate(REPAINTED)
        name = replace(look, dark=dark).name
        found += [f"{name}: {line}" for line in violations(page, colours_alone=dark)]
    found += [f"sideways at {look.width}: {line}" for line in wider_than_the_window(page)]
    found += [f"small: {line}" for line in small_targets(page)]
    found += _narrow(page, look) if look.touch else [f"unseen focus: {line}" for line in unseen_stops(page)]
    page.close()
    return found


def _narrow(page: Page, look: Look) -> list[str]:
    page.set_viewport_size({"width": NARROWEST, "height": look.height})
    settled(page)
    return [f"sideways at {NARROWEST}: {line}" for line in wider_than_the_window(page)]
