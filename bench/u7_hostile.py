"""U7: hostile Markdown, HTML, SVG, links and terminal texts, wherever the page shows what others wrote."""

from __future__ import annotations

from bench.bar import Bar
from bench.pages import seat
from tests.browser import hostile
from tests.browser.chrome import DESKTOP, PHONE
from tests.browser.routes import path
from tests.browser.vectors import VECTORS


def measure() -> list[Bar]:
    """Scripts that ran, elements that should be text, and requests off the host, over every place."""
    harm: list[str] = []
    with seat(hostile.fill) as at:
        at.watch.expect(404, "/audit/head$")  # nobody signed one yet
        for place in hostile.PLACES:
            for look in (DESKTOP, PHONE):
                page = at.visit(at.stage, path(place, at.stage), look)
                hostile.unfold(page)
                harm += [f"{place} {look.width}: {line}" for line in hostile.harm(page)]
                page.close()
        away = hostile.reached(at.watch.requests) + at.watch.complaints()
    for line in [*harm, *away][:20]:
        print(line)
    said = (
        f"{len(VECTORS)} vectors in goals, replies, arguments, outputs and names, {len(hostile.PLACES)} pages, 2 sizes"
    )
    return [
        Bar("U7", len(harm), "scripts run or elements made", "0", not harm, {}, said),
        Bar("U7.REQUESTS", len(away), "requests off the host, or complaints", "0", not away, {}, said),
    ]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
