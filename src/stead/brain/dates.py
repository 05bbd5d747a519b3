"""The days of a calendar.

Layer: brain. Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

DAY_MS = 86_400_000


def day_of(ts_ms: int, zone: tzinfo = UTC) -> str:
    """The day (``YYYY-MM-DD``) of a moment in a zone; "" for one that no calendar has."""
    try:
        return datetime.fromtimestamp(ts_ms / 1000, zone).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
