"""When cron fires, by trying every minute: the rules of Debian's cron, without a line of what is tested.

A job with a star at the minute or the hour follows the clock on the wall, minute by minute. Any other one runs once for
each of its local times: at the first of two, and where the clock skips it, as soon as it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Antarctica/Troll",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "America/Havana",
    "Asia/Tehran",
    "Asia/Kolkata",
    "America/Sao_Paulo",
    "UTC",
)
"""With clocks that change by half an hour, by two, at midnight, in Ramadan, by a whole day, and not at all."""
EXPRESSIONS = (
    *("* * * * *", "*/5 * * * *", "*/30 * * * *", "0 * * * *", "15 * * * *", "7,37 * * * *", "0 */2 * * *"),
    *("30 */3 * * *", "*/20 2 * * *", "* 2 * * *", "* 0 * * *", "0 0 * * *", "30 0 * * *", "59 23 * * *"),
    *("0 1 * * *", "30 1 * * *", "45 1 * * *", "0 2 * * *", "15 2 * * *", "30 2 * * *", "0,30 2 * * *"),
    *("0 2,3 * * *", "30 1-3 * * *", "0 3 * * *", "5 3 * * *", "0 7 * * 1-5", "0 9 13 * 5", "0 9 13 * */1"),
    *("0 12 1 * *", "0 0 31 * *", "0 0 29 2 *", "30 2 * 3 0", "30 2 * 10,11 0", "0 8-18/2 * * 1-5", "0 9 1-7 * 1"),
    *("10 4 */2 * *", "0 6 * 1,4,7,10 1", "0 23 28-31 * *", "0 0 * * 7", "0 5 1 1 *"),
)
SPANS = ("*", "0-59", "0-23", "1-31", "1-12", "0-7")


def _field(text: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        bottom, top = (low, high) if first == "*" else (int(first), int(last or (high if step else first)))
        found.update(range(bottom, top + 1, int(step or 1)))
    return frozenset(found)


class Oracle:
    """All minutes of a zone between two moments; brute force."""

    def __init__(self, zone: str, start: datetime, days: int) -> None:
        there = ZoneInfo(zone)
        first = int(start.replace(tzinfo=UTC).timestamp())
        self.minutes = [
            (at, datetime.fromtimestamp(at, there).replace(tzinfo=None, fold=0))
            for at in range(first, first + days * 86_400, 60)
        ]

    def times(self, expression: str) -> list[int]:
        """When it fires, in milliseconds, in order."""
        minute, hour, day, month, weekday = expression.split()
        sets = (_field(minute, 0, 59), _field(hour, 0, 23), _field(day, 1, 31), _field(month, 1, 12))
        weekdays = frozenset(one % 7 for one in _field(weekday, 0, 7))
        either = not day.startswith("*") and not weekday.startswith("*")

        @cache
        def on(year: int, month_: int, day_: int) -> bool:
            dom, dow = day_ in sets[2], date(year, month_, day_).isoweekday() % 7 in weekdays
            return month_ in sets[3] and ((dom or dow) if either else (dom and dow))

        def fires(local: datetime) -> bool:
            return local.minute in sets[0] and local.hour in sets[1] and on(local.year, local.month, local.day)

        if minute.startswith("*") or hour.startswith("*"):
            return [at * 1000 for at, local in self.minutes if fires(local)]
        return sorted(set(self._once_each(fires)))

    def _once_each(self, fires: object) -> Iterator[int]:
        furthest = self.minutes[0][1] - timedelta(minutes=1)
        for at, local in self.minutes:
            while furthest < local:  # every local minute once, the skipped ones too
                furthest += timedelta(minutes=1)
                if fires(furthest):  # type: ignore[operator]
                    yield at * 1000
