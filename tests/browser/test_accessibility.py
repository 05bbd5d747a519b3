"""No page keeps anybody out: axe in both themes, focus that is seen, targets that can be hit, on a desk's window."""

from __future__ import annotations

import pytest

from tests.browser.axe import small_targets, violations, wider_than_the_window
from tests.browser.chrome import DESKTOP, Visit
from tests.browser.keyboard import unseen_stops
from tests.browser.reading import faults
from tests.browser.routes import ADDRESSES, ROUTES, of_the_app
from tests.browser.stage import Stage

BROKEN = """<!doctype html><html><head><title></title></head><body style="margin: 0; color: #aaa; background: #fff">
<style>button:focus-visible { outline: none }</style>
<img src="data:,x"><button style="width: 10px; height: 10px; padding: 0; border: 0"></button><button>x</button>
<p>grey on white</p>
<div style="width: 5000px">wide</div></body></html>"""


def test_every_route_of_the_app_is_looked_at() -> None:
    assert list(ROUTES) == of_the_app()


def test_what_is_looked_for_is_found_where_it_is(fresh: Stage, visit: Visit) -> None:
    page = visit.stranger(fresh).new_page()
    page.set_content(BROKEN)
    rules = {line.partition(" ")[0] for line in violations(page)}
    assert {"document-title", "html-has-lang", "image-alt", "button-name", "color-contrast"} <= rules
    assert "5000 px" in wider_than_the_window(page)[0]
    assert "10x10" in small_targets(page)[0]
    assert unseen_stops(page, 2)


@pytest.mark.promise("UI-3.accessible", "UI-3.themes")
@pytest.mark.parametrize(("route", "address"), ADDRESSES, ids=[address for _, address in ADDRESSES])
def test_a_page_keeps_nobody_out_at_a_desk(some: Stage, visit: Visit, route: str, address: str) -> None:
    found = faults(visit, some, address, DESKTOP)
    assert not found, f"{route}: {len(found)}\n" + "\n".join(found)
