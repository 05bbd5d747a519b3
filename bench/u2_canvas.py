"""U2: frames while a canvas of a hundred windows is moved. There is no canvas yet, so nothing is measured."""

from __future__ import annotations

from bench.bar import Bar


def measure() -> list[Bar]:
    """Says so, and gives no figure: a bar without one is not kept."""
    print("U2 not measured: there is no canvas yet; target p95 frame ≤ 33 ms with 100 windows", flush=True)
    return []
