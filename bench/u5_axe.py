"""U5: what axe-core finds on every route, in both themes, at a desk and on a phone."""

from __future__ import annotations

from bench.bar import Bar
from bench.pages import seat
from tests.browser import seeds
from tests.browser.axe import violations
from tests.browser.chrome import DESKTOP, PHONE
from tests.browser.routes import ADDRESSES, ROUTES, path


def measure() -> list[Bar]:
    """Each broken rule at each place counts."""
    found: list[str] = []
    with seat(seeds.some) as at:
        for look in (DESKTOP, PHONE):
            for _, address in ADDRESSES:
                page = at.visit(at.stage, path(address, at.stage), look)
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    found += [f"{address} {look.width} {theme}: {line}" for line in violations(page)]
                page.close()
    for line in found[:20]:
        print(line)
    said = (
        f"{len(ROUTES)} routes at {len(ADDRESSES)} addresses, both themes, 1440 and 390 px; A, AA, 2.2, best practice"
    )
    return [Bar("U5", len(found), "violations", "0", not found, {"the spike": 5.0}, said)]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
