"""When cron fires, by trying every minute: the rules of Debian's cron, without a line of what is tested.

A job with a star at the minute or the hour follows the clock on the wall, minute by minute. Any other one runs once for
each of its local times: at the first of two, and where the clock skips it, as soon as it goes on.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
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
MINUTE = timedelta(minutes=1)
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
    """All minutes of a zone between two moments; brute force.

    The minutes are walked once, and kept by what the clock on the wall shows: each as its moment in milliseconds and
    its local day.
    """

    def __init__(self, zone: str, start: datetime, days: int) -> None:
        there = ZoneInfo(zone)
        first = int(start.replace(tzinfo=UTC).timestamp())
        self._days: set[date] = set()
        self._shown: dict[tuple[int, int], list[tuple[int, date]]] = defaultdict(list)
        self._once: dict[tuple[int, int], list[tuple[int, date]]] = defaultdict(list)
        """Every local minute once: at the first of two, a skipped one at the moment at which the clock goes on."""
        furthest = datetime.fromtimestamp(first, there).replace(tzinfo=None, fold=0) - MINUTE
        for at in range(first, first + days * 86_400, 60):
            local = datetime.fromtimestamp(at, there).replace(tzinfo=None, fold=0)
            minute = at * 1000, local.date()
            self._shown[local.hour, local.minute].append(minute)
            while furthest < local:
                furthest += MINUTE
                first_shown = minute if furthest == local else (at * 1000, furthest.date())
                self._once[furthest.hour, furthest.minute].append(first_shown)
                self._days.add(furthest.date())

    def times(self, expression: str) -> list[int]:
        """When it fires, in milliseconds, in order."""
        minute, hour, day, month, weekday = expression.split()
        minutes, hours = _field(minute, 0, 59), _field(hour, 0, 23)
        days, months = _field(day, 1, 31), _field(month, 1, 12)
        weekdays = frozenset(one % 7 for one in _field(weekday, 0, 7))
        either = not day.startswith("*") and not weekday.startswith("*")

        def on(local: date) -> bool:
            dom, dow = local.day in days, local.isoweekday() % 7 in weekdays
            return local.month in months and ((dom or dow) if either else (dom and dow))

        dates = {local for local in self._days if on(local)}
        walls = self._shown if minute.startswith("*") or hour.startswith("*") else self._once
        clocks = [clock for clock in walls if clock[0] in hours and clock[1] in minutes]
        return sorted({at_ms for clock in clocks for at_ms, local in walls[clock] if local in dates})
