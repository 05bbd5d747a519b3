"""Debian's Chromium, how large its windows are, and how tests come into a home's page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.stage import Stage
from tests.browser.watch import Watch

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_MS = 20_000
"""How long a page may take to show something on a loaded machine; never a pause."""
SLOWER = float(os.environ.get("STEAD_TEST_SLOWER", "1"))
"""How many times slower than it is the processor is made for pages, to find what takes a fast one for granted."""
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none"]


@dataclass(frozen=True)
class Look:
    """How a person sees the page.

    Args:
        width, height: of the window, in CSS pixels.
        touch: a phone: no mouse that hovers, fingers.
    """

    width: int
    height: int
    touch: bool = False
    dark: bool = False

    @property
    def name(self) -> str:
        """Such as ``390-dark``."""
        return f"{self.width}-{'dark' if self.dark else 'light'}"


DESKTOP = Look(1440, 900)
DESKTOP_DARK = Look(1440, 900, dark=True)
PHONE = Look(390, 844, touch=True)
PHONE_DARK = Look(390, 844, touch=True, dark=True)
LOOKS = (DESKTOP, DESKTOP_DARK, PHONE, PHONE_DARK)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; no test may run an event loop in its own thread meanwhile."""
    assert CHROMIUM is not None
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """Opens pages. One test has one; what is opened with the same look shares its cookies, like tabs of one browser.

    page = visit(some, "/approvals")
    other = visit(some, "/", PHONE_DARK)
    """

    browser: Browser
    watch: Watch
    _contexts: dict[tuple[str, Look], BrowserContext] = field(default_factory=dict)

    def __call__(self, stage: Stage, path: str = "/", look: Look = DESKTOP) -> Page:
        """A tab at a path of a home's page, signed in, live, its first content there."""
        context = self.context(stage, look)
        page = context.new_page()
        if stage.signed_in is None:
            page.goto(stage.link().replace("/#code=", f"{path}#code="))
            is_live(page)
            stage.signed_in = context.storage_state()
        if page.url != stage.origin + path:
            page.goto(stage.origin + path)
        settled(page)
        return page

    def context(self, stage: Stage, look: Look = DESKTOP) -> BrowserContext:
        """The browser of this look; a new one holds the home's cookie if anybody has signed in yet."""
        key = (stage.origin, look)
        if key not in self._contexts:
            self._contexts[key] = self.stranger(stage, look, stage.signed_in)
        return self._contexts[key]

    def stranger(self, stage: Stage, look: Look = DESKTOP, storage: object = None) -> BrowserContext:
        """Another browser, watched too. Nobody is signed in there unless ``storage`` says so."""
        context = self.browser.new_context(
            viewport={"width": look.width, "height": look.height},
            device_scale_factor=1,
            is_mobile=look.touch,
            has_touch=look.touch,
            color_scheme="dark" if look.dark else "light",
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
            storage_state=storage,  # type: ignore[arg-type]  # what storage_state() gave; its two types differ
        )
        context.set_default_timeout(PATIENCE_MS)
        if SLOWER > 1:
            context.on("page", _slow_down)
        self.watch.attach(context, stage.host)
        return context

    def close(self) -> None:
        """Close every browser, after all that they had to say."""
        for context in self.browser.contexts:
            for page in context.pages:
                page.evaluate("1")  # what happened before is heard before this is answered
            context.close()


def _slow_down(page: Page) -> None:
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def is_live(page: Page, text: str = "live") -> None:
    """Wait until the connection says that it is live, or something else of its own: "catching up", "offline"."""
    expect(page.get_by_role("status", name="Connection")).to_contain_text(text)


def settled(page: Page) -> None:
    """Wait until the tab is live and its page has its heading, and no part of it is still being fetched."""
    is_live(page)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    busy = page.locator("[aria-busy=true]")
    try:
        expect(busy).to_have_count(0)
    except AssertionError as still:
        parts = busy.evaluate_all("(all) => all.map((one) => one.outerHTML.slice(0, 400))")
        raise AssertionError("\n".join(["these parts are still being fetched:", *parts])) from still
