"""Figures as people read them: tokens, money, sizes, spans of time, counts.

Layer: domain. Pure.
"""

from __future__ import annotations


def tokens(count: int | str) -> str:
    """1234567 as "1,234,567"; "unlimited" stays."""
    return count if isinstance(count, str) else f"{count:,}"


def money(usd_micros: int | str, *, known: bool = True) -> str:
    """Millionths of a dollar as "$1.25", small sums with four places; "price unknown" if no price list has it."""
    if isinstance(usd_micros, str):
        return usd_micros
    if not known and not usd_micros:
        return "price unknown"
    usd = usd_micros / 1_000_000
    text = f"${usd:,.2f}" if usd == 0 or usd >= 1 else f"${usd:.4f}"
    return text if known else f"at least {text}"


def size(count: int) -> str:
    """Bytes as "812 bytes", "4.2 kB", "1.3 GB"."""
    if count < 1000:
        return f"{count} bytes" if count != 1 else "1 byte"
    amount = float(count)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 1000:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1000:.1f} TB"


def duration(ms: int | float) -> str:
    """Milliseconds as "12 ms", "3.4 s", "2 min 5 s", "1 h 3 min", "6 d 23 h"."""
    if ms < 1000:
        return f"{max(int(ms), 0)} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    seconds = int(ms // 1000)
    for unit, name, smaller, smaller_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {name} {seconds % unit // smaller} {smaller_name}"
    return f"{seconds // 60} min {seconds % 60} s"


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 step", "3 steps"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
