"""A new user with a keyboard alone: a goal on Home becomes a change that is allowed, reviewed, commented and undone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chrome import Visit
from tests.browser.keyboard import focus_is_seen
from tests.browser.stage import FILES, Stage, staged
from tests.flows.house import use_model
from tests.machines.bench import require_sandbox
from tests.promises import promise

MOST = 12


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home with a model in which nothing was done yet."""
    require_sandbox()
    with staged(tmp_path_factory.mktemp("walk")) as one:
        use_model(one.house, one.model.openai)
        yield one


class Presses:
    """A keyboard that counts. Of a chord each of its keys is a press; text is none."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.made: list[str] = []

    def press(self, chord: str) -> None:
        self.made += chord.split("+")
        self.page.keyboard.press(chord)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)


@promise("UI-3.keyboard")
def test_a_new_user_asks_allows_reviews_comments_and_undoes_in_twelve_presses(stage: Stage, visit: Visit) -> None:
    page = visit(stage, "/")
    keys = Presses(page)
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    keys.type("Please hang the west lamp and tell the quay")
    keys.press("Enter")
    expect(page.get_by_role("textbox", name="Folder", exact=True)).to_be_focused()
    keys.type(str(stage.project))
    keys.press("Enter")
    card = page.get_by_role("article")
    expect(card).to_contain_text("quay.example.com")
    if page.evaluate("document.activeElement.tagName") == "TEXTAREA":  # the page was there before the question came
        keys.press("Escape")
        expect(card).to_be_focused()
        assert focus_is_seen(page)
    expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
    keys.press("a")
    expect(page.get_by_role("main")).to_contain_text("The west lamp hangs.")
    keys.press("Control+Shift+E")
    review = page.get_by_role("tabpanel", name="Changes")
    lamps = review.get_by_role("region", name="lamps.py", exact=True)
    expect(lamps).to_contain_text('"west"')
    keys.press("c")
    expect(review.get_by_role("textbox", name=re.compile("Comment on lamps.py"))).to_be_focused()
    keys.type("Is it lit at night?")
    keys.press("Control+Enter")
    expect(lamps).to_contain_text("Is it lit at night?")
    keys.press("r")
    expect(page.get_by_text("Review sent")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(
        "Turn 2 done"
    )  # what runs in it keeps its files from being restored
    expect(page.get_by_role("status", name="State")).to_have_text("Idle")
    keys.press("u")
    expect(page.get_by_text("Restored", exact=True)).to_be_visible()
    session = page.url.rpartition("/")[2]
    assert "Is it lit at night?" in stage.house.bodies(session, "message.received")[-1]["text"]
    assert (stage.project / "lamps.py").read_text("utf-8") == FILES["lamps.py"]
    assert len(keys.made) <= MOST, keys.made
