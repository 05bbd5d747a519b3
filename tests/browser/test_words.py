"""Every word comes from the catalogues: in the pseudo-locale nothing is left that is plain English.

What others wrote (titles, arguments, names of files) is no word of the page; it stands in ``bdi``, ``code``, ``pre`` or
a field, and dates and figures in ``time`` or as numbers with units.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.chrome import Visit
from tests.browser.routes import ADDRESSES, path
from tests.browser.stage import Stage

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
      found.add(`${name}: ${text.slice(0, 80)}`);
    }
  }
  return [...found];
}"""


@pytest.mark.promise("UI-3.words")
@pytest.mark.parametrize(("route", "address"), ADDRESSES)
def test_every_word_of_a_page_comes_from_the_catalogues(some: Stage, visit: Visit, route: str, address: str) -> None:
    page = visit(some)
    page.evaluate("localStorage.setItem('stead.locale', 'en-XA')")
    page.goto(some.origin + path(address, some))
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="⟦lívé⟧")).to_have_count(1)
    plain = page.evaluate(PLAIN)
    assert plain == [], f"{route} says in plain English: {plain}"
