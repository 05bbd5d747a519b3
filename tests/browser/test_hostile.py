"""What models, tools, files and strangers write is only ever text: nothing runs, nothing is fetched, nothing hides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import hostile
from tests.browser.axe import wider_than_the_window
from tests.browser.chrome import DESKTOP, PHONE, Look, Visit, settled
from tests.browser.routes import path
from tests.browser.stage import Stage, staged
from tests.browser.vectors import VECTORS
from tests.browser.watch import Watch


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home full of hostile words."""
    with staged(tmp_path_factory.mktemp("hostile")) as stage:
        hostile.fill(stage)
        yield stage


def test_there_are_enough_of_them_and_each_is_different() -> None:
    assert len(set(VECTORS)) == len(VECTORS) >= 100


@pytest.mark.timeout(600)
@pytest.mark.parametrize("look", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.long)], ids=["desk", "phone"])
def test_no_hostile_word_does_anything_but_be_read(grounds: Stage, visit: Visit, watch: Watch, look: Look) -> None:
    # The audit page unfolds what the newest signed head says, and there is none.
    watch.expect(404, r"/audit/head$")
    page = visit(grounds, "/", look)
    for place in hostile.PLACES:
        page.goto(grounds.origin + path(place, grounds))
        settled(page)
        hostile.unfold(page)
        expect(page.locator("body")).to_contain_text("onerror")
        assert hostile.harm(page) == [], place
        assert wider_than_the_window(page) == [], place
    assert hostile.reached(watch.requests) == []


def test_the_search_for_harm_finds_it(grounds: Stage, visit: Visit, watch: Watch) -> None:
    watch.expect_console("")
    page = visit.stranger(grounds).new_page()
    page.set_content(f"<main>{hostile.LURE}<a href='javascript:1'>x</a></main>")
    said = "\n".join(hostile.harm(page))
    assert "scripts ran" in said and "javascript:1" in said and "backwards" in said
