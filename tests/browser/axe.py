"""What keeps people out of a page, as axe-core finds it; and what it does not see: sideways scroll, small targets."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOURS = ("color-contrast", "link-in-text-block")
_FILE = Path(__file__).parent / "vendor" / "axe.min.js"
_SMALL = """least => {
    const inline = (element) => {
        const style = getComputedStyle(element);
        return style.display === 'inline' && element.closest('p, li, td, dd, pre, code, article, figcaption') !== null;
    };
    // A label is part of its control's target.
    const box = (element) => {
        const boxes = [element, ...(element.labels ?? [])].map((one) => one.getBoundingClientRect());
        return boxes.reduce((most, one) => (one.width * one.height > most.width * most.height ? one : most));
    };
    const targets = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button],'
        + '[role=tab], [role=switch], [role=checkbox], [role=radio], [role=option], [role=menuitem], [role=slider]')]
        .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        // What is clipped away is for screen readers, until it has the focus.
        .filter((element) => !element.disabled && getComputedStyle(element).clipPath === 'none')
        .map((element) => ({ element, rect: box(element) }))
        .filter(({ rect }) => rect.width > 1 && rect.height > 1);
    const small = ({ rect }) => rect.width < least - 0.5 || rect.height < least - 0.5;
    const middle = ({ rect }) => [rect.x + rect.width / 2, rect.y + rect.height / 2];
    // A small one will do where a circle of that size around its middle meets no other target, nor another's circle.
    const crowded = (one) => targets.some((other) => {
        if (other === one || other.element.contains(one.element) || one.element.contains(other.element)) return false;
        const [x, y] = middle(one);
        const beside = Math.hypot(
            Math.max(other.rect.left - x, 0, x - other.rect.right),
            Math.max(other.rect.top - y, 0, y - other.rect.bottom),
        );
        const [otherX, otherY] = middle(other);
        return beside < least / 2 || (small(other) && Math.hypot(otherX - x, otherY - y) < least);
    });
    return targets.filter((one) => small(one) && !inline(one.element) && crowded(one)).map(({ element, rect }) =>
        `${element.outerHTML.slice(0, 120)} is ${rect.width.toFixed(0)}x${rect.height.toFixed(0)}`);
}"""
_WIDER = """() => {
    const wide = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= wide) return [];
    const isOver = ({ left, right }) => right > wide + 0.5 || (document.documentElement.dir === 'rtl' && left < -0.5);
    const over = [...document.body.querySelectorAll('*')].filter((e) => isOver(e.getBoundingClientRect()));
    const said = over.slice(0, 5).map((element) => element.outerHTML.slice(0, 120));
    return [`${document.documentElement.scrollWidth} px of ${wide}`, ...said];
}"""


def axe(page: Page, *, leave_out: tuple[str, ...] = ()) -> None:
    """Nothing in the page breaks a rule of WCAG 2.2 AA or of good practice, as far as a program sees.

    Args:
        page: settled.
        leave_out: selectors of parts that are not ours, such as a frame that shows somebody's document.

    Raises:
        AssertionError: what is broken, where, and what would mend it.
    """
    found = violations(page, leave_out=leave_out)
    assert not found, f"{page.url}: {len(found)} violations\n" + "\n".join(found)


def violations(
    page: Page, *, leave_out: tuple[str, ...] = (), within: tuple[str, ...] = (), colours_alone: bool = False
) -> list[str]:
    """Each broken rule at each place, in a few lines.

    Args:
        page: settled.
        leave_out: see ``axe``.
        within: selectors of the parts that are looked at; without any it is the whole page.
        colours_alone: only by the rules whose verdict a theme can change.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    chosen = {"include": within, "exclude": leave_out}
    context: dict[str, Any] = {name: [[one] for one in parts] for name, parts in chosen.items() if parts}
    rules = {"type": "rule", "values": list(COLOURS)} if colours_alone else {"type": "tag", "values": list(TAGS)}
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    result = page.evaluate("([context, options]) => axe.run(context ?? document, options)", [context or None, options])
    return [
        f"{broken['id']} ({broken['impact']}): {broken['help']}\n    {node['html'][:200]}\n    "
        + " ".join(node["failureSummary"].split())[:400]
        for broken in result["violations"]
        for node in broken["nodes"]
    ]


def wider_than_the_window(page: Page) -> list[str]:
    """What makes the page scroll sideways; nothing if it does not."""
    return [str(line) for line in page.evaluate(_WIDER)]


def small_targets(page: Page, least_px: int = 24) -> list[str]:
    """Controls that are smaller than this and too near to others (WCAG 2.5.8); links within text are left aside."""
    return [str(line) for line in page.evaluate(_SMALL, least_px)]


@cache
def _source() -> str:
    return _FILE.read_text("utf-8")
