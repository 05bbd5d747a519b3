"""A session of 5,000 events: there in three seconds, a few hundred nodes of content, and every word of it found."""

from __future__ import annotations

import time

from playwright.sync_api import expect

from tests.browser.chrome import Visit
from tests.browser.stage import Stage

REPLAY_S = 3.0
NODES = 500


def test_it_is_read_at_once_searched_and_followed(plenty: Stage, visit: Visit) -> None:
    page = visit(plenty, "/sessions")
    took_s = []
    for _ in range(3):
        start_s = time.monotonic()
        page.goto(f"{plenty.origin}/sessions/{plenty.ids['talk']}")
        expect(page.get_by_text("Turn 555 done")).to_be_visible()
        took_s.append(time.monotonic() - start_s)
    print(f"\n5,000 events: {sorted(took_s)[1]:.2f} s (bar {REPLAY_S} s)")
    assert sorted(took_s)[1] < 2 * REPLAY_S  # a loaded machine; the bench holds the bar itself
    assert page.evaluate("document.querySelectorAll('main *').length") <= NODES

    page.keyboard.press("Control+f")
    page.get_by_role("searchbox", name="Find in this conversation").fill("letter 77 say")
    expect(page.get_by_text("What does letter 77 say?")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Letter 77 says that")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Jump to the end").click()
    expect(page.get_by_text("Letter 555 says that")).to_be_in_viewport()
    assert page.evaluate("document.querySelectorAll('main *').length") <= NODES
