"""What keeps people out of a page, as axe-core finds it; and what it does not see: sideways scroll, small targets."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_FILE = Path(__file__).parent / "vendor" / "axe.min.js"
_SMALL = """least => {
    const inline = (element) => {
        const style = getComputedStyle(element);
        return style.display === 'inline' && element.closest('p, li, td, dd, pre, code, article, figcaption') !== null;
    };
    return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=button], [role=tab],'
        + '[role=switch], [role=checkbox], [role=radio], [role=option], [role=menuitem], [role=slider]')]
        .filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        .filter((element) => !element.disabled && !inline(element))
        // What is clipped away is for screen readers, until it has the focus.
        .filter((element) => getComputedStyle(element).clipPath === 'none')
        .map((element) => {
            // A label is part of its control's target.
            const boxes = [element, ...(element.labels ?? [])].map((one) => one.getBoundingClientRect());
            return [element, Math.max(...boxes.map((b) => b.width)), Math.max(...boxes.map((b) => b.height))];
        })
        .filter(([, width, height]) => width > 1 && height > 1 && (width < least || height < least))
        .map(([element, width, height]) => [element.outerHTML.slice(0, 120), width.toFixed(0), height.toFixed(0)])
        .map(([html, width, height]) => `${html} is ${width}x${height}`);
}"""
_WIDER = """() => {
    const wide = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= wide) return [];
    const over = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > wide + 0.5);
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


def violations(page: Page, *, leave_out: tuple[str, ...] = ()) -> list[str]:
    """Each broken rule at each place, in a few lines."""
    page.evaluate(_source())
    context: dict[str, Any] = {"exclude": [[one] for one in leave_out]} if leave_out else {}
    options = {"runOnly": {"type": "tag", "values": list(TAGS)}, "resultTypes": ["violations"]}
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
    """Controls that are smaller than this both ways or one (WCAG 2.5.8), links within text left aside."""
    return [str(line) for line in page.evaluate(_SMALL, least_px)]


@cache
def _source() -> str:
    return _FILE.read_text("utf-8")
