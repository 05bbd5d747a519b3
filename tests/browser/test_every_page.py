"""Every page of the app, by the rules that hold for all: accessible to everybody, every word from the catalogues.

One test goes through all addresses in one browser, as a person does, so that the app's code is read once and not for
each address. What it finds names the address. In CI each address is looked at once: at the desk every sixth, on a phone
the others of even number, for its words those of odd number. ``long``: all of them in each.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import small_targets, violations, wider_than_the_window
from tests.browser.chrome import DESKTOP, PHONE, Look, Visit, settled
from tests.browser.keyboard import unseen_stops
from tests.browser.reading import faults
from tests.browser.routes import ADDRESSES, ROUTES, of_the_app, path
from tests.browser.stage import Stage

pytestmark = pytest.mark.timeout(900)

EACH = [address for _, address in ADDRESSES]
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


@pytest.mark.promise("UI-3.accessible", "UI-3.themes", "UI-3.responsive")
@pytest.mark.parametrize(
    ("look", "whole", "addresses"),
    [
        (DESKTOP, True, EACH[::6]),
        (PHONE, False, EACH[2::6] + EACH[4::6]),
        pytest.param(DESKTOP, True, EACH, marks=pytest.mark.long),
        pytest.param(PHONE, True, EACH, marks=pytest.mark.long),
    ],
    ids=["desk", "phone", "desk-all", "phone-axe"],
)
def test_no_page_keeps_anybody_out(some: Stage, visit: Visit, look: Look, whole: bool, addresses: list[str]) -> None:
    """Desk: axe in both themes, seen focus, targets to hit. On a phone: no sideways scroll; ``long``: axe too."""
    found = [f"{address}: {line}" for address in addresses for line in faults(visit, some, address, look, whole)]
    assert not found, f"{len(found)}\n" + "\n".join(found)


LISTS = ("/sessions", "/objectives", "/approvals", "/audit", "/rules", "/secrets", "/network", "/memories", "/usage")

EDGES = """() => {
  let page = document.querySelector("main h1")
  while (page.parentElement.parentElement.id !== "content") page = page.parentElement
  const { left, right } = page.getBoundingClientRect()
  return `${left} ${right}`
}"""


@pytest.mark.long
def test_lists_share_one_left_and_one_right_edge(some: Stage, visit: Visit) -> None:
    page = visit(some, "/settings", DESKTOP)
    edges = set()
    for address in LISTS:
        page.goto(some.origin + address)
        settled(page)
        edges.add(page.evaluate(EDGES))
    assert len(edges) == 1, edges


ROWS_OF_BUTTONS = """([card, lines]) => {
  const tops = [...card.querySelectorAll("button")].filter((one) => one.checkVisibility())
    .map((one) => Math.round(one.getBoundingClientRect().y))
  return new Set(tops).size === lines
}"""


@pytest.mark.long
def test_answers_stand_in_one_line_and_on_a_phone_in_two_above_a_field_of_its_own_width(
    some: Stage, visit: Visit
) -> None:
    for look, lines in ((DESKTOP, 1), (PHONE, 2)):
        page = visit(some, path("/sessions/{asking}", some), look)
        card = page.get_by_role("article").get_by_role("group", name="Your answer")
        expect(card).to_be_visible()
        settled(page)
        # All at once, and again until it holds: on a loaded machine the card is still being laid out.
        page.wait_for_function(ROWS_OF_BUTTONS, arg=[card.element_handle(), lines])
        field = page.get_by_role("textbox", name="Message").bounding_box()
        assert field is not None
        assert field["width"] >= 200


PLAIN = r"""() => {
  const skip = "bdi, code, pre, kbd, time, textarea, svg, script, style, .prose, .cm-editor, .xterm, .uplot";
  const unit = "(US)?\\$|[kMGT]?B|bytes?|ms|s|secs?|mins?|hr|hrs|wks?|days?|[KMB]|tok";
  const figure = new RegExp(`^([^\\p{L}]*(${unit})?)*[^\\p{L}]*$`, "u");
  const day = /\d{1,2} \p{L}{3,4}( \d{4})?/gu;
  const id = /^[a-z]{1,2}_[0-9a-f]{8,16}$/;
  const dressed = (text) => /[⟦⟧]/.test(text) || id.test(text) || figure.test(text.replaceAll(day, ""));
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent.trim();
    const parent = node.parentElement;
    if (!/\p{L}{2}/u.test(text) || parent.closest(skip) || !parent.checkVisibility()) continue;
    // A message with something inside it can be several nodes; its brackets are then with the others.
    if (dressed(text) || dressed(parent.textContent)) continue;
    found.add(text.slice(0, 80));
  }
  for (const name of ["aria-label", "placeholder", "title", "alt"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      const text = element.getAttribute(name).trim();
      if (!/\p{L}{2}/u.test(text) || dressed(text) || text.startsWith("/") || !element.checkVisibility()) continue;
      if (element.closest("time, bdi, code, pre, tr, .cm-editor, .xterm")) continue;
      // What others wrote, shown in full where it is cut short: the name of a file.
      if ([...element.querySelectorAll("bdi")].some((one) => one.textContent.trim() === text)) continue;
      found.add(`${name}: ${text.slice(0, 80)}`);
    }
  }
  return [...found];
}"""


@pytest.mark.promise("UI-3.words")
@pytest.mark.parametrize("addresses", [EACH[1::2], pytest.param(EACH, marks=pytest.mark.long)], ids=["some", "all"])
def test_every_word_of_a_page_comes_from_the_catalogues(some: Stage, visit: Visit, addresses: list[str]) -> None:
    """In the pseudo-locale nothing is left that is plain English.

    What others wrote (titles, arguments, names of files) is no word of the page; it stands in ``bdi``, ``code``,
    ``pre`` or a field, and dates and figures in ``time`` or as numbers with units.
    """
    page = visit(some)
    found: list[str] = []
    for address in addresses:
        # Each is opened as by a newcomer: what a page keeps opens more of the next one, such as the names of files.
        page.evaluate("sessionStorage.clear(); localStorage.clear(); localStorage.setItem('stead.locale', 'en-XA')")
        page.goto(some.origin + path(address, some))
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        expect(page.get_by_role("status").filter(has_text="⟦lívé⟧")).to_have_count(1)
        found += [f"{address} says in plain English: {line}" for line in page.evaluate(PLAIN)]
    assert found == []
