"""The page without a mouse: by Tab to what has a name, and then a key.

Nothing here gives the focus to an element by itself: what cannot be reached by Tab fails.
"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

ROLE = str
STEPS = 250
"""How often Tab is pressed before a control counts as out of reach."""
_FOCUSED = "element => element === document.activeElement || element.contains(document.activeElement)"
_WHERE = """() => {
    const at = document.activeElement;
    return `${at?.tagName} ${at?.getAttribute('aria-label') ?? at?.textContent?.slice(0, 60)}`;
}"""
_SEEN = """() => {
    for (let at = document.activeElement, up = 0; at && up < 3; at = at.parentElement, up += 1) {
        const style = getComputedStyle(at);
        if ((style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none')
            return true;
    }
    return false;
}"""


def tab_to(
    page: Page,
    role: ROLE,
    name: str | re.Pattern[str],
    *,
    back: bool = False,
    among: Locator | None = None,
    seen: bool = True,
) -> Locator:
    """Press Tab (Shift+Tab if ``back``) until the control of this role and accessible name has the focus; gives it.

    ``among`` says itself which control it is; role and name then only tell what was wanted. ``seen=False`` is for what
    shows its focus by a cursor of its own.

    Raises:
        AssertionError: it is not reached, or the focus cannot be seen on it.
    """
    wanted = (among or page.get_by_role(role, name=name)).first  # type: ignore[arg-type]  # one of many literals
    wanted.wait_for(state="attached")
    path: list[str] = []
    for _ in range(STEPS):
        if has_focus(wanted):
            assert not seen or focus_is_seen(page), f"nobody sees that {role} {name!r} has the focus"
            return wanted
        page.keyboard.press("Shift+Tab" if back else "Tab")
        path.append(str(page.evaluate(_WHERE)))
    raise AssertionError(f"{role} {name!r} is out of reach by Tab; it went over {path[:40]}")


def has_focus(control: Locator) -> bool:
    """Whether it, or something in it, has the focus."""
    return bool(control.evaluate(_FOCUSED))


def press(page: Page, role: ROLE, name: str | re.Pattern[str], key: str = "Enter") -> None:
    """Go to a control by Tab and press a key there."""
    tab_to(page, role, name)
    page.keyboard.press(key)


def fill(page: Page, role: ROLE, name: str | re.Pattern[str], text: str) -> None:
    """Go to a field by Tab and type, in place of what it held."""
    tab_to(page, role, name)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def focus_is_seen(page: Page) -> bool:
    """Whether what has the focus, or a frame close around it, is marked by an outline or a ring."""
    return bool(page.evaluate(_SEEN))


def unseen_stops(page: Page, stops: int = 60) -> list[str]:
    """Go through the page by Tab, and name what has the focus without showing it; empty is right."""
    page.evaluate(f"() => {{ const seen = {_SEEN}; {_LISTEN} }}")
    for _ in range(stops):
        page.keyboard.press("Tab")
    return [str(line) for line in page.evaluate("window.unseen")]


_LISTEN = """
    window.unseen = [];
    document.addEventListener('focusin', (event) => {
        if (!seen()) window.unseen.push(event.target.outerHTML.slice(0, 160));
    });
"""
