"""Days as models write them.

Layer: tools. Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime

HOW = "A date is written like 2026-01-31 or 2026-01-31T17:05 (UTC)."


def moment_ms(text: str, default: int) -> int:
    """The moment that a date names, in UTC unless it says otherwise, in milliseconds since 1970.

    Args:
        text: as ``HOW`` says; "" for none.
        default: for none.

    Raises:
        ValueError, OverflowError: it is none that can be.
    """
    if not text:
        return default
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
